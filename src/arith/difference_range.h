// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// difference_range: how far apart minima and maxima of the same values can be.
#pragma once

#include "arith/constant_interval.h"
#include "ir/expr.h"

namespace calotype::internal {

/// A range of a - b that follows from their forms alone, whatever the variables are: min(x, 16) is
/// from 1 below min(x, 17) up to it. Everything where nothing is seen, or a type may wrap.
ConstantInterval difference_range(const Expr &a, const Expr &b);

/// The same of nested minima (or maxima) to which more is added and which constants multiply, as
/// tiles within tiles have them:
///
///     min(min(x, n) * 8 + 7, m) - min(x * 8, m - 1)      is at most 7
ConstantInterval difference_of_nested(const Expr &a, const Expr &b);

}  // namespace calotype::internal
