// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "arith/order.h"

#include "arith/constant_interval.h"
#include "arith/exact_types.h"
#include "ir/constants.h"
#include "ir/equality.h"
#include "ir/expr_nodes.h"

namespace calotype::internal {

namespace {

/// e as base + constant; an undefined base is zero.
struct Shifted {
    Expr base;
    int64_t constant = 0;
};

Shifted split_constant(const Expr &e) {
    if (const auto x = as_const_int(e)) {
        return {Expr(), *x};
    }
    const Add *add = e.as<Add>();
    const Sub *sub = e.as<Sub>();
    const auto x = add ? as_const_int(add->b) : sub ? as_const_int(sub->b) : std::nullopt;
    if (!x) {
        return {e, 0};
    }
    Shifted inner = split_constant(add ? add->a : sub->a);
    const auto sum = add ? checked_add(inner.constant, *x) : checked_sub(inner.constant, *x);
    return sum ? Shifted{inner.base, *sum} : Shifted{e, 0};
}

class OrderProof {
public:
    /// a <= b + c.
    bool holds(const Expr &a, const Expr &b, int64_t c) {
        if (--budget_ < 0) {
            return false;
        }
        const Shifted x = split_constant(a), y = split_constant(b);
        const auto sum = checked_add(c, y.constant);
        const auto rest = sum ? checked_sub(*sum, x.constant) : std::nullopt;
        return rest && (!x.base.defined() && !y.base.defined() ? *rest >= 0
                        : x.base.defined() && y.base.defined() ? bases(x.base, y.base, *rest)
                        : x.base.defined()                     ? of_constant_above(x.base, *rest)
                                                               : of_constant_below(y.base, *rest));
    }

private:
    /// a <= c.
    bool of_constant_above(const Expr &a, int64_t c) {
        const Expr b = make_zero(a.type());
        if (const Min *op = a.as<Min>()) {
            return holds(op->a, b, c) || holds(op->b, b, c);
        }
        if (const Max *op = a.as<Max>()) {
            return holds(op->a, b, c) && holds(op->b, b, c);
        }
        return false;
    }

    /// 0 <= b + c.
    bool of_constant_below(const Expr &b, int64_t c) {
        const Expr a = make_zero(b.type());
        if (const Min *op = b.as<Min>()) {
            return holds(a, op->a, c) && holds(a, op->b, c);
        }
        if (const Max *op = b.as<Max>()) {
            return holds(a, op->a, c) || holds(a, op->b, c);
        }
        return false;
    }

    bool bases(const Expr &a, const Expr &b, int64_t c) {
        if (c >= 0 && (a.same_as(b) || equal(a, b))) {
            return true;
        }
        // The parts that must all be in order come first, then those of which one is enough.
        if (const Max *op = a.as<Max>()) {
            return holds(op->a, b, c) && holds(op->b, b, c);
        }
        if (const Min *op = b.as<Min>()) {
            return holds(a, op->a, c) && holds(a, op->b, c);
        }
        if (const Max *op = b.as<Max>(); op && (holds(a, op->a, c) || holds(a, op->b, c))) {
            return true;
        }
        if (const Min *op = a.as<Min>(); op && (holds(op->a, b, c) || holds(op->b, b, c))) {
            return true;
        }
        return alike(a, b, c);
    }

    /// Two sums, products or quotients with a part in common.
    bool alike(const Expr &a, const Expr &b, int64_t c) {
        if (const Add *x = a.as<Add>(), *y = b.as<Add>(); x && y) {
            return (equal(x->b, y->b) && holds(x->a, y->a, c)) ||
                   (equal(x->a, y->a) && holds(x->b, y->b, c)) ||
                   (equal(x->a, y->b) && holds(x->b, y->a, c)) ||
                   (equal(x->b, y->a) && holds(x->a, y->b, c));
        }
        if (const Sub *x = a.as<Sub>(), *y = b.as<Sub>(); x && y) {
            return (equal(x->b, y->b) && holds(x->a, y->a, c)) ||
                   (equal(x->a, y->a) && holds(y->b, x->b, c));
        }
        if (const Mul *x = a.as<Mul>(), *y = b.as<Mul>(); x && y && equal(x->b, y->b)) {
            const auto k = as_const_int(x->b);
            return k && *k > 0 && holds(x->a, y->a, euclidean_div(c, *k));
        }
        if (const Div *x = a.as<Div>(), *y = b.as<Div>(); x && y && equal(x->b, y->b)) {
            const auto k = as_const_int(x->b);
            const auto scaled = k && *k > 0 ? checked_mul(c, *k) : std::nullopt;
            return scaled && holds(x->a, y->a, *scaled);
        }
        return false;
    }

    int budget_ = 300;
};

}  // namespace

bool known_less_equal(const Expr &a, const Expr &b) {
    if (a.same_as(b)) {
        return true;
    }
    const Type t = a.type();
    return is_exact_int(t) && t == b.type() ? OrderProof().holds(a, b, 0) : equal(a, b);
}

}  // namespace calotype::internal
