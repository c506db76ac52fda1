// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "arith/bounds/correlated_differences.h"

#include "arith/bounds/ends.h"
#include "arith/constant_interval.h"
#include "arith/difference_range.h"
#include "arith/exact_types.h"
#include "arith/linear_form.h"
#include "arith/monotonic.h"
#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/queries.h"
#include "ir/walk/field_walk.h"

namespace calotype::internal {

namespace {

/// Larger expressions are not looked at.
constexpr int largest = 256;

Movement reversed(Movement d) {
    return d == Up ? Down : d == Down ? Up : Either;
}

Movement times(Movement d, const Expr &factor) {
    return is_positive_const(factor) ? d : is_negative_const(factor) ? reversed(d) : Either;
}

/// Collects the directions of all occurrences of each variable.
void collect_directions(const Expr &e, Movement d, Directions *result) {
    if (!e.defined()) {
        return;
    }
    const auto both = [&](const auto *op, Movement of_b) {
        collect_directions(op->a, d, result);
        collect_directions(op->b, of_b, result);
    };
    if (const Variable *op = e.as<Variable>()) {
        (*result)[op->name] |= d;
    } else if (const Add *op = e.as<Add>()) {
        both(op, d);
    } else if (const Sub *op = e.as<Sub>()) {
        both(op, reversed(d));
    } else if (const Min *op = e.as<Min>()) {
        both(op, d);
    } else if (const Max *op = e.as<Max>()) {
        both(op, d);
    } else if (const Mul *op = e.as<Mul>()) {
        collect_directions(op->a, times(d, op->b), result);
        collect_directions(op->b, times(d, op->a), result);
    } else if (const Div *op = e.as<Div>()) {
        collect_directions(op->a, times(d, op->b), result);
        collect_directions(op->b, Either, result);
    } else {
        dispatch(e.get(), [&](const auto *node) {
            for_each_child(*node, [&](const auto &child) {
                if constexpr (std::is_same_v<std::decay_t<decltype(child)>, Expr>) {
                    collect_directions(child, Either, result);
                }
            });
        });
    }
}

/// True if the interval's ends can stand in for the variable.
bool is_usable(const Interval *i, const Scope<Interval> &vars) {
    return i && i->is_bounded() && !i->is_single_point() && !uses_any_var(i->min, vars) &&
           !uses_any_var(i->max, vars);
}

bool is_exact_scalar(Type t) {
    return is_exact_int(t) && t.is_scalar();
}

}  // namespace

Expr cancel_like_terms(const Expr &e) {
    if (!is_exact_scalar(e.type())) {
        return e;
    }
    const LinearForm form(e);
    // Constants are terms, too: where two of them meet, a min or max beside them comes to light.
    const Expr result = form.is_valid() ? form.to_expr(e.type()) : Expr();
    return result.defined() ? result : e;
}

Directions variable_directions(const Expr &e) {
    Directions result;
    if (ends::tree_size(e, largest) < largest) {
        collect_directions(e, Up, &result);
    }
    return result;
}

bool has_opposed_variable(const Expr &e, const Scope<Interval> &vars) {
    if (!is_exact_scalar(e.type())) {
        return false;
    }
    for (const auto &[name, directions] : variable_directions(e)) {
        if (directions == Either && is_usable(vars.find(name), vars)) {
            return true;
        }
    }
    return false;
}

namespace {

/// The bounds of a sum whose opposed variables occur in a min or max and beside it:
///   max(p, q) + rest  =  max(p + rest, q + rest), where terms may cancel,
/// or in what is rounded and beside it:
///   p / k * k + rest  is in  p + rest + [-(k - 1), 0], and, where p is in constants [a, b],
///                     in  rest + [a / k * k, b / k * k].
class CorrelatedBounds {
public:
    CorrelatedBounds(const Scope<Interval> &vars, const FuncValueBounds &funcs)
        : vars_(vars), funcs_(funcs) {
    }

    Interval find(const Expr &e, int depth) const {
        const Expr like = cancel_like_terms(e);
        Interval rounded;
        if (depth > 0 && has_opposed_variable(like, vars_) &&
            split_rounded(like, depth, &rounded)) {
            const Interval other = by_choice(like, depth);
            return {ends::max_or_other(other.min, rounded.min),
                    ends::min_or_other(other.max, rounded.max)};
        }
        return by_choice(like, depth);
    }

private:
    Interval by_choice(const Expr &like, int depth) const {
        Interval split;
        if (depth > 0 && has_opposed_variable(like, vars_) && split_choice(like, depth, &split)) {
            return split;
        }
        return by_monotonic_variables(simplify(like));
    }

