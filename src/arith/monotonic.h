// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Monotonicity: the change of an expression when a variable grows by one.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>

#include "arith/constant_interval.h"
#include "arith/simplify.h"
#include "ir/expr.h"
#include "support/scope.h"

namespace calotype::internal {

enum class Monotonic : uint8_t {
    Constant,    ///< the same for all values of the variable
    Increasing,  ///< never smaller for a larger value
    Decreasing,  ///< never larger for a larger value
    Unknown,
};

/// The range of e(var + 1) - e(var) over all values of all variables, and over the lanes of e.
/// Bools count as 0 and 1; of floats only the sign is known. `others` gives the same for variables
/// that themselves change with `var` (lets). Sound where narrow types wrap: what may wrap has no
/// bound.
ConstantInterval
derivative_bounds(const Expr &e, const std::string &var,
                  const Scope<ConstantInterval> &others = Scope<ConstantInterval>());

/// e(var + 1) - e(var) itself, simplified: no step where it still depends on var.
Expr step_of(const Expr &e, const std::string &var, const SimplifyContext &context = {});
/// The same if it is one constant for all values of all variables.
std::optional<int64_t> constant_step_of(const Expr &e, const std::string &var,
                                        const SimplifyContext &context = {});

/// A promise that a value is within a range does not count for monotonic: it may not hold for the
/// ends of a loop that bounds are inferred from.
Monotonic is_monotonic(const Expr &e, const std::string &var,
                       const Scope<ConstantInterval> &others = Scope<ConstantInterval>());

/// The expression with what is promised in the place of promises.
Expr without_promises(const Expr &e);

std::ostream &operator<<(std::ostream &out, Monotonic m);

}  // namespace calotype::internal
