// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Facts about an operation with constant operands: the one table of ranges and alignments, for the
// simplifier, for bounds, and for alignment_of.
#pragma once

#include <functional>

#include "arith/constant_interval.h"
#include "ir/expr.h"

namespace calotype::internal {

/// Of all lanes of an integer.
struct IntegerInfo {
    ConstRange range;
    Alignment alignment;
};

/// What is known of an operand. It is asked about integers, and about nothing else.
using InfoOf = std::function<IntegerInfo(const Expr &)>;

/// What follows for integer e from what is known of its operands, by e's outermost operation alone.
/// Variables, loads and Lets are anything in their type here.
IntegerInfo info_of_operation(const Expr &e, const InfoOf &of);

/// The same where sums, differences and products of integers that do not wrap, and what is chosen among them, have the
/// range that they have over unbounded integers, which may be outside the type: rules add in another order than the user
/// did, and (x + 5) + y, with y from -5 to 0, may be as large as x where no sum of the user's overflows. `of` says the
/// same of operands.
IntegerInfo unbounded_info_of_operation(const Expr &e, const InfoOf &of);
/// Whether the range of e may be outside its type.
bool may_leave_type(const Expr &e);
/// What is known of a value that fits its type.
IntegerInfo fitted_to(const IntegerInfo &unbounded, Type t);

}  // namespace calotype::internal
