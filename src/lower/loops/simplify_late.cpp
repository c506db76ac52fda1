// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/loops/simplify_late.h"

#include "arith/cse.h"
#include "ir/queries.h"
#include "ir/visitor.h"
#include "ir/walk/search.h"
#include "support/error.h"

namespace calotype::internal {

namespace {

/// Refuses values that are constants no value of their type is: the user's arithmetic overflows.
class RefuseOverflow : public GraphVisitor {
    using GraphVisitor::visit;
    void visit(const Store *op) override {
        user_assert(!contains<Call>(
            op->value,
            [](const Call *c) { return c->is_intrinsic(Intrinsic::signed_integer_overflow); }))
            << "a value of " << op->name << " is a constant that overflows " << op->value.type();
    }
};

}  // namespace

Stmt simplify_late(const Stmt &s, LowerContext &ctx) {
    const Stmt result = ctx.simplified(remove_likelies(lower_promises(s)));
    RefuseOverflow()(result);
    return common_subexpression_elimination(result);
}

}  // namespace calotype::internal
