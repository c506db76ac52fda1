// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/loop_guards.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "arith/finite_floats.h"
#include "arith/simplify.h"
#include "arith/solve.h"
#include "ir/constants.h"
#include "ir/equality.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "ir/visitor.h"
#include "ir/with.h"
#include "lower/let_scope.h"
#include "lower/loop_reads.h"

namespace calotype::internal {

namespace {

/// A condition and another that may be undefined.
Expr both(const Expr &a, const Expr &b) {
    return a.defined() && b.defined() ? a && b : (a.defined() ? a : b);
}

/// True of operations whose result a select among their operands may leave as the other operand.
bool combines(NodeKind kind) {
    switch (kind) {
    case NodeKind::Add:
    case NodeKind::Sub:
    case NodeKind::Mul:
    case NodeKind::Min:
    case NodeKind::Max:
    case NodeKind::And:
    case NodeKind::Or:
        return true;
    default:
        return false;
    }
}

/// Puts values in the places of the lets around what is combined.
class OpenLets : public Mutator {
public:
    using Mutator::mutate;
    Expr mutate(const Expr &e) override {
        if (const Let *op = e.as<Let>(); op && is_pure(op->value)) {
            return mutate(substitute(op->name, op->value, op->body));
        }
        return combines(e.kind()) ? Mutator::mutate(e) : e;
    }
};

/// The selects among what is added up, or otherwise combined.
class FindSelects : public Visitor {
public:
    std::vector<const Select *> found;

    using Visitor::operator();
    void operator()(const Expr &e) override {
        if (const Select *op = e.as<Select>()) {
            found.push_back(op);
        } else if (combines(e.kind())) {
            Visitor::operator()(e);
        }
    }
};

/// A store that writes what is there already unless a condition holds, and what it is where that
/// does. Undefined if no such condition is seen.
struct ConditionalStore {
    Expr condition;
    Stmt store;
};

/// `finite`: a product with zero is zero, whatever its other factor is.
ConditionalStore conditional_store(const Store *op, bool finite) {
    const auto value_where = [&](const Expr &condition, const Expr &value) {
        const Expr known = remove_likelies(condition);
        return Store::make(op->name, simplify(value, SimplifyContext().fact(known)), op->index,
                           op->predicate, op->alignment, op->symbol, op->is_streaming);
    };
    const auto keeps = [&](const Expr &value) {
        const Expr simple = finite ? simplify_finite(value) : simplify(value);
        const Load *old = simple.as<Load>();
        return old && old->name == op->name && equal(old->index, op->index);
    };
    const Expr value = OpenLets().mutate(op->value);
    FindSelects selects;
    selects(value);
    for (const Select *s : selects.found) {
        if (s->condition.type().lanes() != 1 || has_effects(s->condition)) {
            continue;
        }
        const Expr if_true = substitute(Expr(s), s->true_value, value);
        const Expr if_false = substitute(Expr(s), s->false_value, value);
        if (keeps(if_false)) {
            return {s->condition, value_where(s->condition, if_true)};
        }
        if (keeps(if_true)) {
            const Expr otherwise = simplify(!s->condition);
            return {otherwise, value_where(otherwise, if_false)};
        }
    }
    return {};
}

/// Takes the conditions apart.
class Guards {
public:
    Guards(const For *loop, bool may_hoist, bool finite)
        : loop_(loop), may_hoist_(may_hoist), finite_(finite) {
        body = rest(loop->body);
    }

    Interval range = Interval::everything();
    std::vector<Expr> fixed;
    Stmt body;

private:
    Stmt rest(const Stmt &s) {
        if (const LetStmt *op = s.as<LetStmt>(); op && !has_effects(op->value)) {
            lets_.push(op->name, op->value);
            const Stmt inner = rest(op->body);
            return inner.same_as(op->body) ? s : LetStmt::make(op->name, op->value, inner);
        }
        if (const ProducerConsumer *op = s.as<ProducerConsumer>()) {
            const Stmt inner = rest(op->body);
            return inner.same_as(op->body)
                       ? s
                       : ProducerConsumer::make(op->name, op->is_producer, inner);
        }
        if (const Allocate *op = s.as<Allocate>(); op && !op->new_expr.defined()) {
            const Stmt inner = rest(op->body);
            return inner.same_as(op->body)
                       ? s
                       : Allocate::make(op->name, op->type, op->memory_type, op->extents,
                                        op->condition, inner, op->new_expr, op->free_function,
                                        op->padding);
        }
        if (const Block *op = s.as<Block>()) {
            return rest_of_both(
                op->first, op->rest,
                [&](const Stmt &a, const Stmt &b) { return Block::make(a, b); }, s);
        }
        if (const For *op = s.as<For>(); op && !is_gpu(op->for_type)) {
            return rest_of_loop(op);
        }
        if (const Store *op = s.as<Store>(); op && is_const_one(op->predicate)) {
            const ConditionalStore conditional = conditional_store(op, finite_);
            if (!conditional.condition.defined()) {
                return s;
            }
            const Expr left = open(remove_likelies(conditional.condition));
            return left.defined() ? s : conditional.store;  // the select stays where it decides
        }
        const IfThenElse *op = s.as<IfThenElse>();
        if (!op || has_effects(op->condition)) {
            return s;
        }
        if (op->else_case.defined()) {
            const auto make_choice = [&](const Stmt &a, const Stmt &b) {
                return IfThenElse::make(op->condition, a, b);
            };
            note_left(op->condition);
            return rest_of_both(op->then_case, op->else_case, make_choice, s);
        }
        const Expr left = open(remove_likelies(op->condition));
        if (left.defined()) {
            note_left(left);
        }
        const Stmt inner = rest(op->then_case);
        return left.defined() ? IfThenElse::make(left, inner) : inner;
    }

