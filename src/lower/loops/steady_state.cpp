// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What counts as a choice with a likely outcome:
//
//     select(likely(c), t, f)          c holds, part by part of a conjunction
//     if likely(c), if_then_else(likely(c), t, f)
//                                      the same
//     min(likely(a), b)                a <= b
//     max(min(likely(a), b), c)        a <= b, and where that is made, a >= c
//     select(c, likely(t), f)          c holds
//
// A condition is rewritten in terms of the loop variable and of what is defined outside of the loop
// (lets inside are replaced by their values, with the choices in them made where those are solved,
// inner loops of constant extent ranged over), and solved for the loop variable. A choice whose
// condition cannot be solved stays as it is. One expression may be shared by several places with
// different lets around them: its choice is made only if it is solved in all of them.
#include "lower/loops/steady_state.h"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "arith/const_bounds.h"
#include "arith/simplify.h"
#include "arith/solve.h"
#include "ir/constants.h"
#include "ir/equality.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "ir/visitor.h"
#include "ir/walk/search.h"
#include "ir/with.h"
#include "lower/effects.h"
#include "lower/let_scope.h"
#include "lower/loop_reads.h"
#include "lower/loops/lanes.h"
#include "lower/loops/split_condition.h"
#include "support/scope.h"

namespace calotype::internal {

namespace {

bool has_inner_loop(const Stmt &s) {
    return contains_kind(s, NodeKind::For);
}

/// A choice: a node, and for those by a conjunction the part of it that is meant (null otherwise).
using Choice = std::pair<const Node *, const ExprNode *>;

/// The parts of a conjunction, tags and broadcasts around them taken off.
void for_each_conjunct(const Expr &e, const std::function<void(const Expr &)> &f) {
    if (const And *op = e.as<And>()) {
        for_each_conjunct(op->a, f);
        for_each_conjunct(op->b, f);
    } else if (const Broadcast *op = e.as<Broadcast>()) {
        for_each_conjunct(op->value, f);
    } else if (const Call *op = e.as<Call>(); op && op->is_likely()) {
        for_each_conjunct(op->args[0], f);
    } else {
        f(e);
    }
}

/// Which calls mark something as likely in this loop.
class LikelyTags {
public:
    explicit LikelyTags(bool innermost) : innermost_(innermost) {
    }

    const Call *as_tag(const Expr &e) const {
        const Call *c = e.as<Call>();
        const bool in_other_loops =
            c && !innermost_ && c->is_intrinsic(Intrinsic::likely_if_innermost);
        return c && c->is_likely() && !in_other_loops ? c : nullptr;
    }

    /// True if the value is likely that of a tagged part.
    bool is_likely(const Expr &e) const {
        auto known = known_.find(e.get());
        if (known != known_.end()) {
            return known->second;
        }
        const bool result = as_tag(e) || has_likely_operand(e);
        known_.emplace(e.get(), result);
        return result;
    }

    /// The value where all choices inside turn out as is likely; which those are is added to *made.
    Expr likely_value(const Expr &e, std::set<Choice> *made) const {
        if (const Call *tag = as_tag(e)) {
            return likely_value(tag->args[0], made);
        }
        const Min *min = e.as<Min>();
        const Max *max = e.as<Max>();
        if ((min && is_choice(min)) || (max && is_choice(max))) {
            made->insert({e.get(), nullptr});
            const Expr a = min ? min->a : max->a, b = min ? min->b : max->b;
            return likely_value(is_likely(a) ? a : b, made);
        }
        const Select *select = e.as<Select>();
        if (select && is_likely(select->true_value) && !is_likely(select->false_value)) {
            for_each_conjunct(select->condition, [&](const Expr &part) {
                made->insert({e.get(), part.get()});
            });
            return likely_value(select->true_value, made);
        }
        return remove_likelies(e);
    }

    template<typename MinMax>
    bool is_choice(const MinMax *op) const {
        return is_likely(op->a) != is_likely(op->b);
    }

private:
    bool has_likely_operand(const Expr &e) const {
        switch (e.kind()) {
#define ARITH(Name, symbol)                                                                        \
    case NodeKind::Name:                                                                           \
        return either(e.as<Name>());
#define COMPARE(Name, symbol)
#define LOGIC(Name, symbol) ARITH(Name, symbol)
#include "ir/nodes.def"
        case NodeKind::Cast:
            return is_likely(e.as<Cast>()->value);
        case NodeKind::Broadcast:
            return is_likely(e.as<Broadcast>()->value);
        case NodeKind::Ramp:
            return is_likely(e.as<Ramp>()->base);
        case NodeKind::Not:
            return is_likely(e.as<Not>()->a);
        default:
            return false;
        }
    }

