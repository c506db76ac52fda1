// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reverse-mode differentiation of one expression.
#pragma once

#include <vector>

#include "ir/expr.h"

namespace calotype::internal {

/// A leaf of an expression, and the derivative of something with respect to it.
struct LeafAdjoint {
    Expr leaf;     ///< a Call of a Func or image, or the Variable of a scalar parameter
    Expr adjoint;  ///< of the leaf's type
};

/// Given the derivative of something with respect to `value`, that with respect to each leaf of a
/// float type in it, each leaf once:
///     value = f(x) * f(x) + p, adjoint a   ->   f(x): 2 * f(x) * a,  p: a
/// Integers, conditions and coordinates count as constants. At a step or a kink the derivative is
/// that of one side. A CompileError names what has no derivative: calls of C functions, and bits
/// taken for numbers.
std::vector<LeafAdjoint> leaf_adjoints(const Expr &value, const Expr &adjoint);

}  // namespace calotype::internal