    /// What stays in the loop, and may be needed for what is under it to be read.
    void note_left(const Expr &condition) {
        const Expr outside = lets_.expand(condition);
        is_guarded_ = is_guarded_ || !outside.defined() || !is_only_of_loops(outside);
    }

    bool is_only_of_loops(const Expr &condition) const {
        return !says_more(condition, [&](const std::string &name) {
            return name == loop_->name || is_inner_loop(name);
        });
    }

    /// Where no iteration is left by what is around a condition, what that reads may not be there.
    void ask_before(const Expr &condition) {
        if (needed_.is_everything() || !contains_kind(condition, NodeKind::Load)) {
            return;
        }
        const Expr last = loop_->min + loop_->extent - 1;
        fixed.push_back(
            simplify((needed_.has_lower_bound() ? max(loop_->min, needed_.min) : loop_->min) <=
                     (needed_.has_upper_bound() ? min(last, needed_.max) : last)));
        needed_ = Interval::everything();
    }

    /// Both statements that `s` is made of are under the same conditions, or neither counts.
    template<typename Make>
    Stmt rest_of_both(const Stmt &a, const Stmt &b, const Make &make, const Stmt &s) {
        Guards first(*this), second(*this);
        first.body = first.rest(a);
        if (first.range.is_everything() && first.fixed.empty()) {
            return s;
        }
        second.body = second.rest(b);
        const bool alike = same(first.range, second.range) &&
                           std::equal(first.fixed.begin(), first.fixed.end(), second.fixed.begin(),
                                      second.fixed.end(),
                                      [](const Expr &x, const Expr &y) { return equal(x, y); });
        if (!alike) {
            return s;
        }
        range = first.range;
        fixed = first.fixed;
        return make(first.body, second.body);
    }

    /// What all of its iterations are under counts.
    Stmt rest_of_loop(const For *op) {
        inner_loops_.push_back(op->name);
        const Stmt inner = rest(op->body);
        inner_loops_.pop_back();
        return inner.same_as(op->body) ? Stmt(op) : with(op, &For::body, inner);
    }

    /// What is left of a condition; undefined if nothing is.
    Expr open(const Expr &condition) {
        if (const And *op = condition.as<And>()) {
            const Expr a = open(op->a);
            return both(a, open(op->b));
        }
        const Expr outside = lets_.expand(condition);
        if (!outside.defined() || !is_pure(outside) || uses_any_var(outside, inner_loops_) ||
            !reads_move(outside)) {
            return condition;
        }
        if (!uses_var(outside, loop_->name)) {
            if (may_hoist_) {
                ask_before(outside);
                fixed.push_back(outside);
            }
            return may_hoist_ ? Expr() : condition;
        }
        const Expr question = simplify(outside);
        const Interval can_hold = solve_for_outer_interval(question, loop_->name);
        if (can_hold.is_empty() || can_hold.is_everything() || depends(can_hold)) {
            return condition;
        }
        ask_before(outside);
        range = make_intersection(range, can_hold);
        needed_ = is_only_of_loops(outside) ? needed_ : make_intersection(needed_, can_hold);
        return same(solve_for_inner_interval(question, loop_->name), can_hold) ? Expr() : condition;
    }

    /// Whether what the condition reads may be read in front of the loop, under the fixed conditions found so far.
    bool reads_move(const Expr &condition) {
        if (!contains_kind(condition, NodeKind::Load)) {
            return true;
        }
        if (!may_hoist_ || is_guarded_) {
            return false;
        }
        if (!reads_) {
            reads_.emplace(loop_);
        }
        return reads_->are_of_inputs(condition);
    }

    bool is_inner_loop(const std::string &name) const {
        return std::find(inner_loops_.begin(), inner_loops_.end(), name) != inner_loops_.end();
    }

    bool depends(const Interval &i) const {
        return (i.has_lower_bound() && uses_var(i.min, loop_->name)) ||
               (i.has_upper_bound() && uses_var(i.max, loop_->name));
    }

    static bool same(const Interval &a, const Interval &b) {
        const auto same_end = [](const Expr &x, const Expr &y) {
            return x.defined() == y.defined() && (!x.defined() || equal(x, y));
        };
        return same_end(a.min, b.min) && same_end(a.max, b.max);
    }

    const For *loop_;
    bool may_hoist_;
    bool finite_;  ///< floats are
    LetScope lets_;
    std::vector<std::string> inner_loops_;
    std::optional<LoopReads> reads_;  ///< of the loop, once asked for
    Interval needed_ =
        Interval::everything();  ///< of the range, by conditions that say something of more
    bool is_guarded_ = false;  ///< a condition that stays says something of more than the iteration
};

}  // namespace

LoopGuards find_guards(const For *loop, bool may_hoist, bool finite_floats) {
    const Guards guards(loop, may_hoist, finite_floats);
    return {guards.range, guards.fixed, guards.body};
}

}  // namespace calotype::internal
