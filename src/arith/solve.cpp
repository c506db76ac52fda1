// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Solving is by peeling: as long as the side with the variable is an operation with one operand
// that has it, the operation is undone on the other side. Where both sides have the variable, they
// are collected to `k * var + rest`. min, max and select split a comparison into two.
#include "arith/solve.h"

#include "arith/bounds.h"
#include "arith/bounds/ends.h"
#include "arith/exact_types.h"
#include "arith/linear_form.h"
#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/expr_nodes.h"
#include "ir/queries.h"

namespace calotype::internal {

namespace {

enum class Cmp { LT, LE, GT, GE, EQ, NE };

/// The comparison that holds with exchanged sides.
Cmp flipped(Cmp c) {
    switch (c) {
    case Cmp::LT:
        return Cmp::GT;
    case Cmp::LE:
        return Cmp::GE;
    case Cmp::GT:
        return Cmp::LT;
    case Cmp::GE:
        return Cmp::LE;
    default:
        return c;
    }
}

Cmp negated(Cmp c) {
    switch (c) {
    case Cmp::LT:
        return Cmp::GE;
    case Cmp::LE:
        return Cmp::GT;
    case Cmp::GT:
        return Cmp::LE;
    case Cmp::GE:
        return Cmp::LT;
    case Cmp::EQ:
        return Cmp::NE;
    case Cmp::NE:
        break;
    }
    return Cmp::EQ;
}

Expr make(Cmp c, const Expr &a, const Expr &b) {
    switch (c) {
    case Cmp::LT:
        return LT::make(a, b);
    case Cmp::LE:
        return LE::make(a, b);
    case Cmp::GT:
        return GT::make(a, b);
    case Cmp::GE:
        return GE::make(a, b);
    case Cmp::EQ:
        return EQ::make(a, b);
    case Cmp::NE:
        break;
    }
    return NE::make(a, b);
}

/// Takes a comparison apart; false if e is none.
bool as_comparison(const Expr &e, Cmp *c, Expr *a, Expr *b) {
    const auto is = [&](const auto *op, Cmp kind) {
        if (op) {
            *c = kind;
            *a = op->a;
            *b = op->b;
        }
        return op != nullptr;
    };
    return is(e.as<LT>(), Cmp::LT) || is(e.as<LE>(), Cmp::LE) || is(e.as<GT>(), Cmp::GT) ||
           is(e.as<GE>(), Cmp::GE) || is(e.as<EQ>(), Cmp::EQ) || is(e.as<NE>(), Cmp::NE);
}

const Expr &strip_hints(const Expr &e) {
    const Call *c = e.as<Call>();
    return c && c->is_likely() ? strip_hints(c->args[0]) : e;
}

/// k * var + rest
struct Linear {
    int64_t k = 0;
    Expr rest;
};

class Solver {
public:
    explicit Solver(const std::string &var) : var_(var) {
    }

    Expr solve(const Expr &e) {
        const Expr &stripped = strip_hints(e);
        if (!uses(stripped)) {
            return stripped;
        }
        if (--budget_ < 0) {
            return give_up(stripped);
        }
        return stripped.type().is_bool() ? solve_condition(stripped, true) : solve_value(stripped);
    }

    bool fully_solved() const {
        return fully_solved_;
    }

private:
    bool uses(const Expr &e) const {
        return uses_var(e, var_);
    }

    Expr give_up(const Expr &e) {
        fully_solved_ = false;
        return e;
    }

    /// The condition, or its opposite.
    Expr solve_condition(const Expr &with_hints, bool positive) {
        const Expr &e = strip_hints(with_hints);
        if (!uses(e)) {
            return positive ? e : ends::logical_not(e);
        }
        if (--budget_ < 0) {
            return give_up(positive ? e : Not::make(e));
        }
        const auto part = [&](const Expr &p) {
            return solve_condition(p, positive);
        };
        Cmp c;
        Expr a, b;
        if (as_comparison(e, &c, &a, &b)) {
            return compare(positive ? c : negated(c), a, b);
        }
        if (const Not *op = e.as<Not>()) {
            return solve_condition(op->a, !positive);
        }
        if (const And *op = e.as<And>()) {
            return positive ? ends::logical_and(part(op->a), part(op->b))
                            : ends::logical_or(part(op->a), part(op->b));
        }
        if (const Or *op = e.as<Or>()) {
            return positive ? ends::logical_or(part(op->a), part(op->b))
                            : ends::logical_and(part(op->a), part(op->b));
        }
        if (const Select *op = e.as<Select>()) {
            return either(op->condition, part(op->true_value), part(op->false_value));
        }
        if (const Let *op = e.as<Let>()) {
            return solve_let(op, positive ? e : Not::make(e),
                             [&](const Expr &body) { return part(body); });
        }
        return give_up(positive ? e : Not::make(e));
    }

