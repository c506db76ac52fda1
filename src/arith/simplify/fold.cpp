// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "arith/simplify/fold.h"

#include <cmath>

#include "arith/simplify/rule_table.h"
#include "ir/constants.h"
#include "ir/fold_constants.h"

namespace calotype::internal {

namespace {

using Wide = __int128;

// Arithmetic on one bit, modulo two.
Expr fold_bits(NodeKind op, Type t, bool a, bool b) {
    switch (op) {
    case NodeKind::Add:
    case NodeKind::Sub:
        return make_bool(a != b, t.lanes());
    case NodeKind::Mul:
    case NodeKind::Div:
        return make_bool(a && b, t.lanes());
    case NodeKind::Mod:
        return make_bool(false, t.lanes());
    default:
        return Expr();
    }
}

Expr fold_integers(NodeKind op, const Expr &a, const Expr &b) {
    Wide x, y;
    if (!integer_value(a, &x) || !integer_value(b, &y)) {
        return Expr();
    }
    const Type t = a.type();
    if (t.is_bool()) {
        if (Expr bit = fold_bits(op, t, x != 0, y != 0); bit.defined()) {
            return bit;
        }
    }
    const Expr folded = fold_binary(op, a, b);
    return folded.defined() ? folded : Call::make(t, Intrinsic::signed_integer_overflow, {});
}

Expr fold_floats(NodeKind op, Type t, double a, double b) {
    switch (op) {
    case NodeKind::Add:
        return make_const(t, a + b);
    case NodeKind::Sub:
        return make_const(t, a - b);
    case NodeKind::Mul:
        return make_const(t, a * b);
    case NodeKind::Div:
        return make_const(t, a / b);
    case NodeKind::Min:
        return make_const(t, a < b ? a : b);
    case NodeKind::Max:
        return make_const(t, a > b ? a : b);
    case NodeKind::EQ:
        return make_bool(a == b, t.lanes());
    case NodeKind::NE:
        return make_bool(a != b, t.lanes());
    case NodeKind::LT:
        return make_bool(a < b, t.lanes());
    case NodeKind::LE:
        return make_bool(a <= b, t.lanes());
    default:
        return Expr();
    }
}

// Float to integer truncates; where the value does not fit the machine decides, so it is not
// folded.
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

Expr fold_operator(NodeKind op, const Expr &a, const Expr &b) {
    const Type t = a.type();
    if (t.is_int_or_uint()) {
        return fold_integers(op, a, b);
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
