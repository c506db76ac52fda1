// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "arith/simplify/fold.h"

#include <cmath>

#include "arith/simplify/rule_table.h"
#include "ir/constants.h"

namespace calotype::internal {

namespace {

using Wide = __int128;

Wide wide_mod(Wide a, Wide b) {
    if (b == 0) {
        return 0;
    }
    const Wide r = a % b;
    return r >= 0 ? r : r + (b < 0 ? -b : b);
}

Wide wide_div(Wide a, Wide b) {
    return b == 0 ? 0 : (a - wide_mod(a, b)) / b;
}

Expr make_bool(bool value, int lanes) {
    return make_const(Bool(lanes), value ? 1 : 0);
}

Expr fold_integers(NodeKind op, Type t, Wide a, Wide b) {
    Wide r;
    switch (op) {
    case NodeKind::Add: r = a + b; break;
    case NodeKind::Sub: r = a - b; break;
    case NodeKind::Mul:
        // Two 64-bit unsigned numbers may exceed 127 bits; the low bits are right all the same.
        r = Wide(static_cast<unsigned __int128>(a) * static_cast<unsigned __int128>(b));
        break;
    case NodeKind::Div: r = wide_div(a, b); break;
    case NodeKind::Mod: r = wide_mod(a, b); break;
    case NodeKind::Min: r = a < b ? a : b; break;
    case NodeKind::Max: r = a < b ? b : a; break;
    case NodeKind::EQ: return make_bool(a == b, t.lanes());
    case NodeKind::NE: return make_bool(a != b, t.lanes());
    case NodeKind::LT: return make_bool(a < b, t.lanes());
    case NodeKind::LE: return make_bool(a <= b, t.lanes());
    case NodeKind::And: return make_bool(a && b, t.lanes());
    case NodeKind::Or: return make_bool(a || b, t.lanes());
    default: return Expr();
    }
    if (!t.can_overflow() && (r < t.imin() || r > t.imax())) {
        return Call::make(t, Intrinsic::signed_integer_overflow, {});
    }
    return make_wrapped_const(t, r);
}

Expr fold_floats(NodeKind op, Type t, double a, double b) {
    switch (op) {
    case NodeKind::Add: return make_const(t, a + b);
    case NodeKind::Sub: return make_const(t, a - b);
    case NodeKind::Mul: return make_const(t, a * b);
    case NodeKind::Div: return make_const(t, a / b);
    case NodeKind::Min: return std::isnan(a) || std::isnan(b) ? Expr() : make_const(t, a < b ? a : b);
    case NodeKind::Max: return std::isnan(a) || std::isnan(b) ? Expr() : make_const(t, a < b ? b : a);
    case NodeKind::EQ: return make_bool(a == b, t.lanes());
    case NodeKind::NE: return make_bool(a != b, t.lanes());
    case NodeKind::LT: return make_bool(a < b, t.lanes());
    case NodeKind::LE: return make_bool(a <= b, t.lanes());
    default: return Expr();
    }
}

// Float to integer truncates; where the value does not fit the machine decides, so it is not folded.
Expr fold_float_to_int(Type t, double x) {
    const double whole = std::trunc(x);
    const double lowest = t.is_uint() ? 0 : -std::ldexp(1.0, t.bits() - 1);
    const double beyond = std::ldexp(1.0, t.is_uint() ? t.bits() : t.bits() - 1);
    if (!(whole >= lowest && whole < beyond)) {
        return Expr();
    }
    return t.is_uint() ? make_const(t, uint64_t(whole)) : make_const(t, int64_t(whole));
}

}  // namespace

Expr make_wrapped_const(Type t, Wide value) {
    if (t.is_bool()) {
        return make_bool((value & 1) != 0, t.lanes());
    }
    return t.is_uint() ? make_const(t, uint64_t(value)) : make_const(t, int64_t(value));
}

bool integer_value(const Expr &e, Wide *value) {
    const Expr *inner = &e;
    while (const auto *b = inner->as<Broadcast>()) {
        inner = &b->value;
    }
    if (const auto *i = inner->as<IntImm>()) {
        *value = i->value;
        return true;
    }
    if (const auto *u = inner->as<UIntImm>()) {
        *value = u->value;
        return true;
    }
    return false;
}

Expr fold_binary(NodeKind op, const Expr &a, const Expr &b) {
    const Type t = a.type();
    if (t.is_int_or_uint()) {
        Wide x, y;
        return integer_value(a, &x) && integer_value(b, &y) ? fold_integers(op, t, x, y) : Expr();
    }
    if (t.is_float()) {
        const auto x = number_of(a.get()), y = number_of(b.get());
        return x && y ? fold_floats(op, t, x->f, y->f) : Expr();
    }
    return Expr();
}

Expr fold_cast(Type t, const Expr &e) {
    Wide i;
    if (integer_value(e, &i)) {
        if (t.is_bool()) {
            return make_bool(i != 0, t.lanes());
        }
        if (t.is_float()) {
            return i >= 0 ? make_const(t, double(uint64_t(i))) : make_const(t, double(int64_t(i)));
        }
        return t.is_int_or_uint() ? make_wrapped_const(t, i) : Expr();
    }
    const auto number = number_of(e.get());
    if (!number || !number->is_float) {
        return Expr();
    }
    if (t.is_bool()) {
        return make_bool(number->f != 0, t.lanes());
    }
    if (t.is_float()) {
        return make_const(t, number->f);
    }
    return t.is_int_or_uint() ? fold_float_to_int(t, number->f) : Expr();
}

}  // namespace calotype::internal
