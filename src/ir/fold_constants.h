// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arithmetic on integer constants as the IR defines it.
#pragma once

#include <cstdint>
#include <optional>

#include "ir/expr.h"

namespace calotype::internal {

/// a / b so that the remainder is not negative; 0 if b is 0. The one case that overflows, INT64_MIN
/// / -1, wraps.
int64_t div_imp(int64_t a, int64_t b);
/// a - a / b * b: from 0 to |b| - 1; 0 if b is 0.
int64_t mod_imp(int64_t a, int64_t b);

/// a op b of a binary node; comparisons and logic give 0 or 1. Nothing if the value does not fit in 64
/// bits.
std::optional<int64_t> fold_int64(NodeKind kind, int64_t a, int64_t b);

/// The value of a binary node of integer or Bool constants of one type, as a constant. Undefined if
/// an operand is not an integer constant, and where a signed result of 32 or 64 bits overflows.
Expr fold_binary(NodeKind kind, const Expr &a, const Expr &b);

}  // namespace calotype::internal
