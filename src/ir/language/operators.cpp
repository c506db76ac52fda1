// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/operators.h"

#include <cmath>

#include "ir/constants.h"
#include "ir/expr_nodes.h"
#include "ir/fold_constants.h"
#include "ir/language/match_types.h"
#include "support/error.h"

namespace calotype {

using namespace internal;

using internal::check_defined;
using internal::literal_like;
using internal::match_types;

namespace {

/// A constant converted as by a Cast, where the result is known on all machines; else undefined.
Expr fold_cast(Type t, const Expr &a) {
    if (t.is_handle() || a.type().is_handle()) {
        return Expr();
    }
    if (auto f = as_const_float(a)) {
        const bool defined = t.is_float() || t.can_represent(std::trunc(*f));
        return defined ? make_const(t, *f) : Expr();
    }
    if (auto i = as_const_int(a)) {
        return make_const(t, *i);
    }
    if (auto u = as_const_uint(a)) {
        return make_const(t, *u);
    }
    return Expr();
}

/// The lowest bit of a number, which a cast to one bit keeps. Floats become integers first.
Expr low_bit(const Expr &a) {
    const Type t = a.type();
    const Expr whole = t.is_float() ? cast(UInt(8), a) : a;
    if (auto i = as_const_int(whole)) {
        return make_const(Bool(t.lanes()), *i & 1);
    }
    if (auto u = as_const_uint(whole)) {
        return make_const(Bool(t.lanes()), int64_t(*u & 1));
    }
    const Expr bit =
        Call::make(whole.type(), Intrinsic::bitwise_and, {whole, make_one(whole.type())});
    return NE::make(bit, make_zero(whole.type()));
}

}  // namespace

Expr cast(Type t, Expr a) {
    check_defined("cast", a);
    if (t.is_scalar()) {
        t = t.with_lanes(a.type().lanes());
    }
    if (a.type() == t) {
        return a;
    }
    user_assert(t.is_handle() == a.type().is_handle())
        << "cast from " << a.type() << " to " << t
        << ": a handle converts to handles only (reinterpret to uint64)";
    user_assert(a.type().is_scalar() || a.type().lanes() == t.lanes())
        << "cast from " << a.type() << " to " << t;
    if (t.is_bool() && !a.type().is_handle()) {
        a = low_bit(a);
        return a.type().lanes() == t.lanes() ? a : Broadcast::make(std::move(a), t.lanes());
    }
    Expr folded = fold_cast(t, a);
    if (folded.defined()) {
        return folded;
    }
    if (a.type().lanes() != t.lanes()) {
        return Broadcast::make(cast(t.element_of(), std::move(a)), t.lanes());
    }
    if (const Broadcast *b = a.as<Broadcast>()) {
        return Broadcast::make(cast(t.with_lanes(b->value.type().lanes()), b->value), b->lanes);
    }
    return Cast::make(t, std::move(a));
}

Expr reinterpret(Type t, Expr a) {
    check_defined("reinterpret", a);
    const Type from = a.type();
    if (from == t) {
        return a;
    }
    user_assert(t.bits() * t.lanes() == from.bits() * from.lanes())
        << "reinterpret from " << from << " (" << from.bits() * from.lanes() << " bits) to " << t
        << " (" << t.bits() * t.lanes() << " bits)";
    return Reinterpret::make(t, std::move(a));
}

namespace {

template<typename T>
Expr binary(const char *op, Expr a, Expr b) {
    match_types(op, a, b);
    user_assert(!a.type().is_handle() || T::is_comparison) << op << " of handles";
    Expr folded = internal::fold_binary(T::kind_tag, a, b);
    return folded.defined() ? folded : T::make(std::move(a), std::move(b));
}

template<typename T>
Expr logic(const char *op, Expr a, Expr b) {
    check_defined(op, a, b);
    for (const Expr *e : {&a, &b}) {
        user_assert(e->type().is_bool()) << op << " of type " << e->type() << ", must be bool";
    }
    internal::match_lanes(op, a, b);
    Expr folded = internal::fold_binary(T::kind_tag, a, b);
    return folded.defined() ? folded : T::make(std::move(a), std::move(b));
}

}  // namespace

// One public operator: the five overloads share the rules of `binary`.
#define BINARY(function, text, Node)                                                               \
    Expr function(Expr a, Expr b) {                                                                \
        return binary<Node>(text, std::move(a), std::move(b));                                     \
    }                                                                                              \
    Expr function(Expr a, int b) {                                                                 \
        Expr literal = literal_like(text, a, b);                                                   \
        return binary<Node>(text, std::move(a), std::move(literal));                               \
    }                                                                                              \
    Expr function(int a, Expr b) {                                                                 \
        Expr literal = literal_like(text, b, a);                                                   \
        return binary<Node>(text, std::move(literal), std::move(b));                               \
    }                                                                                              \
    Expr function(Expr a, float b) {                                                               \
        return binary<Node>(text, std::move(a), Expr(b));                                          \
    }                                                                                              \
    Expr function(float a, Expr b) {                                                               \
        return binary<Node>(text, Expr(a), std::move(b));                                          \
    }
BINARY(operator+, "+", Add)
BINARY(operator-, "-", Sub)
BINARY(operator*, "*", Mul)
BINARY(operator/, "/", Div)
BINARY(operator%, "%", Mod)
BINARY(operator<, "<", LT)
BINARY(operator<=, "<=", LE)
BINARY(operator>, ">", GT)
BINARY(operator>=, ">=", GE)
BINARY(operator==, "==", EQ)
BINARY(operator!=, "!=", NE)
BINARY(max, "max", Max)
BINARY(min, "min", Min)
#undef BINARY

#define LOGIC_OPERATOR(function, text, Node)                                                       \
    Expr function(Expr a, Expr b) {                                                                \
        return logic<Node>(text, std::move(a), std::move(b));                                      \
    }                                                                                              \
    Expr function(Expr a, bool b) {                                                                \
        return logic<Node>(text, std::move(a), Expr(b));                                           \
    }                                                                                              \
    Expr function(bool a, Expr b) {                                                                \
        return logic<Node>(text, Expr(a), std::move(b));                                           \
    }
LOGIC_OPERATOR(operator&&, "&&", And)
LOGIC_OPERATOR(operator||, "||", Or)
#undef LOGIC_OPERATOR

Expr operator!(Expr a) {
    check_defined("!", a);
    user_assert(a.type().is_bool()) << "! of type " << a.type() << ", must be bool";
    if (auto value = as_const_uint(a)) {
        return make_const(a.type(), int64_t(*value == 0));
    }
    return Not::make(std::move(a));
}

Expr operator-(Expr a) {
    check_defined("-", a);
    user_assert(!a.type().is_handle()) << "- of a handle";
    if (auto value = as_const_float(a)) {
        return make_const(a.type(), -*value);
    }
    Expr zero = make_zero(a.type());
    return binary<Sub>("-", std::move(zero), std::move(a));
}

#define ASSIGN(op, text)                                                                           \
    Expr &operator op##=(Expr &a, Expr b) {                                                        \
        check_defined(text, a, b);                                                                 \
        const Type t = a.type();                                                                   \
        a = a op cast(t, std::move(b));                                                            \
        return a;                                                                                  \
    }
