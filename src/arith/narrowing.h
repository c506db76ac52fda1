// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conversions of integers that keep every value, found by the ranges that values have.
#pragma once

#include "ir/expr.h"

namespace calotype::internal {

/// e computed as a t, where no value that e can have is changed by that; else undefined. More than
/// lossless_cast, which goes by types: sums, products, minima, choices and sums over lanes are
/// computed in t if their results fit it, and their operands can be had in t themselves.
///
///     uint32(x) + 16        as uint16, x a uint8:   uint16(x) + 16
///     widening_sub(a, b)    as int16, a and b the int16 of int8:   a - b
Expr narrow_exactly(Type t, const Expr &e);

}  // namespace calotype::internal
