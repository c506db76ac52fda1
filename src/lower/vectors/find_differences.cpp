// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/vectors/find_differences.h"

#include "ir/constants.h"
#include "ir/equality.h"
#include "ir/mutator.h"
#include "ir/operators.h"

namespace calotype::internal {

namespace {

/// Whether e is `narrow`, or that in a type which has all its values.
bool is_or_widens(const Expr &e, const Expr &narrow) {
    if (equal(e, narrow)) {
        return true;
    }
    if (const auto value = as_const_int(narrow)) {
        return is_const(e, *value);
    }
    const Cast *cast = e.as<Cast>();
    return cast && e.type().can_represent(narrow.type()) && equal(cast->value, narrow);
}

/// Whether e is a - b of these.
bool is_difference(const Expr &e, const Expr &a, const Expr &b) {
    const Sub *sub = e.as<Sub>();
    return sub && equal(sub->a, a) && equal(sub->b, b);
}

bool is_negative_of(const Expr &e, const Expr &a) {
    const Sub *sub = e.as<Sub>();
    const Mul *mul = e.as<Mul>();
    return (sub && is_const_zero(sub->a) && equal(sub->b, a)) ||
           (mul && is_const(mul->b, -1) && equal(mul->a, a));
}

Expr magnitude(const Expr &e) {
    const Type t = e.type();
    return cast(t, Call::make(t.is_int() ? t.with_code(Type::UInt) : t, Intrinsic::abs, {e}));
}

/// |a - b|; that of integers may wrap, unless they are of a wider type than `compared`.
Expr distance(const Sub *difference, Type compared) {
    const Type t = difference->type;
    const bool wraps = t.is_uint() || (t.is_int() && t.bits() < 32 && t.bits() == compared.bits());
    return wraps ? cast(t, Call::make(t.with_code(Type::UInt), Intrinsic::absd,
                                      {difference->a, difference->b}))
                 : magnitude(Expr(difference));
}

/// select(low < high, if_less, otherwise) as a magnitude; undefined if it is none.
Expr as_magnitude(const LT *less, const Expr &if_less, const Expr &otherwise) {
    const Sub *difference = otherwise.as<Sub>();
    if (difference && is_difference(if_less, difference->b, difference->a) &&
        is_or_widens(difference->a, less->a) && is_or_widens(difference->b, less->b)) {
        return distance(difference, less->a.type());
    }
    if (!otherwise.type().is_int()) {
        return Expr();  // of floats zero has a sign
    }
    if (is_const_zero(less->b) && is_or_widens(otherwise, less->a) &&
        is_negative_of(if_less, otherwise)) {
        return magnitude(otherwise);
    }
    if (is_const_zero(less->a) && is_or_widens(if_less, less->b) &&
        is_negative_of(otherwise, if_less)) {
        return magnitude(if_less);
    }
    return Expr();
}

class DifferenceFinder : public GraphMutator {
    using GraphMutator::visit;

    Expr visit(const Select *op) override {
        const LT *less = op->condition.as<LT>();
        if (op->type.is_vector() && less) {
            Expr size = as_magnitude(less, op->true_value, op->false_value);
            if (size.defined()) {
                return mutate(size);
            }
        }
        return GraphMutator::visit(op);
    }
};

}  // namespace

Stmt find_differences(const Stmt &s, LowerContext &) {
    return DifferenceFinder().mutate(s);
}

}  // namespace calotype::internal
