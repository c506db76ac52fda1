// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bounds and alignment of expressions under the facts in force, and the decisions of comparisons,
// min, max, / and % that follow from them.

#include "arith/constant_interval.h"
#include "arith/difference_range.h"
#include "arith/simplify/const_range.h"
#include "arith/simplify/fold.h"
#include "arith/simplify/simplifier.h"
#include "ir/constants.h"
#include "ir/equality.h"
#include "ir/queries.h"

namespace calotype::internal {

namespace {

// A name that is bound to a sum has the sum's range, which may be outside the type.
IntegerInfo info_of_variable(const IntegerInfo *known, Type t) {
    const ConstRange whole = ConstRange::of_type(t);
    if (!known || t.can_overflow()) {
        return known ? IntegerInfo{intersection(known->range, whole), known->alignment}
                     : IntegerInfo{whole, {}};
    }
    return {{known->range.min ? known->range.min : whole.min,
             known->range.max ? known->range.max : whole.max},
            known->alignment};
}

}  // namespace

IntegerInfo Simplifier::info(const Expr &e) {
    const IntegerInfo unbounded = unbounded_info(e);
    return may_leave_type(e) && e.type().is_int() ? fitted_to(unbounded, e.type()) : unbounded;
}

IntegerInfo Simplifier::unbounded_info(const Expr &e) {
    if (!e.type().is_int_or_uint()) {
        return {};
    }
    if (const Variable *v = e.as<Variable>()) {
        return info_of_variable(facts_.info_of(v->name), v->type);
    }
    const InfoOf of_operand = [this](const Expr &operand) {
        return unbounded_info(operand);
    };
    if (is_const(e)) {
        return unbounded_info_of_operation(e, of_operand);
    }
    if (const IntegerInfo *known = facts_.find_info(e.get())) {
        return *known;
    }
    const Let *let = e.as<Let>();
    const IntegerInfo result = let ? info_of_let(let) : unbounded_info_of_operation(e, of_operand);
    facts_.remember_info(e.get(), result);
    return result;
}

IntegerInfo Simplifier::info_of_let(const Let *op) {
    const IntegerInfo value = unbounded_info(op->value);
    const Facts::Layer layer(facts_);
    facts_.bind(op->name, value);
    return unbounded_info(op->body);
}

Expr Simplifier::less_by_ranges(const Expr &a, const Expr &b) {
    if (!a.type().is_int_or_uint()) {
        return Expr();
    }
    const ConstRange x = range(a), y = range(b);
    if (always_less(x, y)) {
        return const_true(a.type().lanes());
    }
    if (always_less_equal(y, x)) {
        return const_false(a.type().lanes());
    }
    const ConstRange difference = difference_range(a, b);
    if (is_negative(difference)) {
        return const_true(a.type().lanes());
    }
    return is_non_negative(difference) ? const_false(a.type().lanes()) : Expr();
}

Expr Simplifier::equal_by_ranges(const Expr &a, const Expr &b) {
    if (!a.type().is_int_or_uint() || a.type().is_bool()) {
        return Expr();
    }
    const IntegerInfo x = info(a), y = info(b);
    if (always_less(x.range, y.range) || always_less(y.range, x.range)) {
        return const_false(a.type().lanes());
    }
    // x - y would have to be a multiple of the common modulus.
    const Alignment difference = x.alignment - y.alignment;
    if (difference.modulus > 1 && difference.remainder != 0) {
        return const_false(a.type().lanes());
    }
    return Expr();
}

namespace {

// The operands of nested minima (maxima).
template<typename T>
void flatten_extremum(const Expr &e, std::vector<Expr> *operands) {
    if (const auto *op = e.as<T>()) {
        flatten_extremum<T>(op->a, operands);
        flatten_extremum<T>(op->b, operands);
    } else {
        operands->push_back(e);
    }
}

std::vector<Expr> operands_of(NodeKind op, const Expr &e) {
    std::vector<Expr> operands;
    if (op == NodeKind::Min) {
        flatten_extremum<Min>(e, &operands);
    } else {
        flatten_extremum<Max>(e, &operands);
    }
    return operands;
}

}  // namespace

// min(min(x, y), z) where z is a constant away from x, once lets are looked into: one of the two
// goes.
Expr Simplifier::drop_dominated(NodeKind op, const Expr &a, const Expr &b) {
    constexpr size_t max_pairs = 64;
    std::vector<Expr> x = operands_of(op, a), y = operands_of(op, b);
    if (x.size() * y.size() > max_pairs) {
        return Expr();
    }
    for (size_t i = 0; i < x.size(); i++) {
        for (size_t j = 0; j < y.size(); j++) {
            const auto difference = difference_by_lets(x[i], y[j]);
            if (!difference) {
                continue;
            }
            const bool keep_x = (*difference <= 0) == (op == NodeKind::Min);
            if (keep_x) {
                y.erase(y.begin() + long(j));
            } else {
                x.erase(x.begin() + long(i));
            }
            x.insert(x.end(), y.begin(), y.end());
            Expr result = x[0];
            for (size_t k = 1; k < x.size(); k++) {
                result = binary(op, result, x[k]);
            }
            return result;
        }
    }
    return Expr();
}

namespace {

// The other operand of a minimum (maximum) that has this one.
Expr other_operand(NodeKind op, const Expr &extremum, const Expr &operand) {
    if (extremum.kind() != op) {
        return Expr();
    }
    const Min *min = extremum.as<Min>();
    const Max *max = extremum.as<Max>();
    const Expr &first = min ? min->a : max->a, &second = min ? min->b : max->b;
    return equal(second, operand) ? first : equal(first, operand) ? second : Expr();
}

}  // namespace

// min(min(x, y), x) is min(y, x), and min(x, min(x, y)) is min(x, y), also where one of them is NaN.
Expr Simplifier::extremum_of_repeated(NodeKind op, const Expr &a, const Expr &b) {
    if (const Expr other = other_operand(op, a, b); other.defined() && !has_effects(b)) {
        return binary(op, other, b);
    }
    return other_operand(op, b, a).defined() && !has_effects(a) ? b : Expr();
}

Expr Simplifier::extremum_by_ranges(NodeKind op, const Expr &a, const Expr &b) {
    if (!a.type().is_int_or_uint()) {
        return keeps_nan(a.type()) ? extremum_of_repeated(op, a, b) : Expr();
    }
    const ConstRange x = range(a), y = range(b);
    bool a_is_less = always_less_equal(x, y), b_is_less = always_less_equal(y, x);
    if (!a_is_less && !b_is_less && facts_.has_truths()) {
        const int less = facts_.truth_of(LT::make(a, b)), greater = facts_.truth_of(LT::make(b, a));
        a_is_less = less == 1 || greater == 0;
        b_is_less = greater == 1 || less == 0;
    }
    if (!a_is_less && !b_is_less) {
        const ConstRange difference = difference_range(a, b);
        a_is_less = is_non_positive(difference);
        b_is_less = is_non_negative(difference);
    }
    if (!a_is_less && !b_is_less) {
        const auto difference = difference_by_lets(a, b);
        a_is_less = difference && *difference <= 0;
        b_is_less = difference && *difference > 0;
    }
    if (a_is_less) {
        return op == NodeKind::Min ? a : b;
    }
    if (b_is_less) {
        return op == NodeKind::Min ? b : a;
    }
    return a.kind() == op || b.kind() == op ? drop_dominated(op, a, b) : Expr();
}

Expr Simplifier::div_by_ranges(const Expr &a, const Expr &b) {
    const Type t = a.type();
    if (!t.is_int_or_uint()) {
        return Expr();
    }
    const ConstRange x = range(a), y = range(b);
    const ConstRange quotient = x / y;
    if (quotient.is_single() && ConstRange::of_type(t).contains(quotient)) {
        return make_const(t, *quotient.min);
    }
    return Expr();
}

Expr Simplifier::mod_by_ranges(const Expr &a, const Expr &b) {
    const Type t = a.type();
    if (!t.is_int_or_uint()) {
        return Expr();
    }
    const IntegerInfo x = info(a);
    const ConstRange y = range(b);
    if (x.range.min && *x.range.min >= 0 && always_less(x.range, y)) {
        return a;
    }
    if (y.is_single() && *y.min != 0 && x.alignment.modulus % *y.min == 0) {
        return make_const(t, euclidean_mod(x.alignment.remainder, *y.min));
    }
    return Expr();
}

}  // namespace calotype::internal
