// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// difference_range, sum_range: how far apart minima and maxima of the same values can be.
#pragma once

#include "arith/constant_interval.h"
#include "ir/expr.h"

namespace calotype::internal {

/// A range of a - b that follows from their forms alone, whatever the variables are: min(x, 16) is
/// from 1 below min(x, 17) up to it. Everything where nothing is seen, or a type may wrap.
ConstantInterval difference_range(const Expr &a, const Expr &b);

/// The same of a sum (or difference), for which minima and maxima in it are compared term by term:
/// min(x, y * 4 + 4) * 8 - min(z, y * 32) is at most 32 where x * 8 - z is. It takes more time.
ConstantInterval sum_range(const Expr &e);

}  // namespace calotype::internal
