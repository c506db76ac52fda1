// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/loops/trim_no_ops.h"

#include "arith/simplify.h"
#include "arith/solve.h"
#include "ir/constants.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "lower/effects.h"
#include "lower/loops/let_scope.h"

namespace calotype {

using namespace internal;

namespace {

/// The condition under which a body does anything, in terms of the loop variable and what is
/// outside of the loop; undefined if there is none that is known.
Expr condition_of(const Stmt &body) {
    LetScope lets;
    Expr result;
    const StmtNode *s = body.get();
    while (s) {
        const Stmt here(s);
        if (const LetStmt *let = here.as<LetStmt>()) {
            if (has_effect(let->value)) {
                break;
            }
            lets.push(let->name, let->value);
            s = let->body.get();
        } else if (const ProducerConsumer *op = here.as<ProducerConsumer>()) {
            s = op->body.get();
        } else if (const IfThenElse *op = here.as<IfThenElse>(); op && !op->else_case.defined()) {
            const Expr condition = lets.expand(remove_likelies(op->condition));
            if (!condition.defined() || !is_pure(condition) ||
                contains_kind(condition, NodeKind::Load)) {
                break;
            }
            result = result.defined() ? result && condition : condition;
            s = op->then_case.get();
        } else {
            break;
        }
    }
    return result;
}

class TrimNoOps : public Mutator {
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
        const Expr condition = condition_of(op->body);
        if (!condition.defined() || !uses_var(condition, op->name)) {
            return s;
        }
        const Interval range = solve_for_outer_interval(simplify(condition), op->name);
        if (range.is_empty() || range.is_everything() || depends_on(range, op->name)) {
            return s;
        }
        return trimmed(op, range);
    }

    static bool depends_on(const Interval &range, const std::string &name) {
        return (range.has_lower_bound() && uses_var(range.min, name)) ||
               (range.has_upper_bound() && uses_var(range.max, name));
    }

    Stmt trimmed(const For *op, const Interval &range) {
        const Expr end = op->min + op->extent;
        const Expr first = range.has_lower_bound() ? max(op->min, range.min) : op->min;
        const Expr last = range.has_upper_bound() ? min(end, range.max + 1) : end;
        const std::string min_name = ctx_.names.unique(op->name + ".trimmed_min");
        const std::string extent_name = ctx_.names.unique(op->name + ".trimmed_extent");
        const Expr min_var = Variable::make(op->min.type(), min_name);
        const Stmt loop = For::make(op->name, min_var, Variable::make(op->min.type(), extent_name),
                                    op->for_type, op->partition, op->device_api, op->body);
        return LetStmt::make(min_name, simplify(first),
                             LetStmt::make(extent_name, simplify(max(last - min_var, 0)), loop));
    }

    LowerContext &ctx_;
};

}  // namespace

Stmt trim_no_ops(const Stmt &s, LowerContext &ctx) {
    return TrimNoOps(ctx).mutate(s);
}

}  // namespace calotype
