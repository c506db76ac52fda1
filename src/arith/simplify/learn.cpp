// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Facts implied by a condition that is known to be true or false: narrower variables, and truths
// about comparisons. Comparisons are kept in the two forms LT and EQ, to which all others are
// reduced.
#include "arith/simplify/simplifier.h"
#include "ir/constants.h"
#include "ir/queries.h"

namespace calotype::internal {

void Simplifier::learn_true(const Expr &condition) {
    learn(condition, true);
}

void Simplifier::learn_false(const Expr &condition) {
    learn(condition, false);
}

void Simplifier::learn(const Expr &condition, bool value) {
    if (is_const(condition) || !condition.type().is_scalar()) {
        return;
    }
    if (const auto *op = condition.as<And>(); op && value) {
        learn(op->a, true);
        learn(op->b, true);
        return;
    }
    if (const auto *op = condition.as<Or>(); op && !value) {
        learn(op->a, false);
        learn(op->b, false);
        return;
    }
    if (const auto *op = condition.as<Not>()) {
        return learn(op->a, !value);
    }
    if (const auto *op = condition.as<LE>()) {
        if (value || !keeps_nan(op->a.type())) {
            learn(LT::make(op->b, op->a), !value);
        }
        return;
    }
    if (const auto *op = condition.as<NE>()) {
        return learn(EQ::make(op->a, op->b), !value);
    }
    const Call *call = condition.as<Call>();
    if (call && call->is_likely()) {
        return learn(call->args[0], value);
    }
    if (const auto *op = condition.as<LT>()) {
        if (value) {
            learn_bounds(op->a, op->b, true);
        } else {
            learn_bounds(op->b, op->a, false);
        }
    }
    if (const auto *op = condition.as<EQ>(); op && value) {
        learn_equal(op->a, op->b);
    }
    // What memory holds may change while the fact is in force.
    if (is_pure(condition)) {
        facts_.learn(condition, value);
    }
}

// a < b if strict, else a <= b.
void Simplifier::learn_bounds(const Expr &a, const Expr &b, bool strict) {
    if (!a.type().is_int_or_uint()) {
        return;
    }
    const ConstRange gap = ConstRange::single(strict ? 1 : 0);
    const ConstRange below = range(b) - gap, above = range(a) + gap;
    if (const auto *v = a.as<Variable>(); v && below.max) {
        facts_.refine(v->name, {ConstRange::at_most(*below.max), {}});
    }
    if (above.min) {
        constexpr int levels = 8;
        learn_at_least(b, *above.min, levels);
    }
}

// Also of what e is made of, through the values of lets: that a loop over the product of two
// extents has an iteration says that neither is 0.
void Simplifier::learn_at_least(const Expr &e, int64_t least, int levels) {
    const auto go_on = [&](const Expr &part, const std::optional<int64_t> &bound) {
        if (bound && levels > 0) {
            learn_at_least(part, *bound, levels - 1);
        }
    };
    if (const auto *v = e.as<Variable>()) {
        facts_.refine(v->name, {ConstRange::at_least(least), {}});
        if (const Expr value = facts_.value_of(v->name); value.defined()) {
            go_on(value, least);
        }
    }
    if (!e.type().is_int() || e.type().bits() < 32) {
        return;
    }
    if (const auto *add = e.as<Add>()) {
        const auto c = as_const_int(add->b);
        go_on(add->a, c ? checked_sub(least, *c) : std::nullopt);
    } else if (const auto *div = e.as<Div>()) {
        const auto c = as_const_int(div->b);
        go_on(div->a, c && *c > 0 ? checked_mul(least, *c) : std::nullopt);
    } else if (const auto *min = e.as<Min>()) {
        go_on(min->a, least);
        go_on(min->b, least);
    } else if (const auto *max = e.as<Max>()) {
        const auto other = range(max->b).max;
        go_on(max->a, other && *other < least ? std::optional(least) : std::nullopt);
    } else if (const auto *mul = e.as<Mul>(); mul && least > 0) {
        learn_not_zero(mul->a);
        learn_not_zero(mul->b);
    }
}

void Simplifier::learn_not_zero(const Expr &e) {
    const Expr zero = binary(NodeKind::EQ, e, make_zero(e.type()));
    if (zero.as<EQ>() && is_pure(zero)) {
        facts_.learn(zero, false);
    }
}

// A zero may be a negative one, which counts where floats may be infinite.
void Simplifier::learn_float(const Expr &e, const Expr &value) {
    const auto *v = e.as<Variable>();
    const auto *c = value.as<FloatImm>();
    if (v && c && (c->value != 0 || finite_floats_)) {
        facts_.replace(v->name, value);
    }
}

void Simplifier::learn_equal(const Expr &a, const Expr &b) {
    if (a.type().is_float()) {
        return learn_float(a, b);
    }
    if (!a.type().is_int_or_uint()) {
        return;
    }
    if (const auto *v = a.as<Variable>()) {
        facts_.refine(v->name, info(b));
    }
    if (const auto *v = b.as<Variable>()) {
        facts_.refine(v->name, info(a));
    }
    const auto *mod = a.as<Mod>();
    const auto *v = mod ? mod->a.as<Variable>() : nullptr;
    const auto modulus = mod ? as_const_int(mod->b) : std::nullopt;
    const auto remainder = as_const_int(b);
    if (v && modulus && remainder && *modulus > 0 && *remainder >= 0 && *remainder < *modulus) {
        facts_.refine(v->name, {ConstRange::everything(), {*modulus, *remainder}});
    }
}

}  // namespace calotype::internal
