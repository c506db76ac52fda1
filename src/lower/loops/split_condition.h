// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The parts of a condition that do not depend on a variable. Helper of steady_state.
#pragma once

#include <string>

#include "ir/expr.h"

namespace calotype::internal {

/// Both together are the condition.
struct SplitCondition {
    Expr fixed;   ///< without the variable
    Expr moving;  ///< the rest
};

///     a <= min(i + b, c)        a <= c, and a <= i + b
///
/// where `var` is i. What is not a conjunction, or a comparison with a smallest or largest value in
/// it, is not taken apart.
SplitCondition split_condition(const Expr &condition, const std::string &var);

}  // namespace calotype::internal