    template<typename T>
    bool either(const T *op) const {
        return is_likely(op->a) || is_likely(op->b);
    }

    const bool innermost_;
    mutable std::unordered_map<const ExprNode *, bool>
        known_;  ///< of the loop's body, which outlives this
};

/// The value with the choices of min and max that `made` accepts.
class AsChosen : public GraphMutator {
public:
    AsChosen(const LikelyTags &tags, const std::function<bool(const Choice &)> &made)
        : tags_(tags), made_(made) {
    }

private:
    using GraphMutator::visit;
    template<typename T>
    Expr choose(const T *op) {
        if (!tags_.is_choice(op) || !made_({op, nullptr})) {
            return GraphMutator::visit(op);
        }
        const Expr side = tags_.is_likely(op->a) ? op->a : op->b;
        const Call *tag = tags_.as_tag(side);
        return mutate(tag ? tag->args[0] : side);
    }
    Expr visit(const Min *op) override {
        return choose(op);
    }
    Expr visit(const Max *op) override {
        return choose(op);
    }

    const LikelyTags &tags_;
    const std::function<bool(const Choice &)> &made_;
};

/// Takes values that are read from memory, and that the loop variable does not change, for any
/// between their constant bounds: `max(min(table[i], 12), -12)`.
class WithoutBoundedLoads : public GraphMutator {
public:
    explicit WithoutBoundedLoads(const std::string &var) : var_(var) {
    }
    Scope<Interval> bounds;  ///< of the variables that stand for them

    using GraphMutator::mutate;
    Expr mutate(const Expr &e) override {
        if (!e.defined() || e.type() != Int(32) || e.as<Variable>() || is_const(e) ||
            !contains_kind(e, NodeKind::Load)) {
            return e.defined() && contains_kind(e, NodeKind::Load) ? GraphMutator::mutate(e) : e;
        }
        const ConstantInterval range =
            uses_var(e, var_) ? ConstantInterval::everything() : find_constant_bounds(e);
        if (!range.is_bounded() || !can_hold(range)) {
            return GraphMutator::mutate(e);
        }
        // No name of a program begins so.
        const std::string name = ".read$" + std::to_string(count_++);
        bounds.push(name,
                    Interval(make_const(Int(32), *range.min), make_const(Int(32), *range.max)));
        return Variable::make(Int(32), name);
    }

private:
    /// Not what the type alone says: sums with it have no bounds.
    static bool can_hold(const ConstantInterval &range) {
        return *range.min > Int(32).imin() / 2 && *range.max < Int(32).imax() / 2;
    }

    const std::string &var_;
    int count_ = 0;
};

/// Of loops that a block decides for as a whole.
constexpr int64_t few_iterations = 16;

/// Solves the conditions of all choices for the loop variable. With `assume_lets`, the conditions
/// take for granted that the choices made in lets before them hold: the result counts only if none
/// of `assumed` is unsolved in the end.
class FindChoices : public Visitor {
public:
    FindChoices(const For *loop, const LikelyTags &tags, bool assume_lets)
        : loop_(loop), tags_(tags), var_(loop->name),
          is_block_(loop->for_type == ForType::GPUBlock), assume_lets_(assume_lets),
          enter_kernels_(loop->partition == Partition::Always) {
    }

    bool is_sound() const {
        return std::all_of(assumed_.begin(), assumed_.end(),
                           [&](const Choice &c) { return can_make(c); });
    }

    /// Whether it is solved wherever it stands, and so are the choices that its condition relies on.
    bool can_make(const Choice &choice) const {
        const auto is_solved = [&](const Choice &c) {
            return solved.count(c) && !unsolved.count(c);
        };
        const auto needs = needs_.find(choice);
        return is_solved(choice) &&
               (needs == needs_.end() ||
                std::all_of(needs->second.begin(), needs->second.end(), is_solved));
    }