    /// What holds of a choice: the condition and one result, or not the condition and the other.
    Expr either(const Expr &condition, const Expr &a, const Expr &b) {
        return ends::logical_or(ends::logical_and(solve_condition(condition, true), a),
                                ends::logical_and(solve_condition(condition, false), b));
    }

    /// What is solved by solve_body for the body of a let; `unsolved` if the let cannot be removed.
    template<typename F>
    Expr solve_let(const Let *op, const Expr &unsolved, F solve_body) {
        const bool shadows = op->name == var_;
        const bool substitutable = !shadows && ends::tree_size(op->value, 64) < 64;
        if (!uses(op->value) && !shadows) {
            return Let::make(op->name, op->value, solve_body(op->body));
        }
        return substitutable ? solve_body(substitute(op->name, op->value, op->body))
                             : give_up(unsolved);
    }

    /// The solution of `a c b`.
    Expr compare(Cmp c, const Expr &left, const Expr &right) {
        const Expr &a = strip_hints(left), &b = strip_hints(right);
        const bool in_a = uses(a), in_b = uses(b);
        if (!in_a && !in_b) {
            return make(c, a, b);
        }
        if (!in_a) {
            return compare(flipped(c), b, a);
        }
        if (--budget_ < 0) {
            return give_up(make(c, a, b));
        }
        if (Expr split = split_choice(c, a, b); split.defined()) {
            return split;
        }
        if (in_b) {
            if (Expr split = split_choice(flipped(c), b, a); split.defined()) {
                return split;
            }
            return collect(c, a, b);
        }
        return peel(c, a, b);
    }

    /// A comparison of a min, max or select with b as comparisons of its parts; undefined if a is
    /// no such thing.
    Expr split_choice(Cmp c, const Expr &a, const Expr &b) {
        if (const Select *op = a.as<Select>()) {
            return either(op->condition, compare(c, op->true_value, b),
                          compare(c, op->false_value, b));
        }
        const Min *min = a.as<Min>();
        const Max *max = a.as<Max>();
        if (!min && !max) {
            return Expr();
        }
        if (c == Cmp::EQ) {
            return ends::logical_and(compare(Cmp::LE, a, b), compare(Cmp::GE, a, b));
        }
        if (c == Cmp::NE) {
            return ends::logical_or(compare(Cmp::LT, a, b), compare(Cmp::GT, a, b));
        }
        const Expr &p = min ? min->a : max->a, &q = min ? min->b : max->b;
        const bool below = c == Cmp::LT || c == Cmp::LE;
        const Expr x = compare(c, p, b), y = compare(c, q, b);
        return below == (max != nullptr) ? ends::logical_and(x, y) : ends::logical_or(x, y);
    }

    /// Both sides have the variable.
    Expr collect(Cmp c, const Expr &a, const Expr &b) {
        if (is_exact_int(a.type())) {
            const auto left = linear(a), right = linear(b);
            const auto k = left && right ? checked_sub(left->k, right->k) : std::nullopt;
            if (k) {
                if (*k == 0) {
                    return make(c, left->rest, right->rest);
                }
                return peel(c, scaled(*k, a.type()), Sub::make(right->rest, left->rest));
            }
        }
        return give_up(make(c, a, b));
    }

    Expr scaled(int64_t k, Type t) const {
        const Expr v = Variable::make(t.element_of(), var_);
        const Expr var = t.is_vector() ? Broadcast::make(v, t.lanes()) : v;
        return k == 1 ? var : Mul::make(var, make_const(t, k));
    }

