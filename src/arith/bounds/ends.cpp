// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "arith/bounds/ends.h"

#include <cmath>
#include <cstdlib>

#include "arith/constant_interval.h"
#include "ir/constants.h"
#include "ir/expr_nodes.h"
#include "ir/walk/field_walk.h"

namespace calotype::internal::ends {

namespace {

/// The constant of type t with the exact value x, or missing if t cannot hold it.
Expr integer(Type t, std::optional<int64_t> x) {
    return x && t.can_represent(*x) ? make_const(t, *x) : Expr();
}

Expr floating(Type t, double x) {
    return std::isnan(x) ? Expr() : make_const(t, x);
}

/// Folds two integer constants with `exact`, two float constants with `rounded`. False if they are
/// not constants.
template<typename Exact, typename Rounded>
bool fold(const Expr &a, const Expr &b, Exact exact, Rounded rounded, Expr *result) {
    const Type t = a.type();
    if (t.is_float()) {
        const auto x = as_const_float(a), y = as_const_float(b);
        if (x && y) {
            *result = floating(t, rounded(*x, *y));
        }
        return x && y;
    }
    const auto x = as_const_int(a), y = as_const_int(b);
    if (x && y) {
        *result = integer(t, exact(*x, *y));
    }
    return x && y;
}

/// What all lanes share, as a vector where the other one is.
Expr in_lanes_of(const Expr &other, const Expr &e) {
    const int lanes = other.type().lanes();
    return e.type().is_scalar() && lanes > 1 ? Broadcast::make(e, lanes) : e;
}

bool both(const Expr &a, const Expr &b) {
    return a.defined() && b.defined();
}

/// True for a constant of that value, of any numeric type.
bool is(const Expr &e, int value) {
    if (const auto f = as_const_float(e)) {
        return *f == value && !std::signbit(*f);
    }
    return is_const(e, value);
}

/// True if x is inside of the range that conversion from float to t is defined for.
bool truncation_fits(double x, Type t) {
    const double limit = std::ldexp(1.0, t.bits() - (t.is_int() ? 1 : 0));
    const double truncated = std::trunc(x);
    return truncated < limit && truncated >= (t.is_int() ? -limit : 0.0);
}

}  // namespace

Expr add(const Expr &a, const Expr &b) {
    Expr result;
    if (!both(a, b) || fold(
                           a, b, checked_add, [](double x, double y) { return x + y; }, &result)) {
        return result;
    }
    if (!a.type().is_float() && is(a, 0)) {
        return b;
    }
    return !a.type().is_float() && is(b, 0) ? a : Add::make(a, b);
}

Expr sub(const Expr &a, const Expr &b) {
    Expr result;
    if (!both(a, b) || fold(
                           a, b, checked_sub, [](double x, double y) { return x - y; }, &result)) {
        return result;
    }
    return is(b, 0) ? a : Sub::make(a, b);
}

Expr mul(const Expr &a, const Expr &b) {
    Expr result;
    if (!both(a, b) || fold(
                           a, b, checked_mul, [](double x, double y) { return x * y; }, &result)) {
        return result;
    }
    if (is(a, 1)) {
        return b;
    }
    if (is(b, 1)) {
        return a;
    }
    if (!a.type().is_float() && (is(a, 0) || is(b, 0))) {
        return make_zero(a.type());
    }
    return is_const(a) ? Mul::make(b, a) : Mul::make(a, b);
}

Expr div(const Expr &a, const Expr &b) {
    Expr result;
    const auto exact = [](int64_t x, int64_t y) -> std::optional<int64_t> {
        return x == INT64_MIN && y == -1 ? std::nullopt : std::optional(euclidean_div(x, y));
    };
    if (!both(a, b) || fold(
                           a, b, exact, [](double x, double y) { return x / y; }, &result)) {
        return result;
    }
    return is(b, 1) ? a : Div::make(a, b);
}

Expr neg(const Expr &a) {
    return a.defined() ? sub(make_zero(a.type()), a) : Expr();
}

Expr min(const Expr &a, const Expr &b) {
    if (!both(a, b)) {
        return Expr();
    }
    if (a.same_as(b)) {
        return a;
    }
    if (is_const(a) && is_const(b)) {
        return is_const_zero(less(b, a)) ? a : b;
    }
    return is_const(a) ? Min::make(b, a) : Min::make(a, b);
}

Expr max(const Expr &a, const Expr &b) {
    if (!both(a, b)) {
        return Expr();
    }
    if (a.same_as(b)) {
        return a;
    }
    if (is_const(a) && is_const(b)) {
        return is_const_zero(less(a, b)) ? a : b;
    }
    return is_const(a) ? Max::make(b, a) : Max::make(a, b);
}

Expr min_or_other(const Expr &a, const Expr &b) {
    return both(a, b) ? min(a, b) : (a.defined() ? a : b);
}

Expr max_or_other(const Expr &a, const Expr &b) {
    return both(a, b) ? max(a, b) : (a.defined() ? a : b);
}

Expr cast(Type t, const Expr &a) {
    if (!a.defined() || a.type() == t) {
        return a;
    }
    if (const auto x = as_const_float(a)) {
        if (t.is_float()) {
            return floating(t, *x);
        }
        if (!t.is_int_or_uint() || std::isnan(*x)) {
            return Expr();
        }
        if (t.is_bool()) {
            return make_const(t, int64_t(*x != 0));
        }
        if (!truncation_fits(*x, t)) {
            return Expr();
        }
        return t.is_uint() ? make_const(t, uint64_t(*x)) : make_const(t, int64_t(*x));
    }
    if (const auto x = as_const_int(a)) {
        if (!t.is_float()) {
            return integer(t, *x);
        }
        constexpr int64_t exact = int64_t(1) << 53;  // beyond, it would be rounded twice
        if (*x >= -exact && *x <= exact) {
            return make_const(t, double(*x));
        }
    }
    return Cast::make(t, a);
}

Expr less(const Expr &a, const Expr &b) {
    if (const auto x = as_const_float(a), y = as_const_float(b); x && y) {
        return make_const(Bool(), int64_t(*x < *y));
    }
    if (const auto x = as_const_int(a), y = as_const_int(b); x && y) {
        return make_const(Bool(), int64_t(*x < *y));
    }
    if (const auto x = as_const_uint(a), y = as_const_uint(b); x && y) {
        return make_const(Bool(), int64_t(*x < *y));
    }
    return a.same_as(b) ? const_false() : LT::make(a, b);
}

Expr less_equal(const Expr &a, const Expr &b) {
    if (is_const(a) && is_const(b)) {
        return logical_not(less(b, a));
    }
    return a.same_as(b) && !a.type().is_float() ? const_true() : LE::make(a, b);
}

Expr logical_and(const Expr &a, const Expr &b) {
    if (is_const_zero(a) || is_const_one(b)) {
        return a;
    }
    return is_const_zero(b) || is_const_one(a) || a.same_as(b)
               ? b
               : And::make(in_lanes_of(b, a), in_lanes_of(a, b));
}

Expr logical_or(const Expr &a, const Expr &b) {
    if (is_const_one(a) || is_const_zero(b)) {
        return a;
    }
    return is_const_one(b) || is_const_zero(a) || a.same_as(b)
               ? b
               : Or::make(in_lanes_of(b, a), in_lanes_of(a, b));
}

Expr logical_not(const Expr &a) {
    if (is_const(a)) {
        return make_const(Bool(), int64_t(is_const_zero(a)));
    }
    return Not::make(a);
}

namespace {

void collect_conjuncts(const Expr &e, bool positive, std::vector<Expr> *result) {
    if (const Call *c = e.as<Call>(); c && c->is_likely()) {
        collect_conjuncts(c->args[0], positive, result);
    } else if (const Not *n = e.as<Not>()) {
        collect_conjuncts(n->a, !positive, result);
    } else if (const And *a = e.as<And>(); a && positive) {
        collect_conjuncts(a->a, true, result);
        collect_conjuncts(a->b, true, result);
    } else if (const Or *o = e.as<Or>(); o && !positive) {
        collect_conjuncts(o->a, false, result);
        collect_conjuncts(o->b, false, result);
    } else {
        result->push_back(positive ? e : logical_not(e));
    }
}

}  // namespace

std::vector<Expr> conjuncts(const Expr &condition, bool positive) {
    std::vector<Expr> result;
    collect_conjuncts(condition, positive, &result);
    return result;
}

Expr select(const Expr &condition, const Expr &a, const Expr &b) {
    if (!both(a, b)) {
        return Expr();
    }
    if (is_const(condition)) {
        return is_const_zero(condition) ? b : a;
    }
    return a.same_as(b) ? a : Select::make(condition, a, b);
}

int tree_size(const Expr &e, int limit) {
    if (!e.defined() || limit <= 0) {
        return 0;
    }
    int size = 1;
    dispatch(e.get(), [&](const auto *node) {
        for_each_child(*node, [&](const auto &child) {
            if constexpr (std::is_same_v<std::decay_t<decltype(child)>, Expr>) {
                size += tree_size(child, limit - size);
            }
        });
    });
    return std::min(size, limit);
}

}  // namespace calotype::internal::ends
