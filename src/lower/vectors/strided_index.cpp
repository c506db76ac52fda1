// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/vectors/strided_index.h"

#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/expr_nodes.h"
#include "ir/operators.h"

namespace calotype::internal {

bool is_always(const Expr &predicate) {
    const Broadcast *all = predicate.as<Broadcast>();
    return is_const_one(all ? all->value : predicate);
}

std::optional<StridedIndex> strided_index(const Expr &index, const Expr &predicate,
                                          int64_t largest) {
    const Ramp *ramp = index.as<Ramp>();
    if (!ramp || ramp->base.type().is_vector() || !is_always(predicate)) {
        return std::nullopt;
    }
    const std::optional<int64_t> stride = as_const_int(ramp->stride);
    if (!stride || *stride < 2 || *stride > largest) {
        return std::nullopt;
    }
    Expr base = ramp->base;
    int64_t offset = 0;
    if (const Add *sum = base.as<Add>()) {
        if (const std::optional<int64_t> c = as_const_int(sum->b)) {
            base = sum->a;
            offset = *c;
        }
    } else if (const Sub *difference = base.as<Sub>()) {
        if (const std::optional<int64_t> c = as_const_int(difference->a)) {
            base = make_zero(base.type()) - difference->b;
            offset = *c;
        }
    } else if (const std::optional<int64_t> c = as_const_int(base)) {
        base = make_zero(base.type());
        offset = *c;
    }
    return StridedIndex{base, offset, *stride, ramp->lanes};
}

Expr dense_index(const Expr &base, int64_t offset, int64_t lanes) {
    const Type t = base.type();
    return Ramp::make(simplify(base + make_const(t, offset)), make_one(t), int(lanes));
}

}  // namespace calotype::internal