    /// Only a has the variable: undo its outermost operation.
    Expr peel(Cmp c, const Expr &a, const Expr &b) {
        if (const Variable *op = a.as<Variable>(); op && op->name == var_) {
            return make(c, a, simplify(b));
        }
        if (const Let *op = a.as<Let>()) {
            return uses_var(b, op->name) ? give_up(make(c, a, b))
                                         : solve_let(op, make(c, a, b), [&](const Expr &body) {
                                               return compare(c, body, b);
                                           });
        }
        if (const Expr magnitude = magnitude_of(a); magnitude.defined()) {
            return peel_abs(c, magnitude, b);
        }
        if (const Cast *op = a.as<Cast>()) {
            return peel_cast(c, op, b);
        }
        if (!is_exact_int(a.type())) {
            return give_up(make(c, a, b));
        }
        if (const Add *op = a.as<Add>()) {
            return uses(op->a) && uses(op->b) ? collect(c, a, b)
                   : uses(op->a)              ? compare(c, op->a, Sub::make(b, op->b))
                                              : compare(c, op->b, Sub::make(b, op->a));
        }
        if (const Sub *op = a.as<Sub>()) {
            return uses(op->a) && uses(op->b) ? collect(c, a, b)
                   : uses(op->a)              ? compare(c, op->a, Add::make(b, op->b))
                                              : compare(flipped(c), op->b, Sub::make(op->a, b));
        }
        if (const Mul *op = a.as<Mul>()) {
            return is_const(op->b) ? peel_mul(c, op->a, op->b, b) : peel_mul(c, op->b, op->a, b);
        }
        if (const Div *op = a.as<Div>()) {
            return peel_div(c, op->a, op->b, b);
        }
        return give_up(make(c, a, b));
    }

    /// p * factor against b.
    Expr peel_mul(Cmp c, const Expr &p, const Expr &factor, const Expr &b) {
        const auto k = as_const_int(factor);
        const Type t = b.type();
        if (!k || *k == 0 || *k == INT64_MIN || !t.can_represent(-*k)) {
            return give_up(make(c, Mul::make(p, factor), b));
        }
        if (*k < 0) {
            return peel_mul(flipped(c), p, make_const(t, -*k), Sub::make(make_zero(t), b));
        }
        const Expr rounded_down = Div::make(b, factor);
        const Expr rounded_up = Div::make(Add::make(b, make_const(t, *k - 1)), factor);
        const Expr multiple = EQ::make(Mod::make(b, factor), make_zero(t));
        switch (c) {
        case Cmp::LT:
        case Cmp::GE:
            return compare(c, p, rounded_up);
        case Cmp::LE:
        case Cmp::GT:
            return compare(c, p, rounded_down);
        case Cmp::EQ:
            return ends::logical_and(compare(c, p, rounded_down), multiple);
        case Cmp::NE:
            break;
        }
        return ends::logical_or(compare(c, p, rounded_down), ends::logical_not(multiple));
    }

    /// p / divisor against b: p lies in [b * divisor, (b + 1) * divisor).
    Expr peel_div(Cmp c, const Expr &p, const Expr &divisor, const Expr &b) {
        const auto d = as_const_int(divisor);
        if (!d || *d <= 0) {
            return give_up(make(c, Div::make(p, divisor), b));
        }
        const Expr first = Mul::make(b, divisor);
        const Expr next = Mul::make(Add::make(b, make_one(b.type())), divisor);
        switch (c) {
        case Cmp::LT:
        case Cmp::GE:
            return compare(c, p, first);
        case Cmp::LE:
            return compare(Cmp::LT, p, next);
        case Cmp::GT:
            return compare(Cmp::GE, p, next);
        case Cmp::EQ:
            return ends::logical_and(compare(Cmp::GE, p, first), compare(Cmp::LT, p, next));
        case Cmp::NE:
            break;
        }
        return ends::logical_or(compare(Cmp::LT, p, first), compare(Cmp::GE, p, next));
    }

    /// x where e is the absolute value of x in the type of x; else undefined.
    static Expr magnitude_of(const Expr &e) {
        const Cast *cast = e.as<Cast>();
        const Call *abs = cast ? cast->value.as<Call>() : nullptr;
        const bool is_abs = abs && abs->is_intrinsic(Intrinsic::abs) &&
                            abs->args[0].type() == e.type() && is_exact_int(e.type());
        return is_abs ? abs->args[0] : Expr();
    }

