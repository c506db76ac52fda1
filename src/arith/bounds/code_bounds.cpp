// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "arith/bounds/code_bounds.h"

#include <algorithm>

#include "arith/bounds/ends.h"
#include "arith/exact_types.h"
#include "arith/order.h"
#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/queries.h"
#include "ir/visitor.h"

namespace calotype::internal {

namespace {

bool reads_memory(const Expr &e) {
    struct Finder : GraphVisitor {
        using GraphVisitor::visit;
        void visit(const Call *op) override {
            found = found || op->call_type == CallKind::Image || op->call_type == CallKind::Func;
            GraphVisitor::visit(op);
        }
        void visit(const Load *) override {
            found = true;
        }
        bool found = false;
    } finder;
    finder(e);
    return finder.found;
}

/// Only such expressions get a closer look.
bool is_index(const Expr &e) {
    return is_exact_int(e.type()) && e.type().is_scalar();
}

/// The ends of a, but those of b where they are provably tighter; both hold.
Interval tighter(const Interval &a, const Interval &b) {
    const auto provable = [](const Expr &x, const Expr &y) {
        return x.defined() && y.defined() && !known_less_equal(y, x) &&
               (known_less_equal(x, y) || can_prove(ends::less(x, y)));
    };
    return {!a.min.defined() || provable(a.min, b.min) ? b.min : a.min,
            !a.max.defined() || provable(b.max, a.max) ? b.max : a.max};
}

}  // namespace

template<typename Code>
CodeBounds::CodeBounds(const Code &code, const Scope<Interval> &vars, const FuncValueBounds &funcs)
    : funcs_(funcs) {
    scope_.set_containing_scope(&vars);
    const std::vector<std::string> bound = bound_names(code);
    if (!bound.empty()) {
        find_ambiguous(bound, free_variables(code), vars);
    }
}

template CodeBounds::CodeBounds(const Expr &, const Scope<Interval> &, const FuncValueBounds &);
template CodeBounds::CodeBounds(const Stmt &, const Scope<Interval> &, const FuncValueBounds &);

void CodeBounds::find_ambiguous(const std::vector<std::string> &bound,
                                const std::vector<std::string> &free, const Scope<Interval> &vars) {
    std::unordered_set<std::string> known(free.begin(), free.end());
    vars.for_each([&](const std::string &name, const Interval &i) {
        known.insert(name);
        for (const Expr &end : {i.min, i.max}) {
            if (end.defined()) {
                const std::vector<std::string> names = free_variables(end);
                known.insert(names.begin(), names.end());
            }
        }
    });
    for (const std::string &name : bound) {
        if (!known.insert(name).second) {
            ambiguous_.insert(name);
        }
    }
}

/// e with the names that are used in here.
Expr CodeBounds::renamed(const Expr &e) const {
    if (renames_.empty()) {
        return e;
    }
    std::map<std::string, Expr> changes;
    struct Finder : GraphVisitor {
        using GraphVisitor::visit;
        void visit(const Variable *op) override {
            if (const std::string *name = renames->find(op->name)) {
                (*changes)[op->name] = Variable::make(op->type, *name, op->symbol);
            }
        }
        const Scope<std::string> *renames;
        std::map<std::string, Expr> *changes;
    } finder;
    finder.renames = &renames_;
    finder.changes = &changes;
    finder(e);
    return changes.empty() ? e : substitute(changes, e);
}

void CodeBounds::push(const std::string &name, const Interval &i) {
    scope_.push(name, i);
    engine_.reset();
}

void CodeBounds::pop(const std::string &name) {
    scope_.pop(name);
    engine_.reset();
}

void CodeBounds::begin(const std::string &name, const Interval &i) {
    const bool rename = ambiguous_.count(name);
    const std::string inside = rename ? name + "'" + std::to_string(next_name_++) : name;
    if (rename) {
        renames_.push(name, inside);
    }
    push(inside, i);
}

void CodeBounds::end(const std::string &name) {
    if (ambiguous_.count(name)) {
        pop(renames_.get(name));
        renames_.pop(name);
    } else {
        pop(name);
    }
}

void CodeBounds::begin_loop(const std::string &name, const Expr &first, const Expr &last) {
    const Interval of_last = bounds(last);
    UnevenLoop loop{name, renamed(last)};
    const bool is_uneven = is_index(last) && is_pure(last) && !reads_memory(last) &&
                           directions_of(renamed(first)).empty() &&
                           !directions_of(loop.last).empty() && !of_last.is_single_point();
    begin(name, Interval(bounds(first).min, of_last.max));
    if (is_uneven) {
        loop.name = ambiguous_.count(name) ? renames_.get(name) : name;
        bool cancelled = false;
        loop.last = simplify(expand_lets(loop.last, &cancelled));
        uneven_.push_back(loop);
    }
}

void CodeBounds::begin_let(const std::string &name, const Expr &value) {
    Definition d;
    d.value = renamed(value);
    for (const std::string &used : free_variables(d.value)) {
        if (scope_.contains(used)) {
            d.depends_on.push_back(used);
        }
    }
    // What is read from memory at one place may differ from what is read at another.
    d.movable = is_index(d.value) && is_pure(d.value) && !reads_memory(d.value);
    if (d.movable) {
        d.directions = directions_of(d.value);
    }
    begin(name, names_.keep_small(correlated_bounds(d.value)));
    d.name = ambiguous_.count(name) ? renames_.get(name) : name;
    definition_index_[d.name] = definitions_.size();
    definitions_.push_back(std::move(d));
}

void CodeBounds::end_let() {
    definition_index_.erase(definitions_.back().name);
    definitions_.pop_back();
}

bool CodeBounds::assume_all(const Expr &condition, bool holds, std::vector<std::string> *narrowed) {
    for (const Expr &c : ends::conjuncts(renamed(condition), holds)) {
        if (!assume(c, narrowed)) {
            return false;
        }
    }
    return true;
}

/// Take one condition for true. False if it cannot be.
bool CodeBounds::assume(const Expr &c, std::vector<std::string> *narrowed) {
    const Interval value = uncorrelated_bounds(c);
    if (is_const_zero(value.max)) {
        return false;
    }
    if (value.is_single_point()) {
        // What a condition reads from memory may not be there yet where the box is used.
        if (!is_const(value.min) && !reads_memory(value.min)) {
            used_ = used_.defined() ? ends::logical_and(used_, value.min) : value.min;
        }
        return true;
    }
    if (!narrow(narrow_by_condition(c, scope_, funcs_), narrowed)) {
        return false;
    }
    // The same condition in terms of what its lets were computed from.
    bool cancelled = false;
    const Expr expanded = expand_lets(c, &cancelled);
    return expanded.same_as(c) || narrow(narrow_by_condition(expanded, scope_, funcs_), narrowed);
}

bool CodeBounds::narrow(const std::vector<std::pair<std::string, Interval>> &found,
                        std::vector<std::string> *narrowed) {
    std::set<std::string> changed;
    for (const auto &[name, i] : found) {
        if (i.is_empty()) {
            return false;
        }
        push(name, i);
        narrowed->push_back(name);
        changed.insert(name);
        limited_.insert(name);
    }
    if (!changed.empty()) {
        recompute_lets(changed, narrowed);
    }
    return true;
}

/// The lets around, outermost first, that what is needed under the condition depends on.
std::vector<bool> CodeBounds::needed_lets() const {
    std::vector<bool> result(definitions_.size(), true);
    if (!needed_) {
        return result;
    }
    std::unordered_set<std::string> names;
    for (const std::string &name : *needed_) {
        const std::string *inside = renames_.find(name);
        names.insert(inside ? *inside : name);
    }
    for (size_t i = definitions_.size(); i-- > 0;) {
        result[i] = names.count(definitions_[i].name);
        if (result[i]) {
            names.insert(definitions_[i].depends_on.begin(), definitions_[i].depends_on.end());
        }
    }
    return result;
}

/// The intervals of lets whose operands have new ones, as far as they are needed.
void CodeBounds::recompute_lets(std::set<std::string> changed, std::vector<std::string> *narrowed) {
    const std::vector<bool> needed = needed_lets();
    for (size_t i = 0; i < definitions_.size(); i++) {
        const Definition &d = definitions_[i];
        bool affected = false;
        for (const std::string &name : d.depends_on) {
            affected = affected || (needed[i] && changed.count(name));
        }
        if (!affected) {
            continue;
        }
        const Interval now = correlated_bounds(d.value), before = scope_.get(d.name);
        if (now.same_as(before)) {
            continue;
        }
        // What a condition said of the let itself still holds.
        push(d.name, limited_.count(d.name) ? tighter(before, now) : now);
        narrowed->push_back(d.name);
        changed.insert(d.name);
    }
}

/// What a let can be replaced by: its value, or what is known to be equal to it outside of the
/// code. Undefined if there is nothing.
Expr CodeBounds::expansion_of(const Definition &d) const {
    const Interval &i = scope_.get(d.name);
    return i.is_single_point() ? i.min : d.value;
}

/// The let of that name whose value may be put in place of it, or null.
const CodeBounds::Definition *CodeBounds::definition_of(const std::string &name) const {
    const auto it = definition_index_.find(name);
    const Definition *d = it == definition_index_.end() ? nullptr : &definitions_[it->second];
    return d && d->movable ? d : nullptr;
}

/// The last of the lets that e uses, or null.
const CodeBounds::Definition *CodeBounds::innermost_let(const Expr &e, Expansion how) const {
    const Definition *result = nullptr;
    for (const std::string &name : free_variables(e)) {
        const Definition *d = definition_of(name);
        const bool kept = how == Expansion::UpToLimited && limited_.count(name);
        result = d && !kept && (!result || d > result) ? d : result;
    }
    return result;
}

/// How the variables other than lets move e.
Directions CodeBounds::directions_of(const Expr &e) const {
    Directions result;
    for (const auto &[name, own] : variable_directions(e)) {
        const Definition *d = definition_of(name);
        const Interval *i = scope_.find(name);
        if (!i || i->is_single_point()) {
            continue;
        }
        if (!d) {
            result[name] |= own;
            continue;
        }
        for (const auto &[inner, through] : d->directions) {
            const int turned = (through & Up ? Down : 0) | (through & Down ? Up : 0);
            result[inner] |= own == Either ? Either : own == Up ? through : turned;
        }
    }
    return result;
}

/// Some variable moves e both ways, maybe through lets.
bool CodeBounds::may_cancel(const Expr &e) const {
    for (const auto &entry : directions_of(e)) {
        if (entry.second == Either) {
            return true;
        }
    }
    return false;
}

/// e with the lets around it replaced by their values, from the innermost out, as long as it stays
/// small. What cancels on the way is gone before it grows.
Expr CodeBounds::expand_lets(const Expr &e, bool *cancelled, Expansion how) const {
    constexpr int largest = 200, most_lets = 40;
    Expr result = e;
    *cancelled = false;
    for (int i = 0; i < most_lets; i++) {
        const Definition *d = innermost_let(result, how);
        if (!d) {
            break;
        }
        const Expr substituted = substitute(d->name, expansion_of(*d), result);
        const Expr next = cancel_like_terms(substituted);
        if (ends::tree_size(next, largest) == largest) {
            break;
        }
        *cancelled = *cancelled || !next.same_as(substituted);
        result = next;
    }
    return result;
}

Interval CodeBounds::uncorrelated_bounds(const Expr &e) {
    if (!engine_) {
        engine_ = std::make_unique<BoundsEngine>(scope_, funcs_, false, names_);
    }
    return engine_->bounds(e).ends;
}

/// All that moves e is one let that a condition limits: what cancels in its value is in its
/// interval already, and what the condition says is not in its value.
bool CodeBounds::depends_only_on_limited_let(const Expr &e) const {
    const std::string *only = nullptr;
    const std::vector<std::string> names = free_variables(e);
    for (const std::string &name : names) {
        const Interval *i = scope_.find(name);
        if (!i || i->is_single_point()) {
            continue;
        }
        if (only || !limited_.count(name)) {
            return false;
        }
        only = &name;
    }
    return only;
}

/// True of what has one value for all of the code.
bool CodeBounds::is_fixed(const Expr &e) const {
    return !any_free_variable(e, [&](const std::string &name) {
        const Interval *i = scope_.find(name);
        return i && !i->is_single_point();
    });
}

/// A variable moved by what is fixed: its bounds are those of the variable, moved.
bool CodeBounds::is_moved_variable(const Expr &e) const {
    if (const Add *op = e.as<Add>()) {
        return is_fixed(op->b)   ? is_moved_variable(op->a)
               : is_fixed(op->a) ? is_moved_variable(op->b)
                                 : false;
    } else if (const Sub *op = e.as<Sub>()) {
        return is_fixed(op->b) && is_moved_variable(op->a);
    }
    return e.as<Variable>();
}

Interval CodeBounds::cancelling_bounds(const Expr &e) {
    const Interval plain = uncorrelated_bounds(e);
    if (plain.is_single_point() || !is_index(e) || !may_cancel(e) ||
        depends_only_on_limited_let(e)) {
        return plain;
    }
    const auto by_expansion = [&](Expansion how, const Interval &known) {
        bool cancelled = false;
        const Expr expanded = expand_lets(e, &cancelled, how);
        return cancelled || has_opposed_variable(expanded, scope_)
                   ? tighter(simplify(bounds_of_correlated(expanded, scope_, funcs_)), known)
                   : known;
    };
    const Interval result = by_expansion(Expansion::Full, plain);
    return limited_.empty() ? result : by_expansion(Expansion::UpToLimited, result);
}

/// How far the loop goes depends on the loops around it. Where these move e besides, its end is
/// put in its place, so that both are seen together: with x up to (n - y) / 8,  x * 8 + y  is at
/// most n, however far y goes. What a condition says of the loop is not in its end.
Interval CodeBounds::at_ends_of(const UnevenLoop &loop, const Expr &e,
                                const Interval &known) const {
    const Directions around = directions_of(e), of_last = directions_of(loop.last);
    const auto own = around.find(loop.name);
    const bool meets = std::any_of(of_last.begin(), of_last.end(), [&](const auto &entry) {
        return entry.first != loop.name && around.count(entry.first);
    });
    if (own == around.end() || own->second == Either || !meets || limited_.count(loop.name)) {
        return known;
    }
    bool cancelled = false;
    const Expr inside = simplify(expand_lets(e, &cancelled));
    const Expr at_end = substitute(loop.name, loop.last, inside);
    if (at_end.same_as(inside)) {
        return known;
    }
    const Interval i = bounds_of_correlated(simplify(at_end), scope_, funcs_);
    // Neither is always the tighter one: both hold.
    return own->second == Up ? Interval(known.min, simplify(ends::min_or_other(i.max, known.max)))
                             : Interval(simplify(ends::max_or_other(i.min, known.min)), known.max);
}

Interval CodeBounds::correlated_bounds(const Expr &e) {
    if (is_moved_variable(e)) {
        return uncorrelated_bounds(e);
    }
    Interval result = cancelling_bounds(e);
    if (!uneven_.empty() && is_index(e) && !result.is_single_point()) {
        for (auto loop = uneven_.rbegin(); loop != uneven_.rend(); ++loop) {
            result = at_ends_of(*loop, e, result);
        }
    }
    return result;
}

Interval CodeBounds::bounds(const Expr &e) {
    return correlated_bounds(renamed(e));
}

}  // namespace calotype::internal