    /// Where a choice can be made: in a range of the loop variable, if what the loop does not change
    /// is so, too (undefined: nothing).
    struct Solution {
        Interval range;
        Expr fixed;
    };
    /// Blocks of the kernels of a loop choose for themselves. Where all of them would have to agree is
    /// seldom: of a loop over the offsets of a search, where the offset is 0.
    bool is_entered(const For *inner) const {
        return inner->for_type != ForType::GPUBlock || enter_kernels_;
    }

    /// Choices whose conditions are solved; of shared ones every solution.
    std::map<Choice, std::vector<Solution>> solved;
    std::set<Choice> unsolved;

    using Visitor::operator();
    void operator()(const Expr &e) override {
        if (e.defined() && seen_.insert(e.get()).second) {
            Visitor::operator()(e);
        }
    }

private:
    using Visitor::visit;

    void visit_let(const std::string &name, const Expr &value,
                   const std::function<void()> &visit_body) {
        (*this)(value);
        // What was seen was seen with other lets.
        std::unordered_set<const ExprNode *> outer_seen;
        std::swap(seen_, outer_seen);
        lets_.push(name, assume_lets_ ? as_chosen(value) : value);
        visit_body();
        lets_.pop();
        std::swap(seen_, outer_seen);
    }

    Expr as_chosen(const Expr &value) {
        const std::function<bool(const Choice &)> made = [&](const Choice &choice) {
            const bool holds = can_make(choice);
            if (holds) {
                assumed_.insert(choice);
            }
            return holds;
        };
        return AsChosen(tags_, made).mutate(value);
    }

    void visit(const LetStmt *op) override {
        visit_let(op->name, op->value, [&] { (*this)(op->body); });
    }

    void visit(const Let *op) override {
        visit_let(op->name, op->value, [&] { (*this)(op->body); });
    }

    void visit(const For *op) override {
        (*this)(op->min);
        (*this)(op->extent);
        if (!is_entered(op)) {
            return;
        }
        std::unordered_set<const ExprNode *> outer_seen;
        std::swap(seen_, outer_seen);
        const Expr min = lets_.expand(op->min), extent = lets_.expand(op->extent);
        const bool known = min.defined() && extent.defined();
        inner_.push(op->name, known ? Interval(min, min + extent - 1) : Interval::everything());
        const std::optional<int64_t> iterations = as_const_int(op->extent);
        const bool is_short = iterations && *iterations <= few_iterations;
        const ScopedBinding<> thread(is_gpu(op->for_type), threads_, op->name);
        const ScopedBinding<> by_block(is_gpu(op->for_type) || is_short, decided_by_block_,
                                       op->name);
        (*this)(op->body);
        inner_.pop(op->name);
        std::swap(seen_, outer_seen);
    }

    void visit(const IfThenElse *op) override {
        if (tags_.is_likely(op->condition)) {
            note_conjuncts(op, op->condition);
        }
        (*this)(op->condition);
        under(op->condition, [&] {
            (*this)(op->then_case);
            (*this)(op->else_case);
        });
    }

    /// An expression that is seen again under other conditions keeps its answer: where it was seen first, bounds
    /// inference had to allow for what it reads.
    void under(const Expr &condition, const std::function<void()> &visit_part) {
        guards_.push_back(lets_.expand(condition));
        visit_part();
        guards_.pop_back();
    }

    void visit(const Select *op) override {
        const bool t = tags_.is_likely(op->true_value), f = tags_.is_likely(op->false_value);
        if (tags_.is_likely(op->condition) || (t && !f)) {
            note_conjuncts(op, op->condition);
        } else if (f && !t) {
            note({op, nullptr}, !op->condition);
        }
        Visitor::visit(op);
    }

    void visit(const Min *op) override {
        visit_min_max(op, true);
    }

    void visit(const Max *op) override {
        visit_min_max(op, false);
    }

    template<typename T>
    void visit_min_max(const T *op, bool is_min) {
        if (tags_.is_choice(op)) {
            const bool first = tags_.is_likely(op->a);
            const Expr chosen = tags_.likely_value(first ? op->a : op->b, &needs_[{op, nullptr}]),
                       other = first ? op->b : op->a;
            note({op, nullptr}, is_min ? chosen <= other : chosen >= other);
        }
        Visitor::visit(op);
    }

