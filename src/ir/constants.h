// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Making and recognising constants.
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>

#include "ir/expr.h"

namespace calotype::internal {

/// A constant of type t (broadcast to its lanes); the value is converted as by a Cast.
Expr make_const(Type t, int64_t value);
Expr make_const(Type t, uint64_t value);
Expr make_const(Type t, double value);
/// Any other type of number counts as the widest of its kind.
template<typename T, typename = std::enable_if_t<std::is_arithmetic<T>::value>>
Expr make_const(Type t, T value) {
    using Wide =
        std::conditional_t<std::is_floating_point<T>::value, double,
                           std::conditional_t<std::is_signed<T>::value, int64_t, uint64_t>>;
    return make_const(t, Wide(value));
}
Expr make_bool(bool value, int lanes = 1);
Expr make_zero(Type t);
Expr make_one(Type t);
Expr const_true(int lanes = 1);
Expr const_false(int lanes = 1);

/// True for an immediate, or a broadcast of one, or a cast of one to a handle.
bool is_const(const Expr &e);
bool is_const(const Expr &e, int64_t value);
bool is_const_zero(const Expr &e);
bool is_const_one(const Expr &e);
bool is_positive_const(const Expr &e);
bool is_negative_const(const Expr &e);
/// Undefined, or constant one of Bool: a predicate that always holds.
bool is_trivially_true(const Expr &e);

/// The value of an integer constant (through broadcasts) if it is one and fits.
std::optional<int64_t> as_const_int(const Expr &e);
std::optional<uint64_t> as_const_uint(const Expr &e);
std::optional<double> as_const_float(const Expr &e);
/// log2 of a positive power-of-two integer constant.
std::optional<int> as_const_power_of_two(const Expr &e);

}  // namespace calotype::internal
