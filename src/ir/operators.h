// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Public operators on Exprs: casts, arithmetic, comparisons, logic, select. It brings with it, from
// ir/language/: bit operations (bits.h), floating-point functions (math.h), fixed-point operations
// (fixed_point.h), division by a uint8 (fast_divide.h), and hints, promises and printing (hints.h).
//
// Operands of different types are brought to one:
//   - a C++ int takes the type of the other operand; it is an error if that type cannot hold it
//   - a scalar is broadcast to the lanes of a vector
//   - integer and float: the float type;  two floats: the wider
//   - two unsigned integers: the wider;  any other two integers: signed, of the wider width
// Undefined operands are errors. Handles take part in casts, comparisons and choice only.
//
// Integers: signed 32- and 64-bit arithmetic is taken not to overflow, all other wraps; division
// rounds so that the remainder is never negative; x / 0 and x % 0 are 0. The full semantics are in
// docs/ir.md.
#pragma once

#include <initializer_list>
#include <utility>
#include <vector>

#include "ir/expr.h"

namespace calotype {

/// Conversion by value: to fewer bits wraps, to an integer truncates, to Bool compares with zero. A
/// scalar type with a vector value converts each lane; a vector type with a scalar value
/// broadcasts.
Expr cast(Type t, Expr a);
template<typename T>
Expr cast(Expr a) {
    return cast(type_of<T>(), std::move(a));
}

/// Conversion by bits, between types of one size.
Expr reinterpret(Type t, Expr a);
template<typename T>
Expr reinterpret(Expr a) {
    return reinterpret(type_of<T>(), std::move(a));
}

Expr operator+(Expr a, Expr b);
Expr operator+(Expr a, int b);
Expr operator+(int a, Expr b);
Expr operator+(Expr a, float b);
Expr operator+(float a, Expr b);
Expr operator-(Expr a, Expr b);
Expr operator-(Expr a, int b);
Expr operator-(int a, Expr b);
Expr operator-(Expr a, float b);
Expr operator-(float a, Expr b);
Expr operator*(Expr a, Expr b);
Expr operator*(Expr a, int b);
Expr operator*(int a, Expr b);
Expr operator*(Expr a, float b);
Expr operator*(float a, Expr b);
Expr operator/(Expr a, Expr b);
Expr operator/(Expr a, int b);
Expr operator/(int a, Expr b);
Expr operator/(Expr a, float b);
Expr operator/(float a, Expr b);
/// Of integers: the remainder of a / b, from 0 to |b| - 1. Of floats: a - b * floor(a / b).
Expr operator%(Expr a, Expr b);
Expr operator%(Expr a, int b);
Expr operator%(int a, Expr b);
Expr operator%(Expr a, float b);
Expr operator%(float a, Expr b);
/// The negative; of unsigned integers, modulo 2^bits.
Expr operator-(Expr a);

Expr &operator+=(Expr &a, Expr b);
Expr &operator-=(Expr &a, Expr b);
Expr &operator*=(Expr &a, Expr b);
Expr &operator/=(Expr &a, Expr b);

Expr operator>(Expr a, Expr b);
Expr operator>(Expr a, int b);
Expr operator>(int a, Expr b);
Expr operator>(Expr a, float b);
Expr operator>(float a, Expr b);
Expr operator<(Expr a, Expr b);
Expr operator<(Expr a, int b);
Expr operator<(int a, Expr b);
Expr operator<(Expr a, float b);
Expr operator<(float a, Expr b);
Expr operator<=(Expr a, Expr b);
Expr operator<=(Expr a, int b);
Expr operator<=(int a, Expr b);
Expr operator<=(Expr a, float b);
Expr operator<=(float a, Expr b);
Expr operator>=(Expr a, Expr b);
Expr operator>=(Expr a, int b);
Expr operator>=(int a, Expr b);
Expr operator>=(Expr a, float b);
Expr operator>=(float a, Expr b);
Expr operator==(Expr a, Expr b);
Expr operator==(Expr a, int b);
Expr operator==(int a, Expr b);
Expr operator==(Expr a, float b);
Expr operator==(float a, Expr b);
Expr operator!=(Expr a, Expr b);
Expr operator!=(Expr a, int b);
Expr operator!=(int a, Expr b);
Expr operator!=(Expr a, float b);
Expr operator!=(float a, Expr b);

/// On Bools. Both operands may be evaluated.
Expr operator&&(Expr a, Expr b);
Expr operator&&(Expr a, bool b);
Expr operator&&(bool a, Expr b);
Expr operator||(Expr a, Expr b);
Expr operator||(Expr a, bool b);
Expr operator||(bool a, Expr b);
Expr operator!(Expr a);

Expr max(Expr a, Expr b);
Expr max(Expr a, int b);
Expr max(int a, Expr b);
Expr max(Expr a, float b);
Expr max(float a, Expr b);
Expr min(Expr a, Expr b);
Expr min(Expr a, int b);
Expr min(int a, Expr b);
Expr min(Expr a, float b);
Expr min(float a, Expr b);

namespace internal {
template<typename... T>
using EnableIfExprs = std::enable_if_t<std::conjunction<std::is_convertible<T, Expr>...>::value>;
}  // namespace internal

/// Of three or more values.
template<typename C, typename... Rest, typename = internal::EnableIfExprs<C, Rest...>>
Expr max(Expr a, Expr b, C &&c, Rest &&...rest) {
    return max(std::move(a),
               max(std::move(b), Expr(std::forward<C>(c)), std::forward<Rest>(rest)...));
}
template<typename C, typename... Rest, typename = internal::EnableIfExprs<C, Rest...>>
Expr min(Expr a, Expr b, C &&c, Rest &&...rest) {
    return min(std::move(a),
               min(std::move(b), Expr(std::forward<C>(c)), std::forward<Rest>(rest)...));
}

/// a, but at least min_val and at most max_val (max_val wins if they cross). The bounds are
/// converted to the type of a if that loses nothing; otherwise it is an error. In the language this
/// is also a promise: bounds of a Func that is read at a clamped coordinate are inferred from the
/// bounds given here.
Expr clamp(Expr a, const Expr &min_val, const Expr &max_val);

/// The absolute value; of a signed integer it is unsigned, so that abs of the smallest is right.
Expr abs(Expr a);
/// |a - b|, unsigned for integers.
Expr absd(Expr a, Expr b);

/// condition ? true_value : false_value; both may be evaluated. An int constant takes the type of
/// the other value.
Expr select(Expr condition, Expr true_value, Expr false_value);
/// The value after the first condition that holds, or else the last: select(c0, v0, c1, v1, ...,
/// otherwise).
template<typename... Args, typename = internal::EnableIfExprs<Args...>>
Expr select(Expr c0, Expr v0, Expr c1, Expr v1, Args &&...args) {
    return select(std::move(c0), std::move(v0),
                  select(std::move(c1), std::move(v1), std::forward<Args>(args)...));
}

/// values[id], and the last of the values where id is out of range.
Expr mux(const Expr &id, const std::vector<Expr> &values);
Expr mux(const Expr &id, const std::initializer_list<Expr> &values);

}  // namespace calotype

#include "ir/language/bits.h"
#include "ir/language/fast_divide.h"
#include "ir/language/fixed_point.h"
#include "ir/language/hints.h"
#include "ir/language/math.h"