    /// |x| against b: x lies between -b and b, or outside.
    Expr peel_abs(Cmp c, const Expr &x, const Expr &b) {
        const Expr negative = Sub::make(make_zero(b.type()), b);
        const Expr above = compare(c, x, b), below = compare(flipped(c), x, negative);
        switch (c) {
        case Cmp::LT:
        case Cmp::LE:
            return ends::logical_and(above, below);
        case Cmp::GT:
        case Cmp::GE:
            return ends::logical_or(above, below);
        case Cmp::EQ:
            return ends::logical_and(ends::logical_or(above, below),
                                     GE::make(b, make_zero(b.type())));
        case Cmp::NE:
            break;
        }
        return ends::logical_or(ends::logical_and(above, below), LT::make(b, make_zero(b.type())));
    }

    /// A widening conversion against a constant that the narrow type has.
    Expr peel_cast(Cmp c, const Cast *op, const Expr &b) {
        const Type narrow = op->value.type();
        const auto constant = as_const_int(b);
        const bool lossless = narrow.is_int_or_uint() && !narrow.is_bool() &&
                              op->type.is_int_or_uint() && op->type.can_represent(narrow);
        if (!lossless || !constant || !narrow.can_represent(*constant)) {
            return give_up(make(c, op, b));
        }
        return compare(c, op->value, make_const(narrow, *constant));
    }

    Expr solve_value(const Expr &e) {
        if (const auto l = is_exact_int(e.type()) ? linear(e) : std::nullopt) {
            const Expr first = scaled(l->k, e.type());
            return l->k == 0 ? l->rest : is_const_zero(l->rest) ? first : Add::make(first, l->rest);
        }
        return give_up(e);
    }

    /// e as k * var + rest, if it is linear in the variable with a constant factor.
    std::optional<Linear> linear(const Expr &e) const {
        LinearForm form(e), rest;
        Linear result;
        for (const LinearForm::Term &term : form.terms) {
            const Broadcast *lanes = term.value.as<Broadcast>();
            const Variable *v = (lanes ? lanes->value : term.value).as<Variable>();
            if (v && v->name == var_) {
                result.k = term.coefficient;
            } else if (uses(term.value)) {
                return std::nullopt;
            } else {
                rest.terms.push_back(term);
            }
        }
        rest.constant = form.constant;
        result.rest = rest.to_expr(e.type());
        const bool fits = form.is_valid() && e.type().can_represent(result.k);
        return fits && result.rest.defined() ? std::optional(result) : std::nullopt;
    }

    const std::string &var_;
    bool fully_solved_ = true;
    int budget_ = 2000;  ///< nodes to look at before the rest is left as it is
};

/// The ranges of a variable in which a solved condition holds: all of them (outer), or only such
/// (inner).
class IntervalFinder {
public:
    IntervalFinder(const std::string &var, bool outer) : var_(var), outer_(outer) {
    }

    Interval find(const Expr &e) const {
        if (is_const(e)) {
            return is_const_zero(e) ? Interval::nothing() : Interval::everything();
        }
        if (!uses_var(e, var_)) {
            return outer_ || can_prove(e) ? Interval::everything() : Interval::nothing();
        }
        if (const And *op = e.as<And>()) {
            return make_intersection(find(op->a), find(op->b));
        }
        if (const Or *op = e.as<Or>()) {
            const Interval a = find(op->a), b = find(op->b);
            return outer_ ? make_union(a, b) : inner_union(a, b);
        }
        if (const Let *op = e.as<Let>(); op && op->name != var_ && !uses_var(op->value, var_)) {
            const auto bind = [&](const Expr &end) {
                return end.defined() && uses_var(end, op->name)
                           ? Let::make(op->name, op->value, end)
                           : end;
            };
            const Interval body = find(op->body);
            return body.is_empty() ? body : Interval(bind(body.min), bind(body.max));
        }
        Cmp c;
        Expr a, b;
        if (as_comparison(e, &c, &a, &b)) {
            const Variable *v = a.as<Variable>();
            if (v && v->name == var_ && v->type.is_scalar() && !uses_var(b, var_)) {
                return of_comparison(c, b);
            }
        }
        return unknown();
    }

private:
    Interval unknown() const {
        return outer_ ? Interval::everything() : Interval::nothing();
    }

