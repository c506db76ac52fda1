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

}  // namespace calotype::internal
