// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How bounds are found. Each node gives two answers from those of its operands: symbolic ends, such
// as [x.min + 3, n], and a constant range, such as [3, 255]. The range is exact arithmetic over 64
// bits and therefore knows when an operation may leave its type: then narrow types wrap, and the
// ends would be wrong, so that the result is all of the type. Where nothing wraps, the ends follow
// by the usual interval rules; a missing end is filled in from the range.
//
// An expression whose operands are all "points" (one node as both ends: it does not depend on
// anything that varies) is a point itself, whatever its operator, which keeps uniform values exact.
//
// Ends share subexpressions. EndNames gives large ones a name, so that even 2^n paths through n
// nodes make ends that are linear in n.
#include "arith/bounds.h"

#include <set>
#include <utility>

#include "arith/bounds/bounds_engine.h"
#include "arith/bounds/ends.h"
#include "ir/constants.h"
#include "ir/equality.h"
#include "ir/queries.h"
#include "ir/walk/field_walk.h"

namespace calotype::internal {

namespace {

/// The union of two intervals, but one of them alone where a condition, whose least and largest
/// value are those of `holds`, is always true, or never.
Interval union_of_chosen(const Interval &holds, const Interval &a, const Interval &b) {
    if (!holds.is_bounded()) {
        return Interval::make_union(a, b);
    }
    const auto chosen = [&](const Expr &x, const Expr &y) {
        return std::pair(ends::select(holds.min, x, y), ends::select(holds.max, x, y));
    };
    const auto [min_if_all, min_if_any] = chosen(a.min, b.min);
    const auto [max_if_all, max_if_any] = chosen(a.max, b.max);
    return {ends::min(min_if_all, min_if_any), ends::max(max_if_all, max_if_any)};
}

/// A larger end gets a name. Ends of real index expressions stay below.
constexpr int largest_end = 96;

}  // namespace

Expr EndNames::keep_small(const Expr &e) {
    if (!e.defined() || ends::tree_size(e, largest_end) < largest_end) {
        return e;
    }
    // Named by content: where such a Let ends up inside another one, equal names mean equal values.
    std::string name = "end$" + std::to_string(hash(e));
    for (;; name += '$') {
        const auto [it, is_new] = index_.emplace(name, definitions_.size());
        if (is_new) {
            definitions_.emplace_back(name, e);
        } else if (!equal(definitions_[it->second].second, e)) {
            continue;  // another one of that hash
        }
        return Variable::make(e.type(), name);
    }
}

Interval EndNames::keep_small(const Interval &i) {
    if (i.is_empty()) {
        return i;
    }
    if (i.is_single_point()) {
        return Interval::single_point(keep_small(i.min));
    }
    return {keep_small(i.min), keep_small(i.max)};
}

Expr EndNames::wrap(const Expr &e) const {
    if (!e.defined() || definitions_.empty()) {
        return e;
    }
    std::vector<bool> needed(definitions_.size(), false);
    const auto note_names_of = [&](const Expr &part) {
        for (const std::string &name : free_variables(part)) {
            if (auto it = index_.find(name); it != index_.end()) {
                needed[it->second] = true;
            }
        }
    };
    note_names_of(e);
    Expr result = e;
    // A definition uses earlier names alone, so by the time we reach one, we know whether it is
    // needed.
    for (size_t i = definitions_.size(); i-- > 0;) {
        if (needed[i]) {
            note_names_of(definitions_[i].second);
            result = Let::make(definitions_[i].first, definitions_[i].second, result);
        }
    }
    return result;
}

Interval EndNames::wrap(const Interval &i) const {
    if (i.is_empty()) {
        return i;
    }
    if (i.is_single_point()) {
        return Interval::single_point(wrap(i.min));
    }
    return {wrap(i.min), wrap(i.max)};
}

BoundsEngine::BoundsEngine(const Scope<Interval> &vars, const FuncValueBounds &funcs,
                           bool const_bound, EndNames &names)
    : vars_(vars), funcs_(funcs), const_bound_(const_bound), names_(names) {
}

Bounded BoundsEngine::bounds(const Expr &e) {
    internal_assert(e.defined()) << "bounds of an undefined expression";
    if (auto it = memo_.find(e.get()); it != memo_.end()) {
        return it->second.bounded;
    }
    Bounded result = finish(compute(e), e.type().element_of());
    memo_.emplace(e.get(), Known{e, result});
    return result;
}

Bounded BoundsEngine::compute(const Expr &e) {
    return dispatch(e.get(), [this](const auto *op) { return visit(op); });
}

ConstantInterval BoundsEngine::fit(const ConstantInterval &r, Type t) {
    if (!t.is_int_or_uint()) {
        return ConstantInterval::everything();
    }
    if (t.can_overflow()) {
        return fit_type(r, t);
    }
    ConstantInterval result = r;
    if (r.min && *r.min <= t.imin()) {
        result.min.reset();
    }
    if (r.max && *r.max >= t.imax()) {
        result.max.reset();
    }
    // Beyond the type, or empty: where such code is, it does not run.
    const bool impossible =
        result.is_empty() || (r.min && *r.min > t.imax()) || (r.max && *r.max < t.imin());
    return impossible ? ConstantInterval::everything() : result;
}

Bounded BoundsEngine::of_type(Type t) const {
    t = t.element_of();
    return {bounds_of_type(t), fit(ConstantInterval::of_type(t), t)};
}

Bounded BoundsEngine::of_range(const ConstantInterval &r, Type t) const {
    return {Interval::everything(), fit(r, t.element_of())};
}

Bounded BoundsEngine::of_point(const Expr &e, const ConstantInterval &r) const {
    return {Interval::single_point(e), r};
}

Bounded BoundsEngine::of_interval(const Interval &i, Type t) {
    Bounded result = of_type(t);
    if (i.is_empty()) {
        return result;
    }
    result.ends = i;
    if (!t.is_int_or_uint()) {
        return result;
    }
    // The constant range of the ends: they contain none of the variables that vary.
    const Scope<Interval> nothing_varies;
    EndNames no_names;
    BoundsEngine constants(nothing_varies, funcs_, true, no_names);
    ConstantInterval r = ConstantInterval::everything();
    if (i.min.defined()) {
        r.min = constants.bounds(i.min).range.min;
    }
    if (i.max.defined()) {
        r.max = constants.bounds(i.max).range.max;
    }
    result.range = within(result.range, r);
    return result;
}

Bounded BoundsEngine::finish(Bounded b, Type t) {
    if (!t.is_int_or_uint()) {
        b.ends = names_.keep_small(b.ends);
        return b;
    }
    b.range = fit(b.range, t);
    if (b.range.is_empty()) {
        b.range = of_type(t).range;
    }
    const Interval constants = make_interval(b.range, t);
    if (const_bound_) {
        b.ends = constants;
    } else if (b.range.is_single()) {
        b.ends = Interval::single_point(make_const(t, *b.range.min));
    } else if (!b.is_point()) {
        if (!b.ends.min.defined() || is_const(b.ends.min)) {
            b.ends.min = ends::max_or_other(b.ends.min, constants.min);
        }
        if (!b.ends.max.defined() || is_const(b.ends.max)) {
            b.ends.max = ends::min_or_other(b.ends.max, constants.max);
        }
        if (t.is_uint() && !b.ends.max.defined()) {
            b.ends.max = make_const(t, t.umax());
        }
    }
    b.ends = names_.keep_small(b.ends);
    return b;
}

Bounded BoundsEngine::make_union(const Bounded &a, const Bounded &b, Type) const {
    return {internal::make_union(a.ends, b.ends), union_of(a.range, b.range)};
}

Bounded BoundsEngine::visit(const IntImm *op) {
    return of_point(op, ConstantInterval::single(op->value));
}

Bounded BoundsEngine::visit(const UIntImm *op) {
    const bool fits_int64 = op->value <= uint64_t(INT64_MAX);
    return of_point(op, fits_int64 ? ConstantInterval::single(int64_t(op->value))
                                   : of_type(op->type).range);
}

Bounded BoundsEngine::visit(const FloatImm *op) {
    return of_point(op, ConstantInterval::everything());
}

Bounded BoundsEngine::visit(const StringImm *op) {
    return of_point(op, ConstantInterval::everything());
}

Bounded BoundsEngine::visit(const Broadcast *op) {
    return bounds(op->value);
}

Bounded BoundsEngine::visit(const Cast *op) {
    return cast(bounds(op->value), op->value.type().element_of(), op->type.element_of());
}

Bounded BoundsEngine::visit(const Reinterpret *op) {
    const bool lane_by_lane = op->type.lanes() == op->value.type().lanes();
    const Bounded value = bounds(op->value);
    if (!lane_by_lane || !value.is_point()) {
        return of_type(op->type);
    }
    const Type t = op->type.element_of();
    return of_point(Reinterpret::make(t, value.ends.min), of_type(t).range);
}

Bounded BoundsEngine::visit(const Variable *op) {
    if (const Bounded *let = lets_.find(op->name)) {
        return *let;
    }
    if (const Interval *i = vars_.find(op->name)) {
        return of_interval(*i, op->type.element_of());
    }
    if (const_bound_ || op->type.is_vector()) {
        return of_type(op->type);
    }
    return of_point(op, of_type(op->type).range);
}

Bounded BoundsEngine::visit(const Load *op) {
    // What is in memory may change before the place where the bounds are used.
    return of_type(op->type);
}

Bounded BoundsEngine::visit(const Ramp *op) {
    const Type t = op->type.element_of();
    if (!t.is_int_or_uint()) {
        const Expr last = make_const(t, int64_t(op->lanes - 1));
        const Bounded offset = mul(bounds(op->stride), {Interval(make_zero(t), last), {}}, t);
        return add(bounds(op->base), offset, t);
    }
    // Lane numbers that t cannot count wrap around, and so does what is made of them.
    const ConstantInterval numbers = ConstantInterval::of(0, op->lanes - 1);
    if (!fits(numbers, t)) {
        return of_type(t);
    }
    const Bounded lanes = {make_interval(numbers, t), numbers};
    const Bounded offset = finish(mul(bounds(op->stride), lanes, t), t);
    return add(bounds(op->base), offset, t);
}

Bounded BoundsEngine::visit(const Let *op) {
    const Bounded value = bounds(op->value);
    // Inside, the name means something else than outside: what was found outside does not count.
    Memo outside;
    std::swap(outside, memo_);
    Bounded result;
    {
        const ScopedBinding<Bounded> bind(lets_, op->name, value);
        result = bounds(op->body);
    }
    std::swap(outside, memo_);
    return result;
}

Bounded BoundsEngine::visit(const Shuffle *op) {
    Bounded result = bounds(op->vectors[0]);
    for (size_t i = 1; i < op->vectors.size(); i++) {
        result = make_union(result, bounds(op->vectors[i]), op->type);
    }
    return result;
}

Bounded BoundsEngine::visit(const VectorReduce *op) {
    const Type t = op->type.element_of();
    const Bounded value = bounds(op->value);
    const int count = op->value.type().lanes() / op->type.lanes();
    if (count == 1) {
        return value;
    }
    switch (op->op) {
    case VectorReduce::Add: {
        if (t.is_bool()) {
            return of_type(t);
        }
        const ConstantInterval n = ConstantInterval::single(count);
        const Expr factor = t.is_float() || fits(n, t) ? make_const(t, int64_t(count)) : Expr();
        const Interval ends(ends::mul(value.ends.min, factor), ends::mul(value.ends.max, factor));
        return arithmetic(value.range * n, t.is_float() ? Interval::everything() : ends, t);
    }
    case VectorReduce::Min:
    case VectorReduce::Max:
    case VectorReduce::And:
    case VectorReduce::Or:
        return value;
    case VectorReduce::Mul:
    case VectorReduce::SaturatingAdd:
        break;
    }
    return of_type(t);
}

Bounded BoundsEngine::visit(const Select *op) {
    return choice(op->condition, op->true_value, op->false_value);
}

/// The bounds of a value that is a where the condition holds (in that lane), else b.
Bounded BoundsEngine::choice(const Expr &condition, const Expr &a, const Expr &b) {
    const Bounded c = bounds(condition);
    if (c.range.is_single()) {
        return bounds(*c.range.min ? a : b);
    }
    const Type t = a.type().element_of();
    if (c.is_point()) {
        const Bounded x = bounds(a), y = bounds(b);
        const Expr &which = c.ends.min;
        if (x.is_point() && y.is_point()) {
            return of_point(ends::select(which, x.ends.min, y.ends.min),
                            union_of(x.range, y.range));
        }
        return {Interval(ends::select(which, x.ends.min, y.ends.min),
                         ends::select(which, x.ends.max, y.ends.max)),
                union_of(x.range, y.range)};
    }
    const Bounded x = under_condition(condition, a);
    const Bounded y = under_condition(Not::make(condition), b);
    if (one_side_moves(condition, x.ends, y.ends)) {
        return {union_of_chosen(c.ends, x.ends, y.ends), union_of(x.range, y.range)};
    }
    return make_union(x, y, t);
}

/// Whether the ends of one of two intervals follow the variables of a condition that have several
/// values, and those of the other do not, as where an image is mirrored: inside of it is where the
/// values are, and beyond is anywhere in it.
bool BoundsEngine::one_side_moves(const Expr &condition, const Interval &a,
                                  const Interval &b) const {
    if (const_bound_ || !a.is_bounded() || !b.is_bounded()) {
        return false;
    }
    std::set<std::string> moving;
    for (const std::string &name : free_variables(condition)) {
        const Bounded *let = lets_.find(name);
        const Interval *var = let ? &let->ends : vars_.find(name);
        if (var && var->is_bounded() && !var->is_single_point()) {
            for (const Expr &end : {var->min, var->max}) {
                const std::vector<std::string> names = free_variables(names_.wrap(end));
                moving.insert(names.begin(), names.end());
            }
        }
    }
    const auto moves = [&](const Interval &i) {
        return uses_any_var(names_.wrap(i.min), moving);
    };
    return !moving.empty() && moves(a) != moves(b);
}

/// The variables that have less values where the condition holds, as far as is known, and which.
BoundsEngine::Narrowed BoundsEngine::narrowed_by(const Expr &condition) const {
    Scope<Interval> mentioned;
    bool any = false;
    for (const std::string &name : free_variables(condition)) {
        const Bounded *let = lets_.find(name);
        const Interval *var = let ? &let->ends : vars_.find(name);
        if (var) {
            mentioned.push(name, *var);
            any = any || !var->is_single_point();
        }
    }
    return any ? narrow_by_condition(condition, mentioned, funcs_) : Narrowed();
}

/// The bounds that e has where the condition holds, beside those of the branches around it.
Bounded BoundsEngine::under_condition(const Expr &condition, const Expr &e) {
    int &left = inside_narrowed_ ? inner_narrowings_left_ : narrowings_left_;
    if (left == 0 || !condition.type().is_scalar() || is_const(e) ||
        ends::tree_size(condition, 64) >= 64) {
        return bounds(e);
    }
    const Narrowed narrowed = narrowed_by(condition);
    if (narrowed.empty()) {
        return bounds(e);
    }
    left--;
    const bool is_outermost = !std::exchange(inside_narrowed_, true);
    Memo outside;
    std::swap(outside, memo_);
    for (const auto &[name, interval] : narrowed) {
        const Expr &end = interval.min.defined() ? interval.min : interval.max;
        lets_.push(name, of_interval(interval, end.type()));
    }
    const Bounded result = bounds(e);
    for (const auto &entry : narrowed) {
        lets_.pop(entry.first);
    }
    std::swap(outside, memo_);
    inside_narrowed_ = !is_outermost;
    return result;
}

Interval bounds_of_type(Type t) {
    t = t.element_of();
    const bool has_constant_ends = t.is_uint() || (t.is_int() && t.bits() <= 16);
    return has_constant_ends ? Interval(t.min(), t.max()) : Interval::everything();
}

Interval bounds_of_expr(const Expr &e, const Scope<Interval> &vars, const FuncValueBounds &funcs,
                        bool const_bound) {
    EndNames names;
    BoundsEngine engine(vars, funcs, const_bound, names);
    return names.wrap(engine.bounds(e).ends);
}

ConstantInterval constant_bounds(const Expr &e, const Scope<Interval> &vars) {
    if (!e.type().is_int_or_uint()) {
        return ConstantInterval::everything();
    }
    EndNames names;
    const FuncValueBounds no_funcs;
    BoundsEngine engine(vars, no_funcs, true, names);
    return engine.bounds(e).range;
}

}  // namespace calotype::internal
