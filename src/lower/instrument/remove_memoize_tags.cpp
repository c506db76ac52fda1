// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/instrument/remove_memoize_tags.h"

#include "ir/mutator.h"
#include "ir/queries.h"

namespace calotype::internal {

namespace {

class RemoveTags : public GraphMutator {
protected:
    using GraphMutator::visit;

    Expr visit(const Call *op) override {
        return op->is_intrinsic(Intrinsic::memoize_expr) ? mutate(op->args[0])
                                                         : GraphMutator::visit(op);
    }
};

}  // namespace

Stmt remove_memoize_tags(const Stmt &s, LowerContext &) {
    return contains_intrinsic(s, Intrinsic::memoize_expr) ? RemoveTags().mutate(s) : s;
}

}  // namespace calotype::internal