    void visit(const Call *op) override {
        if (!op->is_intrinsic(Intrinsic::if_then_else)) {
            return Visitor::visit(op);
        }
        if (tags_.is_likely(op->args[0])) {
            note_conjuncts(op, op->args[0]);
        }
        (*this)(op->args[0]);
        under(op->args[0], [&] {
            for (size_t i = 1; i < op->args.size(); i++) {
                (*this)(op->args[i]);
            }
        });
    }

    void note_conjuncts(const Node *op, const Expr &condition) {
        for_each_conjunct(condition, [&](const Expr &part) { note({op, part.get()}, part); });
    }

    void note(const Choice &choice, const Expr &tagged) {
        Expr expanded = lets_.expand(remove_likelies(tagged));
        if (!expanded.defined()) {
            unsolved.insert(choice);
            return;
        }
        if (is_block_ && !uses_var(expanded, var_) && is_for_block(expanded)) {
            expanded = over_inner_loops(expanded);
        }
        if (!uses_var(expanded, var_)) {
            // Where the choice stands elsewhere, too, what is solved there does not hold here.
            if (!is_const_one(simplify(expanded))) {
                unsolved.insert(choice);
            }
            return;
        }
        const Expr condition = without_bounded_loads(surely_all_lanes(expanded));
        Solution solution = {Interval::nothing(), Expr()};
        if (is_pure(condition) && reads_move(condition) && !calls_linkable(condition)) {
            solution = solve(simplify(over_inner_loops(condition)));
        }
        if (solution.range.is_empty() || !is_outside(solution)) {
            unsolved.insert(choice);
        } else if (solution.range.is_everything() && !solution.fixed.defined()) {
            solved[choice];
        } else {
            solved[choice].push_back(solution);
        }
    }

    /// Whether what a condition reads may be read in front of the loop: from inputs, which no iteration writes, at places
    /// that do not depend on the iteration (is_outside). Where conditions say something of anything but the iteration,
    /// bounds inference may have taken it for granted of the place, and the read stays under them. What a kernel reads is
    /// on the device, and is not read around it.
    bool reads_move(const Expr &condition) {
        if (!contains_kind(condition, NodeKind::Load)) {
            return true;
        }
        const bool is_around_kernels = !threads_.empty() && !is_gpu(loop_->for_type);
        if (is_around_kernels || is_guarded()) {
            return false;
        }
        if (!reads_) {
            reads_.emplace(loop_);
        }
        return reads_->are_of_inputs(condition);
    }

    bool is_guarded() const {
        return std::any_of(guards_.begin(), guards_.end(), [&](const Expr &guard) {
            return !guard.defined() || says_more(guard, [&](const std::string &name) {
                return name == var_ || inner_.contains(name);
            });
        });
    }

    /// What is likely in a loop over threads, which is not split, is a matter of the block; so it is in short loops of a
    /// thread, as over the offsets of a search: steady states of their own would be code that shares its registers.
    bool is_for_block(const Expr &condition) const {
        if (!is_pure(condition)) {
            return false;
        }
        bool other = false;
        inner_.for_each([&](const std::string &name, const Interval &) {
            other = other || (!decided_by_block_.contains(name) && uses_var(condition, name));
        });
        return !other;
    }

    Solution solve(const Expr &condition) const {
        const Interval range = solve_for_inner_interval(condition, var_);
        if (!range.is_empty()) {
            return {range, Expr()};
        }
        const SplitCondition parts = split_condition(condition, var_);
        if (is_const(parts.fixed)) {
            return {range, Expr()};
        }
        return {is_const_one(parts.moving) ? Interval::everything()
                                           : solve_for_inner_interval(parts.moving, var_),
                parts.fixed};
    }

    Expr without_bounded_loads(const Expr &condition) const {
        if (!contains_kind(condition, NodeKind::Load)) {
            return condition;
        }
        WithoutBoundedLoads loads(var_);
        const Expr open = loads.mutate(condition);
        return loads.bounds.empty() ? condition : and_condition_over_domain(open, loads.bounds);
    }

    /// The condition for all iterations of the loops inside.
    Expr over_inner_loops(const Expr &condition) const {
        bool any = false;
        inner_.for_each([&](const std::string &name, const Interval &) {
            any = any || uses_var(condition, name);
        });
        return any ? and_condition_over_domain(condition, inner_) : condition;
    }

