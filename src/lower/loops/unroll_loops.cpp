// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/loops/unroll_loops.h"

#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/printer.h"
#include "ir/queries.h"
#include "ir/with.h"
#include "support/environment.h"

namespace calotype {

using namespace internal;

namespace {

class Unroller : public Mutator {
private:
    using Mutator::visit;

    /// CT_PERMIT_FAILED_UNROLL=1: what cannot be unrolled is a warning.
    static bool may_stay_a_loop() {
        const char *permitted = environment("PERMIT_FAILED_UNROLL");
        return permitted && std::string(permitted) == "1";
    }

    Stmt visit(const For *op) override {
        if (op->for_type != ForType::Unrolled) {
            return Mutator::visit(op);
        }
        const Stmt body = mutate(op->body);
        const Expr extent = simplify(op->extent);
        const std::optional<int64_t> copies = as_const_int(extent);
        if (!copies && may_stay_a_loop()) {
            user_warning << "loop " << op->name << " is not unrolled: its extent " << extent
                         << " is not constant";
            return with(op, &For::for_type, ForType::Serial, &For::body, body);
        }
        user_assert(copies) << "loop " << op->name << " cannot be unrolled: its extent " << extent
                            << " is not constant and has no constant bound";
        std::vector<Stmt> result;
        for (int64_t i = 0; i < *copies; i++) {
            const Expr offset = make_const(op->min.type(), i);
            result.push_back(
                substitute(op->name, i == 0 ? op->min : simplify(op->min + offset), body));
        }
        return Block::make(result);
    }
};

}  // namespace

Stmt unroll_loops(const Stmt &s, LowerContext &) {
    return Unroller().mutate(s);
}

}  // namespace calotype
