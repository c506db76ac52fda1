// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an answer saves is found by giving it: the loop with the condition's name replaced is simplified, which
// drops the lets that nothing needs any more, and its nodes are counted.
#include "lower/values/settle_choices.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "ir/constants.h"
#include "ir/mutator.h"
#include "ir/queries.h"
#include "ir/walk/search.h"
#include "ir/with.h"
#include "lower/effects.h"

namespace calotype::internal {

namespace {

/// From this work on a value is worth a branch.
constexpr int least_work = 16;
/// Loops in place of one: two to the power of this.
constexpr int most_answers = 2;

int work_of(const Node *node) {
    switch (node->kind) {
    case NodeKind::IntImm:
    case NodeKind::UIntImm:
    case NodeKind::FloatImm:
    case NodeKind::StringImm:
    case NodeKind::Variable:
    case NodeKind::Broadcast:
        return 0;
    case NodeKind::Call:
        return is_long_function(static_cast<const Call *>(node)) ? least_work : 1;
    default:
        return 1;
    }
}

/// Operations, each node counted once.
template<typename Handle>
int64_t work(const Handle &h) {
    int64_t sum = 0;
    contains_node(h, [&](const Node *node) {
        sum += work_of(node);
        return false;
    });
    return sum;
}

/// The name of a condition that is one value, for all lanes too.
const Variable *named_condition(const Expr &condition) {
    const auto *b = condition.as<Broadcast>();
    const auto *name = (b ? b->value : condition).as<Variable>();
    return name && name->type.is_scalar() ? name : nullptr;
}

bool takes_long(const Select *op) {
    return std::max(work(op->true_value), work(op->false_value)) >= least_work;
}

/// Names that selects in the statement ask, which it does not bind, those of the most work first.
std::vector<std::string> conditions_in(const Stmt &s) {
    const std::vector<std::string> names = bound_names(s);
    const std::set<std::string> bound(names.begin(), names.end());
    std::map<std::string, int64_t> chosen;
    for_each<Select>(s, [&](const Select *op) {
        const Variable *name = named_condition(op->condition);
        if (name && !bound.count(name->name)) {
            chosen[name->name] += work(op->true_value) + work(op->false_value);
        }
    });
    std::vector<std::string> order;
    for (const auto &[name, sum] : chosen) {
        order.push_back(name);
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](const auto &a, const auto &b) { return chosen[a] > chosen[b]; });
    return order;
}

/// Selects of what takes long, by names that are the same in all iterations, become branches.
class Branch : public Mutator {
public:
    explicit Branch(std::vector<std::string> conditions)
        : conditions_(conditions.begin(), conditions.end()) {
    }

private:
    using Mutator::visit;

    Expr visit(const Select *op) override {
        const Expr same = Mutator::visit(op);
        const auto *select = same.as<Select>();
        const Variable *name = named_condition(select->condition);
        if (!name || !conditions_.count(name->name) || !takes_long(select)) {
            return same;
        }
        return Call::make(select->type, Intrinsic::if_then_else,
                          {Expr(name), select->true_value, select->false_value});
    }

    const std::set<std::string> conditions_;
};

/// An innermost loop with choices that it does not change.
Stmt settle(const Stmt &loop, int answers, const LowerContext &ctx) {
    const std::vector<std::string> conditions = conditions_in(loop);
    if (conditions.empty()) {
        return loop;
    }
    const auto given = [&](bool answer) {
        return ctx.simplified(substitute(conditions[0], make_bool(answer), loop));
    };
    if (answers < most_answers) {
        const Stmt yes = given(true), no = given(false);
        const int64_t both = work(loop), kept = work(yes) + work(no);
        // No more than half of it is there twice.
        if (2 * both - kept >= least_work && 2 * kept <= 3 * both) {
            return IfThenElse::make(Variable::make(Bool(), conditions[0]),
                                    settle(yes, answers + 1, ctx), settle(no, answers + 1, ctx));
        }
    }
    return Branch(conditions).mutate(loop);
}

class SettleAll : public StmtMutator {
public:
    explicit SettleAll(const LowerContext &ctx) : ctx_(ctx) {
    }

private:
    using Mutator::visit;

    Stmt visit(const For *op) override {
        if (is_gpu(op->for_type)) {
            return op;
        }
        return contains_kind(op->body, NodeKind::For) ? Mutator::visit(op) : settle(op, 0, ctx_);
    }

    const LowerContext &ctx_;
};

}  // namespace

Stmt settle_choices(const Stmt &s, LowerContext &ctx) {
    return SettleAll(ctx).mutate(s);
}

}  // namespace calotype::internal