    /// An interval inside of the union: of two symbolic ones, the hull may have holes.
    static Interval inner_union(const Interval &a, const Interval &b) {
        if (a.is_empty() || b.is_everything()) {
            return b;
        }
        if (b.is_empty() || a.is_everything()) {
            return a;
        }
        const bool both_open_below = !a.has_lower_bound() && !b.has_lower_bound();
        const bool both_open_above = !a.has_upper_bound() && !b.has_upper_bound();
        if (both_open_below || both_open_above) {
            return make_union(a, b);
        }
        const bool low_first = !a.has_lower_bound() && !b.has_upper_bound();
        const bool high_first = !b.has_lower_bound() && !a.has_upper_bound();
        if (low_first || high_first) {
            const Expr &top = low_first ? a.max : b.max, &bottom = low_first ? b.min : a.min;
            const Expr next = top.type().is_int() ? ends::add(top, make_one(top.type())) : top;
            if (next.defined() && can_prove(ends::less_equal(bottom, next))) {
                return Interval::everything();
            }
        }
        return a;
    }

    /// b - 1 or b + 1, for a strict comparison.
    Interval of_strict(const Expr &b, bool below) const {
        const Type t = b.type();
        const auto constant = as_const_int(b);
        if (t.is_int_or_uint() && (constant || !t.can_overflow())) {
            const bool at_end = constant && (below ? t.is_min(*constant) : t.is_max(*constant));
            if (at_end) {
                return Interval::nothing();
            }
            const Expr one = make_one(t);
            return below ? Interval(Expr(), ends::sub(b, one))
                         : Interval(ends::add(b, one), Expr());
        }
        // The neighbour may wrap, or there is none: the closed interval is too large by one value.
        if (!outer_) {
            return Interval::nothing();
        }
        return below ? Interval(Expr(), b) : Interval(b, Expr());
    }

    Interval of_comparison(Cmp c, const Expr &b) const {
        switch (c) {
        case Cmp::LE:
            return {Expr(), b};
        case Cmp::GE:
            return {b, Expr()};
        case Cmp::LT:
            return of_strict(b, true);
        case Cmp::GT:
            return of_strict(b, false);
        case Cmp::EQ:
            return Interval::single_point(b);
        case Cmp::NE:
            break;
        }
        return unknown();
    }

    const std::string &var_;
    const bool outer_;
};

Interval solve_for_interval(const Expr &condition, const std::string &var, bool outer) {
    internal_assert(condition.type().is_bool()) << "not a condition";
    if (!condition.type().is_scalar()) {
        return outer ? Interval::everything() : Interval::nothing();
    }
    const Expr solved = Solver(var).solve(condition);
    return simplify(IntervalFinder(var, outer).find(solved));
}

}  // namespace

SolverResult solve_expression(const Expr &e, const std::string &var) {
    if (!e.defined()) {
        return {};
    }
    Solver solver(var);
    const Expr result = solver.solve(e);
    return {result, solver.fully_solved()};
}

Interval solve_for_inner_interval(const Expr &condition, const std::string &var) {
    return solve_for_interval(condition, var, false);
}

Interval solve_for_outer_interval(const Expr &condition, const std::string &var) {
    return solve_for_interval(condition, var, true);
}

Expr and_condition_over_domain(const Expr &condition, const Scope<Interval> &vars) {
    Expr e = simplify(condition);
    // With each variable on one side only, its ends are chosen once a comparison.
    for (const std::string &name : free_variables(e)) {
        if (vars.contains(name)) {
            e = solve_expression(e, name).result;
        }
    }
    const Interval i = bounds_of_expr(e, vars);
    return i.has_lower_bound() ? simplify(i.min) : const_false();
}

std::vector<std::pair<std::string, Interval>> narrow_by_condition(const Expr &condition,
                                                                  const Scope<Interval> &vars,
                                                                  const FuncValueBounds &funcs) {
    std::vector<std::pair<std::string, Interval>> result;
    if (!condition.type().is_scalar()) {
        return result;
    }
    for (const std::string &name : free_variables(condition)) {
        const Interval *known = vars.find(name);
        if (!known || known->is_single_point()) {
            continue;
        }
        Interval limits = solve_for_outer_interval(condition, name);
        if (limits.is_everything()) {
            continue;
        }
        if (!limits.is_empty()) {
            // The ends may use the other variables.
            limits = {limits.min.defined() ? bounds_of_expr(limits.min, vars, funcs).min : Expr(),
                      limits.max.defined() ? bounds_of_expr(limits.max, vars, funcs).max : Expr()};
        }
        const Interval narrowed = simplify(make_intersection(*known, limits));
        if (!narrowed.same_as(*known)) {
            result.emplace_back(name, narrowed);
        }
    }
    return result;
}

}  // namespace calotype::internal