ASSIGN(+, "+=")
ASSIGN(-, "-=")
ASSIGN(*, "*=")
ASSIGN(/, "/=")
#undef ASSIGN

Expr clamp(Expr a, const Expr &min_val, const Expr &max_val) {
    check_defined("clamp", a);
    const auto bound = [&](const Expr &given, const char *which) {
        check_defined("clamp", given);
        Expr result = internal::lossless_cast(a.type(), given);
        user_assert(result.defined())
            << "clamp of type " << a.type() << " to a " << which << " of type " << given.type()
            << ", which may not fit; cast it";
        return result;
    };
    Expr low = bound(min_val, "minimum"), high = bound(max_val, "maximum");
    return max(min(std::move(a), std::move(high)), std::move(low));
}

Expr abs(Expr a) {
    check_defined("abs", a);
    const Type t = a.type();
    user_assert(!t.is_handle()) << "abs of a handle";
    if (t.is_uint()) {
        return a;
    }
    return Call::make(t.is_int() ? t.with_code(Type::UInt) : t, Intrinsic::abs, {std::move(a)});
}

Expr absd(Expr a, Expr b) {
    match_types("absd", a, b);
    const Type t = a.type();
    user_assert(!t.is_handle()) << "absd of handles";
    if (t.is_float()) {
        return abs(std::move(a) - std::move(b));
    }
    return Call::make(t.with_code(Type::UInt), Intrinsic::absd, {std::move(a), std::move(b)});
}

Expr select(Expr condition, Expr true_value, Expr false_value) {
    check_defined("select", condition);
    check_defined("select", true_value, false_value);
    const auto is_int_literal = [](const Expr &e) {
        return e.type().is_int() && is_const(e);
    };
    if (is_int_literal(condition)) {
        condition = cast(Bool(), std::move(condition));
    }
    if (is_int_literal(true_value) && !false_value.type().is_handle()) {
        true_value = cast(false_value.type(), std::move(true_value));
    }
    if (is_int_literal(false_value) && !true_value.type().is_handle()) {
        false_value = cast(true_value.type(), std::move(false_value));
    }
    internal::match_lanes("select", true_value, false_value);
    user_assert(condition.type().is_bool())
        << "the condition of a select has type " << condition.type() << ", must be bool";
    user_assert(true_value.type() == false_value.type())
        << "the values of a select have types " << true_value.type() << " and "
        << false_value.type() << ", must have one type; cast one of them";
    if (condition.type().is_vector()) {
        internal::match_lanes("select", condition, true_value);
        internal::match_lanes("select", true_value, false_value);
    }
    return Select::make(std::move(condition), std::move(true_value), std::move(false_value));
}

Expr mux(const Expr &id, const std::vector<Expr> &values) {
    check_defined("mux", id);
    user_assert(id.type().is_int_or_uint())
        << "mux by an index of type " << id.type() << ", must be an integer";
    user_assert(!values.empty()) << "mux of no values, must have at least 1";
    Expr result = values.back();
    check_defined("mux", result);
    for (size_t i = values.size() - 1; i-- > 0;) {
        check_defined("mux", values[i]);
        user_assert(values[i].type().element_of() == result.type().element_of())
            << "mux of values of types " << values[i].type() << " and " << result.type()
            << ", must have one type; cast one of them";
        result = select(id == int(i), values[i], std::move(result));
    }
    return result;
}

Expr mux(const Expr &id, const std::initializer_list<Expr> &values) {
    return mux(id, std::vector<Expr>(values));
}

}  // namespace calotype
