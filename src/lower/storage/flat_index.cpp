// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/storage/flat_index.h"

#include "ir/constants.h"
#include "ir/conventions/names.h"
#include "ir/expr_nodes.h"
#include "ir/operators.h"

namespace calotype::internal {

namespace {

Expr as_index(const Expr &e, const Type &index_type) {
    const Type t = index_type.with_lanes(e.type().lanes());
    return e.type() == t ? e : Cast::make(t, e);
}

void add_term(Expr &sum, const Expr &term) {
    sum = sum.defined() ? sum + term : term;
}

}  // namespace

Type index_type(const Target &target) {
    return target.has_large_buffers() ? Int(64) : Int(32);
}

Expr flat_index(const std::string &buffer, const std::vector<Expr> &args, bool is_own,
                const Type &index_type) {
    const auto shape = [&](const std::string &name) {
        return as_index(Variable::make(Int(32), name), index_type);
    };
    Expr index, base;
    for (int d = int(args.size()) - 1; d >= 0; d--) {
        const Expr min = shape(names::buffer_min(buffer, d));
        const Expr stride = shape(names::buffer_stride(buffer, d));
        const Expr arg = as_index(args[size_t(d)], index_type);
        add_term(index, (is_own ? arg - min : arg) * stride);
        add_term(base, min * stride);
    }
    if (!index.defined()) {
        return make_zero(index_type);
    }
    return is_own ? index : index - base;
}

}  // namespace calotype::internal
