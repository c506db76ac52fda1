// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arithmetic on the ends of intervals: scalar expressions that may be missing (undefined).
// Constants are folded; a result that would overflow its type is missing. Used by the bounds
// analysis alone.
#pragma once

#include <vector>

#include "ir/expr.h"

namespace calotype::internal::ends {

// The result is missing if an operand is.
Expr add(const Expr &a, const Expr &b);
Expr sub(const Expr &a, const Expr &b);
Expr mul(const Expr &a, const Expr &b);
/// Precondition of div: b is known not to be zero, for integers.
Expr div(const Expr &a, const Expr &b);
Expr neg(const Expr &a);
Expr min(const Expr &a, const Expr &b);
Expr max(const Expr &a, const Expr &b);
/// Conversion of a value that is known, or taken, to fit t. A constant that does not is missing.
Expr cast(Type t, const Expr &a);

// Where one is missing, the result is the other: for the end of an intersection.
Expr min_or_other(const Expr &a, const Expr &b);
Expr max_or_other(const Expr &a, const Expr &b);

// On Bools, folded; operands must be defined. Where one has lanes, the other may be what all of them share.
Expr logical_and(const Expr &a, const Expr &b);
Expr logical_or(const Expr &a, const Expr &b);
Expr logical_not(const Expr &a);
Expr less(const Expr &a, const Expr &b);
Expr less_equal(const Expr &a, const Expr &b);
Expr select(const Expr &condition, const Expr &a, const Expr &b);

/// The parts that all hold if `condition` does (or if it does not, for not positive).
std::vector<Expr> conjuncts(const Expr &condition, bool positive = true);

/// The number of nodes of e as a tree, or `limit` if there are at least as many. Costs at most
/// `limit` steps.
int tree_size(const Expr &e, int limit);

}  // namespace calotype::internal::ends