    /// True if the ends of all variables that pull e both ways can be put in their places.
    bool moves_with_its_variables(const Expr &e) const {
        for (const auto &[name, directions] : variable_directions(e)) {
            if (directions == Either && is_usable(vars_.find(name), vars_) &&
                is_monotonic(e, name) == Monotonic::Unknown) {
                return false;
            }
        }
        return true;
    }

    /// Give up what rounding says, for what cancels without it.
    bool split_rounded(const Expr &e, int depth, Interval *result) const {
        const LinearForm form(e);
        if (!form.is_valid() || form.terms.size() == 1) {
            return false;
        }
        for (const auto &[term, factor] : form.terms) {
            const Div *div = term.as<Div>();
            const int64_t k = div ? as_const_int(div->b).value_or(0) : 0;
            if (k > 1 && factor != 0 && factor % k == 0 && !moves_with_its_variables(e)) {
                const Expr rest = Sub::make(e, Mul::make(term, make_const(e.type(), factor)));
                *result = of_rounded(div->a, k, factor / k, rest, depth);
                return true;
            }
        }
        return false;
    }

    /// Of p / k * k * scale + rest.
    Interval of_rounded(const Expr &p, int64_t k, int64_t scale, const Expr &rest,
                        int depth) const {
        const ConstantInterval divisor = ConstantInterval::single(k),
                               factor = ConstantInterval::single(scale);
        const Expr exact = Mul::make(p, make_const(p.type(), scale));
        const Interval whole =
            sum(find(Add::make(rest, exact), depth - 1), ConstantInterval::of(1 - k, 0) * factor);
        const Interval beside =
            sum(find(rest, depth - 1), sum_range(p) / divisor * divisor * factor);
        return {ends::max_or_other(whole.min, beside.min),
                ends::min_or_other(whole.max, beside.max)};
    }

    static Interval sum(const Interval &i, const ConstantInterval &c) {
        const auto end = [](const Expr &e, const std::optional<int64_t> &by) {
            return e.defined() && by && fits(ConstantInterval::single(*by), e.type())
                       ? ends::add(e, make_const(e.type(), *by))
                       : Expr();
        };
        return {end(i.min, c.min), end(i.max, c.max)};
    }

    /// Pull a min or max to the outside of a sum.
    bool split_choice(const Expr &e, int depth, Interval *result) const {
        const LinearForm form(e);
        for (const auto &[term, factor] : form.terms) {
            const Min *min = term.as<Min>();
            const Max *max = term.as<Max>();
            const bool is_alone = form.terms.size() == 1 && form.constant == 0;
            if ((!min && !max) || factor == 0 || is_alone || !form.is_valid()) {
                continue;
            }
            const Expr &p = min ? min->a : max->a, &q = min ? min->b : max->b;
            const Expr k = make_const(e.type(), factor);
            const Expr rest = Sub::make(e, Mul::make(term, k));
            const Interval a = find(Add::make(rest, Mul::make(p, k)), depth - 1);
            const Interval b = find(Add::make(rest, Mul::make(q, k)), depth - 1);
            *result = (factor > 0) == (max != nullptr) ? larger(a, b) : smaller(a, b);
            return true;
        }
        return false;
    }

    static Interval larger(const Interval &a, const Interval &b) {
        return {ends::max_or_other(a.min, b.min), ends::max(a.max, b.max)};
    }
    static Interval smaller(const Interval &a, const Interval &b) {
        return {ends::min(a.min, b.min), ends::min_or_other(a.max, b.max)};
    }

    Interval by_monotonic_variables(const Expr &e) const {
        Expr low = e, high = e;
        for (const auto &[name, directions] : variable_directions(e)) {
            const Interval *i = vars_.find(name);
            if (directions != Either || !is_usable(i, vars_)) {
                continue;
            }
            const Monotonic m = is_monotonic(e, name);
            if (m == Monotonic::Unknown) {
                continue;
            }
            // Monotonic for any value of the others, so ends can be put in one variable at a time.
            const bool falls = m == Monotonic::Decreasing;
            low = substitute(name, falls ? i->max : i->min, low);
            high = substitute(name, falls ? i->min : i->max, high);
        }
        if (low.same_as(e) && high.same_as(e)) {
            return bounds_of_expr(e, vars_, funcs_);
        }
        return {bounds_of_expr(simplify(low), vars_, funcs_).min,
                bounds_of_expr(simplify(high), vars_, funcs_).max};
    }

    const Scope<Interval> &vars_;
    const FuncValueBounds &funcs_;
};

}  // namespace

Interval bounds_of_correlated(const Expr &e, const Scope<Interval> &vars,
                              const FuncValueBounds &funcs) {
    if (!has_opposed_variable(e, vars)) {
        return bounds_of_expr(e, vars, funcs);
    }
    return CorrelatedBounds(vars, funcs).find(e, 3);
}

}  // namespace calotype::internal