    bool is_outside(const Solution &solution) const {
        for (const Expr &e : {solution.range.min, solution.range.max, solution.fixed}) {
            if (!e.defined()) {
                continue;
            }
            bool inside = uses_var(e, var_);
            inner_.for_each([&](const std::string &name, const Interval &) {
                inside = inside || uses_var(e, name);
            });
            if (inside) {
                return false;
            }
        }
        return true;
    }

    const For *const loop_;
    const LikelyTags &tags_;
    const std::string &var_;
    const bool is_block_;
    const bool assume_lets_;
    const bool enter_kernels_;
    std::optional<LoopReads> reads_;
    std::vector<Expr> guards_;  ///< conditions around; undefined: one that is not known outside
    std::set<Choice> assumed_;  ///< choices that conditions after them rely on
    std::map<Choice, std::set<Choice>> needs_;  ///< all that a condition takes for granted
    LetScope lets_;                             ///< inside of the loop
    Scope<Interval> inner_;                     ///< loops inside
    Scope<> threads_;                           ///< those of them that are over threads
    Scope<> decided_by_block_;                  ///< those of them that a block decides for
    std::unordered_set<const ExprNode *> seen_;
};

/// Takes a condition that holds from the predicates of loads.
class HoldsForLoads : public GraphMutator {
public:
    explicit HoldsForLoads(const Expr &condition) : condition_(condition) {
    }

private:
    using GraphMutator::visit;

    Expr remaining(const Expr &predicate) const {
        if (equal(predicate, condition_)) {
            return const_true(predicate.type().lanes());
        }
        const And *both = predicate.as<And>();
        return both ? simplify(remaining(both->a) && remaining(both->b)) : predicate;
    }

    Expr visit(const Load *op) override {
        return with(op, &Load::index, mutate(op->index), &Load::predicate,
                    remaining(op->predicate));
    }

    const Expr &condition_;
};

/// Makes the choices.
class MakeChoices : public GraphMutator {
public:
    MakeChoices(const LikelyTags &tags, const FindChoices &choices)
        : tags_(tags), choices_(choices) {
    }

private:
    using GraphMutator::visit;

    bool made(const Choice &choice) const {
        return choices_.can_make(choice);
    }

    Expr chosen(const Expr &e) {
        const Call *tag = tags_.as_tag(e);
        return mutate(tag ? tag->args[0] : e);
    }

    /// The value of a choice whose condition holds in all lanes: its loads need no mask.
    Expr unmasked(const Expr &value, const Expr &condition) {
        const Expr plain = mutate(remove_likelies(condition));
        return plain.type().is_vector() ? HoldsForLoads(plain).mutate(value) : value;
    }

    /// The condition of `op` without the parts that are known to hold.
    Expr remaining(const Node *op, const Expr &condition) {
        if (const And *both = condition.as<And>()) {
            return remaining(op, both->a) && remaining(op, both->b);
        }
        if (const Broadcast *same = condition.as<Broadcast>()) {
            return Broadcast::make(remaining(op, same->value), same->lanes);
        }
        if (const Call *tag = condition.as<Call>(); tag && tag->is_likely()) {
            const Expr rest = remaining(op, tag->args[0]);
            return is_const_one(rest) ? rest : Call::make(rest.type(), tag->intrinsic, {rest});
        }
        return made({op, condition.get()}) ? const_true(condition.type().lanes())
                                           : mutate(condition);
    }

    Stmt visit(const For *op) override {
        if (choices_.is_entered(op)) {
            return GraphMutator::visit(op);
        }
        return For::make(op->name, mutate(op->min), mutate(op->extent), op->for_type, op->partition,
                         op->device_api, op->body);
    }

    Stmt visit(const IfThenElse *op) override {
        if (!tags_.is_likely(op->condition)) {
            return GraphMutator::visit(op);
        }
        const Expr condition = remaining(op, op->condition);
        const Stmt then_case = mutate(op->then_case);
        return is_const_one(condition)
                   ? then_case
                   : IfThenElse::make(condition, then_case, mutate(op->else_case));
    }

