// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/nest/prune_branches.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/equality.h"
#include "ir/mutator.h"
#include "ir/queries.h"
#include "ir/with.h"
#include "support/scope.h"

namespace calotype::internal {

namespace {

class BranchPruner : public StmtMutator {
private:
    using Mutator::visit;

    struct Fact {
        Expr condition;
        bool holds;
    };

    /// True if the condition has one value wherever this function asks for it.
    bool is_of_call(const Expr &condition) const {
        return is_pure(condition) && !contains_kind(condition, NodeKind::Call) &&
               !contains_kind(condition, NodeKind::Load) && !uses_any_var(condition, bound_);
    }

    std::optional<bool> decided(const Expr &condition) const {
        if (const Not *op = condition.as<Not>()) {
            const std::optional<bool> inner = decided(op->a);
            return inner ? std::optional<bool>(!*inner) : std::nullopt;
        }
        for (const Fact &fact : facts_) {
            if (equal(fact.condition, condition)) {
                return fact.holds;
            }
        }
        return implied(condition);
    }

    /// What the facts say of another condition: x < 5 decides x < 9.
    std::optional<bool> implied(const Expr &condition) const {
        const std::vector<std::string> names = free_variables(condition);
        const bool related = std::any_of(facts_.begin(), facts_.end(), [&](const Fact &fact) {
            return uses_any_var(fact.condition, names);
        });
        if (!related || !is_of_call(condition)) {
            return std::nullopt;
        }
        SimplifyContext context;
        for (const Fact &fact : facts_) {
            context.fact(fact.holds ? fact.condition : !fact.condition);
        }
        const Expr known = simplify(condition, context);
        return is_const_one(known)    ? std::optional<bool>(true)
               : is_const_zero(known) ? std::optional<bool>(false)
                                      : std::nullopt;
    }

    void learn(const Expr &condition, bool holds) {
        const And *both = condition.as<And>();
        const Or *either = condition.as<Or>();
        if (const Not *op = condition.as<Not>()) {
            learn(op->a, !holds);
        } else if (both && holds) {
            learn(both->a, true);
            learn(both->b, true);
        } else if (either && !holds) {
            learn(either->a, false);
            learn(either->b, false);
        }
        facts_.push_back({condition, holds});
    }

    Stmt where(const Expr &condition, bool holds, const Stmt &s) {
        const size_t before = facts_.size();
        learn(condition, holds);
        const Stmt result = mutate(s);
        facts_.resize(before);
        return result;
    }

    Stmt visit(const IfThenElse *op) override {
        if (!is_of_call(op->condition)) {
            return Mutator::visit(op);
        }
        if (const std::optional<bool> known = decided(op->condition)) {
            return mutate(*known ? op->then_case : op->else_case);
        }
        return IfThenElse::make(op->condition, where(op->condition, true, op->then_case),
                                where(op->condition, false, op->else_case));
    }

    /// Selects that a branch around has decided have one value. What bounds are inferred from is
    /// then what the branch reads.
    class DecideSelects : public GraphMutator {
    public:
        explicit DecideSelects(const BranchPruner &pruner) : pruner_(pruner) {
        }

    private:
        using GraphMutator::visit;
        Expr visit(const Select *op) override {
            const std::optional<bool> known = pruner_.decided(op->condition);
            return known ? mutate(*known ? op->true_value : op->false_value)
                         : GraphMutator::visit(op);
        }
        const BranchPruner &pruner_;
    };

    Stmt visit(const Provide *op) override {
        if (facts_.empty()) {
            return op;
        }
        DecideSelects decide(*this);
        return with(op, &Provide::values, decide.mutate(op->values), &Provide::args,
                    decide.mutate(op->args));
    }

    Stmt visit(const LetStmt *op) override {
        const ScopedBinding<> bind(bound_, op->name);
        return Mutator::visit(op);
    }

    Stmt visit(const For *op) override {
        const ScopedBinding<> bind(bound_, op->name);
        return Mutator::visit(op);
    }

    std::vector<Fact> facts_;
    Scope<> bound_;  ///< names of lets and loops around
};

}  // namespace

Stmt prune_branches(const Stmt &s, LowerContext &) {
    return BranchPruner().mutate(s);
}

}  // namespace calotype::internal
