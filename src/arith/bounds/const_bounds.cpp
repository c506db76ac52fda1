// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "arith/const_bounds.h"

#include "arith/bounds.h"
#include "arith/bounds/correlated_differences.h"
#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/equality.h"
#include "ir/queries.h"

namespace calotype::internal {

namespace {

/// The constant range of one end of an interval: from its symbolic form, once differences have
/// cancelled there.
ConstantInterval constants_of(const Expr &e, const Scope<Interval> &vars) {
    ConstantInterval result = intersection(constant_bounds(e, vars), constant_range(e));
    // Substituting the ends of variables may let terms cancel that no constant tells apart.
    const Interval symbolic = simplify(bounds_of_correlated(e, vars));
    if (symbolic.has_lower_bound()) {
        result.min = intersection(result, {constant_range(symbolic.min).min, std::nullopt}).min;
    }
    if (symbolic.has_upper_bound()) {
        result.max = intersection(result, {std::nullopt, constant_range(symbolic.max).max}).max;
    }
    return result;
}

}  // namespace

ConstantInterval find_constant_bounds(const Expr &e, const Scope<Interval> &vars) {
    if (!e.type().is_int_or_uint()) {
        return ConstantInterval::everything();
    }
    const Expr simple = simplify(e);
    if (const auto x = as_const_int(simple)) {
        return ConstantInterval::single(*x);
    }
    ConstantInterval result = constants_of(simple, vars);
    if (contains_kind(simple, NodeKind::Let)) {
        const Expr flat = simplify(substitute_in_all_lets(simple));
        result = intersection(result, constants_of(flat, vars));
    }
    return result.is_empty() ? ConstantInterval::of_type(e.type()) : result;
}

Expr find_constant_bound(const Expr &e, Direction d, const Scope<Interval> &vars) {
    const Type t = e.type().element_of();
    if (!t.is_int_or_uint()) {
        const Interval i = bounds_of_expr(e, vars, {}, true);
        const Expr end = d == Direction::Lower ? i.min : i.max;
        return end.defined() && is_const(simplify(end)) ? simplify(end) : Expr();
    }
    const ConstantInterval r = find_constant_bounds(e, vars);
    const auto end = d == Direction::Lower ? r.min : r.max;
    if (!end || !t.can_represent(*end)) {
        return Expr();
    }
    // The limits of int32 and int64 say nothing: values there are taken not to occur.
    const bool says_nothing =
        !t.can_overflow() && (t.is_min(*end) || t.is_max(*end)) && !is_const(simplify(e));
    return says_nothing ? Expr() : make_const(t, *end);
}

ConstantRanges narrowed_by(const Expr &condition, ConstantRanges vars) {
    Scope<Interval> ranges;
    for (const auto &[name, range] : vars) {
        ranges.push(name, make_interval(range, Int(32)));
    }
    for (const auto &[name, range] : narrow_by_condition(simplify(condition), ranges)) {
        vars[name] = intersection(vars[name], as_constant_interval(range));
    }
    return vars;
}

}  // namespace calotype::internal