    Expr visit(const Select *op) override {
        const bool t = tags_.is_likely(op->true_value), f = tags_.is_likely(op->false_value);
        if (tags_.is_likely(op->condition) || (t && !f)) {
            const Expr condition = remaining(op, op->condition);
            return is_const_one(condition)
                       ? unmasked(chosen(op->true_value), op->condition)
                       : Select::make(condition, mutate(op->true_value), mutate(op->false_value));
        }
        return f && !t && made({op, nullptr}) ? chosen(op->false_value) : GraphMutator::visit(op);
    }

    Expr visit(const Min *op) override {
        return choose(op);
    }

    Expr visit(const Max *op) override {
        return choose(op);
    }

    template<typename MinMax>
    Expr choose(const MinMax *op) {
        if (made({op, nullptr})) {
            return chosen(tags_.is_likely(op->a) ? op->a : op->b);
        }
        if (!tags_.is_choice(op)) {
            return GraphMutator::visit(op);
        }
        const Expr a = still_likely(op->a), b = still_likely(op->b);
        return a.same_as(op->a) && b.same_as(op->b) ? Expr(op) : MinMax::make(a, b);
    }

    /// An operand of a choice that is left to the loops inside: its tag may have gone with a choice
    /// within it that was made.
    Expr still_likely(const Expr &e) {
        const Expr result = mutate(e);
        if (!tags_.is_likely(e) || contains_likely(result)) {
            return result;
        }
        return contains_intrinsic(e, Intrinsic::likely) ? likely(result)
                                                        : likely_if_innermost(result);
    }

    Expr visit(const Call *op) override {
        if (!op->is_intrinsic(Intrinsic::if_then_else) || !tags_.is_likely(op->args[0])) {
            return GraphMutator::visit(op);
        }
        std::vector<Expr> args = {remaining(op, op->args[0])};
        for (size_t i = 1; i < op->args.size(); i++) {
            args.push_back(mutate(op->args[i]));
        }
        return is_const_one(args[0]) ? args[1]
                                     : Call::make(op->type, Intrinsic::if_then_else, args);
    }

    const LikelyTags &tags_;
    const FindChoices &choices_;
};

/// The largest or the smallest; undefined of none. In an order that does not depend on addresses.
Expr extreme_of(std::vector<Expr> ends, bool largest) {
    std::sort(ends.begin(), ends.end(), ExprDeepLess());
    Expr result;
    for (size_t i = 0; i < ends.size(); i++) {
        if (i > 0 && equal(ends[i], ends[i - 1])) {
            continue;
        }
        result = !result.defined() ? ends[i]
                 : largest         ? max(result, ends[i])
                                   : min(result, ends[i]);
    }
    return result.defined() ? simplify(result) : result;
}

/// What is in all of the ranges.
Interval common_part(const std::vector<Interval> &ranges) {
    std::vector<Expr> mins, maxes;
    for (const Interval &range : ranges) {
        if (range.has_lower_bound()) {
            mins.push_back(range.min);
        }
        if (range.has_upper_bound()) {
            maxes.push_back(range.max);
        }
    }
    return Interval(extreme_of(mins, true), extreme_of(maxes, false));
}

}  // namespace

SteadyState find_steady_state(const For *loop) {
    // A choice of a block as a whole costs next to nothing, whatever stands inside.
    const LikelyTags tags(loop->for_type == ForType::GPUBlock || !has_inner_loop(loop->body));
    auto find = [&](bool assume_lets) {
        auto found = std::make_unique<FindChoices>(loop, tags, assume_lets);
        (*found)(loop->body);
        return found;
    };
    std::unique_ptr<FindChoices> found = find(true);
    if (!found->is_sound()) {
        found = find(false);
    }
    const FindChoices &choices = *found;
    SteadyState state;
    std::vector<Interval> ranges;
    std::set<Expr, ExprDeepLess> fixed;
    for (const auto &[choice, found] : choices.solved) {
        if (!choices.can_make(choice)) {
            continue;
        }
        state.found = true;
        for (const FindChoices::Solution &solution : found) {
            ranges.push_back(solution.range);
            if (solution.fixed.defined()) {
                fixed.insert(solution.fixed);
            }
        }
    }
    if (!state.found) {
        return state;
    }
    state.range = common_part(ranges);
    for (const Expr &e : fixed) {
        state.condition = state.condition.defined() ? state.condition && e : e;
    }
    state.body = MakeChoices(tags, choices).mutate(loop->body);
    return state;
}

}  // namespace calotype::internal
