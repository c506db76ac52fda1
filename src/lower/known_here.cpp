// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/known_here.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "arith/bounds.h"
#include "arith/cse.h"
#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/equality.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "ir/visitor.h"
#include "lower/effects.h"
#include "lower/select_question.h"

namespace calotype::internal {

namespace {

/// e, simplified where the condition holds; undefined if it never does.
Expr simplified_under(const Expr &condition, const Expr &e) {
    // The simplifier uses what a statement's condition says inside of it.
    class FindValue : public Visitor {
    public:
        Expr value;

    private:
        using Visitor::visit;
        void visit(const Store *op) override {
            value = op->value;
        }
    } found;
    const Stmt holder = Store::make("bounded", e, 0, const_true(), Alignment());
    found(simplify(IfThenElse::make(remove_likelies(condition), holder)));
    return found.value;
}

std::optional<int64_t> constant_upper_bound(const Expr &e, const Scope<Interval> &ranges) {
    const Expr bound = find_constant_bound(e, Direction::Upper, ranges);
    return bound.defined() ? as_const_int(bound) : std::nullopt;
}

/// The ranges without those of variables that e has more than once: there they may cancel.
Scope<Interval> without_repeated(const Expr &e, const Scope<Interval> &ranges) {
    class Count : public Visitor {
    public:
        std::map<std::string, int> uses;
        void operator()(const Expr &e) override {
            // Twice is enough to know, and what is shared may be large.
            if (e.defined() && ++visits_[e.get()] <= 2) {
                Visitor::operator()(e);
            }
        }

    private:
        using Visitor::visit;
        void visit(const Variable *op) override {
            uses[op->name]++;
        }
        std::unordered_map<const ExprNode *, int> visits_;
    } count;
    count(e);
    Scope<Interval> result;
    for (const auto &[name, uses] : count.uses) {
        const Interval *range = uses == 1 ? ranges.find(name) : nullptr;
        if (range) {
            result.push(name, *range);
        }
    }
    return result;
}

/// Whether of these names both have the ranges of the same ones.
bool know_the_same(const std::vector<std::string> &names, const Scope<Interval> &a,
                   const Scope<Interval> &b) {
    return std::all_of(names.begin(), names.end(), [&](const std::string &name) {
        return a.contains(name) == b.contains(name);
    });
}

/// What stands at the leaves of e: nothing that two expressions have in common, but constants, is
/// without any.
class Mentions : public GraphVisitor {
public:
    std::set<std::string> names;

private:
    using GraphVisitor::visit;
    void visit(const Variable *op) override {
        names.insert(op->name);
    }
    void visit(const Load *op) override {
        names.insert(op->name);
        GraphVisitor::visit(op);
    }
    void visit(const Call *op) override {
        if (op->args.empty()) {
            names.insert(op->name);
        }
        GraphVisitor::visit(op);
    }
};

std::set<std::string> mentioned_in(const Expr &e) {
    Mentions mentions;
    mentions(e);
    return mentions.names;
}

bool mentions_any(const Expr &e, const std::set<std::string> &names) {
    const std::set<std::string> here = mentioned_in(e);
    return std::any_of(here.begin(), here.end(),
                       [&](const std::string &name) { return names.count(name) > 0; });
}

/// Each costs as much as all else that is done for a bound.
constexpr int max_conditions = 32;

}  // namespace

bool KnownHere::Around::is_integer() const {
    const Type t = first.type();
    return !is_condition() && t.is_scalar() && (t.is_int() || t.is_uint());
}

void KnownHere::push(const std::string &name, const Expr &first, const Expr &last) {
    around_.push_back({name, first, last, std::nullopt, std::nullopt, std::nullopt});
    lets_.push(name, around_.back().is_let() && is_pure(first) ? first : Expr());
}

KnownHere::Inside::Inside(KnownHere &known, const LetStmt *op) : known_(known) {
    known.push(op->name, op->value, op->value);
}

KnownHere::Inside::Inside(KnownHere &known, const Let *op) : known_(known) {
    known.push(op->name, op->value, op->value);
}

KnownHere::Inside::Inside(KnownHere &known, const For *op) : known_(known) {
    known.push(op->name, op->min, op->min + op->extent - 1);
}

KnownHere::Inside::Inside(KnownHere &known, const Expr &condition) : known_(known) {
    known.push("", condition, condition);
}

KnownHere::Inside::Inside(KnownHere &known, const std::string &name, const Expr &extent)
    : known_(known) {
    known.push(name, 0, extent - 1);
    known.around_.back().interval = Interval(0, simplify(extent - 1));
}

KnownHere::Inside::~Inside() {
    known_.around_.pop_back();
    known_.lets_.pop();
}

const KnownHere::Around *KnownHere::find(const std::string &name, size_t end, size_t *index) const {
    for (size_t i = end; i-- > 0;) {
        if (around_[i].name == name) {
            *index = i;
            return &around_[i];
        }
    }
    return nullptr;
}

bool KnownHere::binds(const std::string &name) const {
    size_t index = 0;
    const Around *a = find(name, around_.size(), &index);
    return a && a->is_integer();
}

std::optional<KnownHere::VariableRange> KnownHere::range_of_variable(const std::string &name,
                                                                     size_t end, Of of) const {
    std::optional<ConstantInterval> narrower;
    for (size_t i = end; i-- > 0;) {
        const Around &a = around_[i];
        if (a.is_condition() && !narrower) {
            // It takes account of the conditions further out, too.
            const ConstantRanges &here = narrowed(i);
            const auto it = here.find(name);
            if (it != here.end() && !it->second.is_empty()) {
                narrower = it->second;
            }
        }
        if (a.is_condition() || a.name != name) {
            continue;
        }
        if ((of == Of::Lets && !a.is_let()) || !a.is_integer() || !a.first.type().is_int()) {
            return std::nullopt;
        }
        if (!narrower && !a.range) {
            // The last iteration is often a difference of lets.
            a.range = a.is_let() ? range(a.first, i)
                                 : ConstantInterval(range(expanded(a.first, i), i).min,
                                                    range(expanded(a.last, i), i).max);
        }
        return VariableRange{narrower ? *narrower : *a.range, a.first.type()};
    }
    const auto it = of == Of::All ? given_.find(name) : given_.end();
    if (it == given_.end()) {
        return std::nullopt;
    }
    return VariableRange{narrower ? *narrower : it->second, Int(32)};
}

Scope<Interval> KnownHere::ranges_of_variables(const Expr &e, size_t end, Of of) const {
    Scope<Interval> ranges;
    for (const std::string &name : free_variables(e)) {
        if (const auto known = range_of_variable(name, end, of)) {
            ranges.push(name, make_interval(known->range, known->type));
        }
    }
    return ranges;
}

const ConstantRanges &KnownHere::narrowed(size_t index) const {
    const Around &a = around_[index];
    if (a.narrowed) {
        return *a.narrowed;
    }
    a.narrowed.emplace();
    const auto narrow = [&](const Expr &condition) {
        ConstantRanges before;
        for (const std::string &name : free_variables(condition)) {
            const auto known = range_of_variable(name, index);
            if (known && known->type == Int(32)) {
                before[name] = known->range;
            }
        }
        for (const auto &[name, range] : narrowed_by(condition, before)) {
            if (!(range == before.at(name))) {
                const auto [it, is_new] = a.narrowed->emplace(name, range);
                it->second = is_new ? range : intersection(it->second, range);
            }
        }
    };
    const Expr condition = remove_likelies(a.first), whole = expanded(condition, index);
    narrow(condition);
    if (!whole.same_as(condition) && !is_repetitive(whole)) {
        narrow(whole);
    }
    return *a.narrowed;
}

bool KnownHere::is_reachable() const {
    for (size_t i = 0; i < around_.size(); i++) {
        if (!around_[i].is_condition()) {
            continue;
        }
        const ConstantRanges &here = narrowed(i);
        if (range(around_[i].first, i) == ConstantInterval::single(0) ||
            std::any_of(here.begin(), here.end(),
                        [](const auto &entry) { return entry.second.is_empty(); })) {
            return false;
        }
    }
    return true;
}

ConstantInterval KnownHere::range(const Expr &e, size_t end) const {
    return constant_bounds(e, ranges_of_variables(e, end));
}

/// With the lets outside of around_[end] in it. What a call gives stays a name, of which conditions
/// may say something.
Expr KnownHere::expanded(const Expr &e, size_t end) const {
    const Expr result = lets_.expand_while_small(e, {.end = end, .keeps_calls = true});
    return result.same_as(e) ? e : simplify(result);
}

// Differences of lets may cancel.
Interval KnownHere::interval(const Expr &e, size_t end) const {
    constexpr int small = 256;
    const Expr expanded = simplify(lets_.expand_while_small(e, {.small = small, .end = end}));
    Scope<Interval> ranges;
    for (const std::string &name : free_variables(expanded)) {
        size_t i = 0;
        const Around *a = find(name, end, &i);
        if (!a || !a->is_integer()) {
            continue;
        }
        if (!a->interval) {
            const Interval first = interval(a->first, i);
            a->interval = a->is_let() ? first : Interval(first.min, interval(a->last, i).max);
        }
        ranges.push(name, *a->interval);
    }
    return simplify(bounds_of_expr(expanded, ranges));
}

// Loops that stay names may cancel, and so may what calls give, as the indices of fused loops; else
// their ranges count. Often the same ranges are known each time, and then the answer is, too.
std::optional<int64_t> KnownHere::upper_bound_by_ranges(const Expr &e) const {
    const std::vector<std::string> names = free_variables(e);
    const Scope<Interval> all = ranges_of_variables(e, around_.size(), Of::All),
                          of_lets = ranges_of_variables(e, around_.size(), Of::Lets),
                          once = without_repeated(e, all);
    const auto by_lets = constant_upper_bound(e, of_lets);
    const bool is_same = know_the_same(names, of_lets, once);
    const auto cancelled = is_same ? by_lets : constant_upper_bound(e, once);
    if (by_lets && cancelled) {
        return std::min(by_lets, cancelled);
    }
    if (by_lets || cancelled) {
        return by_lets ? by_lets : cancelled;
    }
    const bool is_asked = know_the_same(names, all, of_lets) || know_the_same(names, all, once);
    return is_asked ? std::nullopt : constant_upper_bound(e, all);
}

std::optional<int64_t> KnownHere::upper_bound_under_conditions(const Expr &e) const {
    const std::set<std::string> mentioned = mentioned_in(e);
    // Most conditions leave e as it is.
    std::set<Expr, ExprDeepLess> asked = {simplify(e)};
    int tried = 0;
    for (size_t i = around_.size(); i-- > 0;) {
        if (!around_[i].is_condition()) {
            continue;
        }
        const Expr condition = expanded(around_[i].first, i);
        if (!is_speculatable(condition) || !mentions_any(condition, mentioned)) {
            continue;
        }
        if (++tried > max_conditions) {
            return std::nullopt;
        }
        const Expr there = simplified_under(condition, e);
        if (!there.defined() || !asked.insert(there).second) {
            continue;
        }
        if (const std::optional<int64_t> bound = upper_bound_by_ranges(there)) {
            return bound;
        }
    }
    return std::nullopt;
}

std::optional<int64_t> KnownHere::upper_bound(const Expr &e) const {
    // With the lets around in it: in min(first + 3, last) - first both belong together.
    const Expr known = expanded(e, around_.size());
    const std::optional<int64_t> by_ranges = upper_bound_by_ranges(known), direct = range(e).max;
    if (by_ranges && direct) {
        return std::min(by_ranges, direct);
    }
    if (by_ranges || direct) {
        return by_ranges ? by_ranges : direct;
    }
    return upper_bound_under_conditions(known);
}

std::optional<int64_t> KnownHere::upper_bound_in_all_cases(const Expr &e, int64_t most) const {
    using Bound = std::optional<int64_t>;
    return by_answers(
        e, [&](const Expr &rest) { return upper_bound(rest); },
        [](const Expr &, const Expr &, Bound yes, Bound no) {
            return yes && no ? std::max(yes, no) : Bound();
        },
        [&](const Bound &yes) { return !yes || *yes > most; });
}

Stmt rewrite_branches(const IfThenElse *op, KnownHere &known,
                      const std::function<Stmt(const Stmt &)> &rewrite) {
    const auto where = [&](const Expr &condition, const Stmt &branch) {
        const KnownHere::Inside inside(known, condition);
        return rewrite(branch);
    };
    const Stmt then_case = where(op->condition, op->then_case);
    const Stmt else_case =
        op->else_case.defined() ? where(!op->condition, op->else_case) : op->else_case;
    const bool same = then_case.same_as(op->then_case) && else_case.same_as(op->else_case);
    return same ? Stmt(op) : IfThenElse::make(op->condition, then_case, else_case);
}

}  // namespace calotype::internal
