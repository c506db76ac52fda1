// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conversion of the operands of public operators to one type. Errors are the user's and name the
// operator.
#pragma once

#include <cstdint>

#include "ir/expr.h"

namespace calotype::internal {

/// Both defined, else an error.
void check_defined(const char *op, const Expr &a);
void check_defined(const char *op, const Expr &a, const Expr &b);
/// Broadcasts a scalar among the two to the lanes of the other.
void match_lanes(const char *op, Expr &a, Expr &b);
/// Brings both to one type by the rules in ir/operators.h.
void match_types(const char *op, Expr &a, Expr &b);
/// Brings two integers to the lanes and the wider width of the two; each stays signed or unsigned.
void match_bits(const char *op, Expr &a, Expr &b);
/// `value` as a constant of the type of the other operand; an error if that changes it.
Expr literal_like(const char *op, const Expr &other, int64_t value);
/// e as a t if that keeps every value, else undefined: a constant that fits, a cast from a narrower
/// type, lanes of such, or a widening.
Expr lossless_cast(Type t, const Expr &e);
/// e if it is a float, else as Float(32).
Expr as_float(const char *op, Expr e);

}  // namespace calotype::internal
