// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/loops/trim_no_ops.h"

#include <algorithm>

#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "ir/walk/search.h"
#include "lower/effects.h"
#include "lower/loop_guards.h"

namespace calotype::internal {

namespace {

class TrimNoOps : public StmtMutator {
public:
    explicit TrimNoOps(LowerContext &ctx) : ctx_(ctx) {
    }

private:
    using Mutator::visit;

    Stmt visit(const For *op) override {
        const Stmt s = Mutator::visit(op);
        op = s.as<For>();
        if (!op || is_gpu(op->for_type) || is_const_one(op->extent)) {
            return s;
        }
        // The loops of a kernel keep the nest that fuse_thread_loops knows.
        const bool may_hoist =
            !contains<For>(op->body, [](const For *inner) { return is_gpu(inner->for_type); });
        const LoopGuards guards =
            find_guards(op, may_hoist, !ctx_.target.has_feature(Target::StrictFloat));
        if (guards.range.is_empty() || (guards.range.is_everything() && guards.fixed.empty())) {
            return s;
        }
        Stmt result = trimmed(op, guards);
        std::for_each(guards.fixed.rbegin(), guards.fixed.rend(),
                      [&](const Expr &condition) { result = under(condition, result); });
        return result;
    }

    /// Conditions that read nothing are asked together.
    static Stmt under(const Expr &condition, const Stmt &s) {
        const IfThenElse *inner = s.as<IfThenElse>();
        const bool is_joined =
            inner && !inner->else_case.defined() && is_speculatable(inner->condition);
        return is_joined ? IfThenElse::make(condition && inner->condition, inner->then_case)
                         : IfThenElse::make(condition, s);
    }

    Stmt trimmed(const For *op, const LoopGuards &guards) {
        const Interval &range = guards.range;
        const auto loop_over = [&](const Expr &min, const Expr &extent) {
            return For::make(op->name, min, extent, op->for_type, op->partition, op->device_api,
                             guards.body);
        };
        if (range.is_everything()) {
            return loop_over(op->min, op->extent);
        }
        const Expr end = op->min + op->extent;
        const Expr first = range.has_lower_bound() ? max(op->min, range.min) : op->min;
        const Expr last = range.has_upper_bound() ? min(end, range.max + 1) : end;
        const std::string min_name = ctx_.names.unique(op->name + ".trimmed_min");
        const std::string extent_name = ctx_.names.unique(op->name + ".trimmed_extent");
        const Expr min_var = Variable::make(op->min.type(), min_name);
        const Stmt loop = loop_over(min_var, Variable::make(op->min.type(), extent_name));
        return LetStmt::make(min_name, simplify(first),
                             LetStmt::make(extent_name, simplify(max(last - min_var, 0)), loop));
    }

    LowerContext &ctx_;
};

}  // namespace

Stmt trim_no_ops(const Stmt &s, LowerContext &ctx) {
    return TrimNoOps(ctx).mutate(remove_likelies(s));
}

}  // namespace calotype::internal
