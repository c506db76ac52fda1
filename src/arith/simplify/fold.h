// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Constant folding: the operators of the IR on immediates, exactly as the generated code computes
// them.
#pragma once

#include "ir/expr_nodes.h"

namespace calotype::internal {

/// a op b for constants (immediates or broadcasts of them) of one type, or undefined where the
/// value is not known or the operands are not constant. Signed 32- and 64-bit overflow gives the
/// intrinsic signed_integer_overflow.
Expr fold_operator(NodeKind op, const Expr &a, const Expr &b);

/// The constant e converted to type t, or undefined.
Expr fold_cast(Type t, const Expr &e);

/// A constant of integer type t with the low bits of value.
Expr make_wrapped_const(Type t, __int128 value);

/// The value of an integer constant of any type, uint64 included.
bool integer_value(const Expr &e, __int128 *value);

}  // namespace calotype::internal
