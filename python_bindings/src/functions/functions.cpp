// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Casts, choice, mathematics, bits and fixed point.
#include <optional>
#include <tuple>

#include "bindings.h"
#include "scalar.h"

namespace calotype::python {

namespace {

void bind_casts(PythonModule &m) {
    m.def(
        "cast", [](TypeArg t, ExprArg e) { return cast(t, e); }, "type"_a, "expr"_a);
    m.def(
        "saturating_cast", [](TypeArg t, ExprArg e) { return saturating_cast(t, e); }, "type"_a,
        "expr"_a);
    m.def(
        "reinterpret", [](TypeArg t, ExprArg e) { return reinterpret(t, e); }, "type"_a, "expr"_a);
    const std::pair<const char *, Type> types[] = {
        {"f64", Float(64)}, {"f32", Float(32)}, {"f16", Float(16)}, {"bf16", BFloat(16)},
        {"i64", Int(64)},   {"i32", Int(32)},   {"i16", Int(16)},   {"i8", Int(8)},
        {"u64", UInt(64)},  {"u32", UInt(32)},  {"u16", UInt(16)},  {"u8", UInt(8)}};
    for (const auto &[name, type] : types) {
        m.def(
            name,
            [t = type](ExprArg e) {
                const std::optional<Expr> literal = float_literal(e.object, t);
                return literal ? *literal : cast(t, e);
            },
            "expr"_a);
        if (!type.is_float()) {
            m.def((std::string(name) + "_sat").c_str(),
                  [t = type](ExprArg e) { return saturating_cast(t, e); }, "expr"_a);
        }
    }
}

using Unary = Expr (*)(Expr);
using UnaryRef = Expr (*)(const Expr &);
using Binary = Expr (*)(Expr, Expr);
using ByLiteral = Expr (*)(Expr, int);

void bind_math(PythonModule &m) {
    const std::pair<const char *, Unary> unary[] = {{"sin", sin},
                                                    {"cos", cos},
                                                    {"tan", tan},
                                                    {"asin", asin},
                                                    {"acos", acos},
                                                    {"atan", atan},
                                                    {"sinh", sinh},
                                                    {"cosh", cosh},
                                                    {"tanh", tanh},
                                                    {"asinh", asinh},
                                                    {"acosh", acosh},
                                                    {"atanh", atanh},
                                                    {"sqrt", sqrt},
                                                    {"exp", exp},
                                                    {"log", log},
                                                    {"floor", floor},
                                                    {"ceil", ceil},
                                                    {"round", round},
                                                    {"trunc", trunc},
                                                    {"is_nan", is_nan},
                                                    {"is_inf", is_inf},
                                                    {"abs", abs},
                                                    {"is_finite", is_finite},
                                                    {"tf32", tf32},
                                                    {"truncate_to_tf32", truncate_to_tf32},
                                                    {"fast_inverse", fast_inverse},
                                                    {"popcount", popcount},
                                                    {"fast_inverse_sqrt", fast_inverse_sqrt},
                                                    {"count_leading_zeros", count_leading_zeros},
                                                    {"count_trailing_zeros", count_trailing_zeros}};
    for (const auto &[name, f] : unary) {
        m.def(
            name, [f = f](ExprArg x) { return f(x); }, "x"_a);
    }
    const std::pair<const char *, UnaryRef> unary_ref[] = {
        {"erf", erf},           {"fract", fract},       {"fast_sin", fast_sin},
        {"fast_cos", fast_cos}, {"fast_log", fast_log}, {"fast_exp", fast_exp}};
    for (const auto &[name, f] : unary_ref) {
        m.def(
            name, [f = f](ExprArg x) { return f(x); }, "x"_a);
    }
    m.def(
        "hypot", [](ExprArg x, ExprArg y) { return hypot(x, y); }, "x"_a, "y"_a);
    m.def(
        "fma", [](ExprArg a, ExprArg b, ExprArg c) { return fma(a, b, c); }, "a"_a, "b"_a, "c"_a);
    m.def(
        "lerp", [](ExprArg a, ExprArg b, ExprArg w) { return lerp(a, b, w); }, "zero_val"_a,
        "one_val"_a, "weight"_a);
    m.def(
        "clamp", [](ExprArg a, ExprArg min, ExprArg max) { return clamp(a, min, max); }, "a"_a,
        "min_val"_a, "max_val"_a);
}

void bind_shifts(PythonModule &m) {
    const std::tuple<const char *, Binary, ByLiteral> shifts[] = {
        {"widening_shift_left", widening_shift_left, widening_shift_left},
        {"widening_shift_right", widening_shift_right, widening_shift_right},
        {"rounding_shift_left", rounding_shift_left, rounding_shift_left},
        {"rounding_shift_right", rounding_shift_right, rounding_shift_right}};
    for (const auto &[name, f, by_literal] : shifts) {
        m.def(
            name,
            [f = f, by_literal = by_literal](ExprArg a, ExprArg b) {
                const std::optional<int> n = literal_shift(b.object);
                return n ? by_literal(a, *n) : f(a, b);
            },
            "a"_a, "b"_a);
    }
}

void bind_binary(PythonModule &m) {
    const std::pair<const char *, Binary> binary[] = {
        {"atan2", atan2},
        {"pow", pow},
        {"fast_pow", fast_pow},
        {"absd", absd},
        {"div_round_to_zero", div_round_to_zero},
        {"mod_round_to_zero", mod_round_to_zero},
        {"widen_right_add", widen_right_add},
        {"widen_right_mul", widen_right_mul},
        {"widen_right_sub", widen_right_sub},
        {"widening_add", widening_add},
        {"widening_mul", widening_mul},
        {"widening_sub", widening_sub},
        {"saturating_add", saturating_add},
        {"saturating_sub", saturating_sub},
        {"halving_add", halving_add},
        {"rounding_halving_add", rounding_halving_add},
        {"halving_sub", halving_sub}};
    for (const auto &[name, f] : binary) {
        m.def(
            name, [f = f](ExprArg a, ExprArg b) { return f(a, b); }, "a"_a, "b"_a);
    }
    m.def(
        "mul_shift_right",
        [](ExprArg a, ExprArg b, ExprArg q) { return mul_shift_right(a.get(), b.get(), q.get()); },
        "a"_a, "b"_a, "q"_a);
    m.def(
        "rounding_mul_shift_right",
        [](ExprArg a, ExprArg b, ExprArg q) {
            return rounding_mul_shift_right(a.get(), b.get(), q.get());
        },
        "a"_a, "b"_a, "q"_a);
    m.def(
        "extract_bits", [](TypeArg t, ExprArg e, ExprArg lsb) { return extract_bits(t, e, lsb); },
        "type"_a, "expr"_a, "lsb"_a);
    m.def(
        "concat_bits",
        [](const std::vector<ExprArg> &e) { return concat_bits(convert_all<Expr>(e)); }, "exprs"_a);
    m.def(
        "fast_integer_divide", [](ExprArg a, ExprArg b) { return fast_integer_divide(a, b); },
        "numerator"_a, "denominator"_a);
    m.def(
        "fast_integer_divide_round_to_zero",
        [](ExprArg a, ExprArg b) { return fast_integer_divide_round_to_zero(a, b); }, "numerator"_a,
        "denominator"_a);
    m.def(
        "fast_integer_modulo", [](ExprArg a, ExprArg b) { return fast_integer_modulo(a, b); },
        "numerator"_a, "denominator"_a);
}

// An int beside an Expr takes its type; in Halide's module it is an int32 in max and min: max(u8, 3) is an
// int32, and max(u8, 3) - 10 can be negative.
enum class Ints { take_types, are_int32 };

nb::object as_operand(nb::handle h, Ints ints) {
    return ints == Ints::are_int32 && PyLong_CheckExact(h.ptr()) ? nb::cast(to_expr(h))
                                                                 : nb::borrow(h);
}

// min(a, b, c, ...), from the right as in C++.
Expr extreme(const nb::args &args, bool is_max, Ints ints = Ints::take_types) {
    call_assert(args.size() >= 2) << (is_max ? "max" : "min") << " needs at least two values, "
                                  << args.size() << " given";
    nb::object result = as_operand(args[args.size() - 1], ints);
    for (size_t i = args.size() - 1; i-- > 0;) {
        const auto [x, y] = operands(as_operand(args[i], ints), result);
        result = nb::cast(is_max ? max(x, y) : min(x, y));
    }
    return nb::cast<Expr>(result);
}

void bind_extremes(PythonModule &m) {
    m.def("max", [](nb::args args) { return extreme(args, true); });
    m.def("min", [](nb::args args) { return extreme(args, false); });
    m.def("_max_int32", [](nb::args args) { return extreme(args, true, Ints::are_int32); });
    m.def("_min_int32", [](nb::args args) { return extreme(args, false, Ints::are_int32); });
}

}  // namespace

void bind_functions(PythonModule &m) {
    bind_casts(m);
    bind_math(m);
    bind_binary(m);
    bind_shifts(m);
    bind_extremes(m);
}

}  // namespace calotype::python
