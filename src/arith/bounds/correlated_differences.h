// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bounds of sums and differences whose operands move together.
#pragma once

#include "arith/bounds.h"

namespace calotype::internal {

/// How a variable, by an occurrence of it, moves an expression when it grows; as bits.
enum Movement : int { Up = 1, Down = 2, Either = Up | Down };

/// The directions of all occurrences, by variable.
using Directions = std::map<std::string, int>;

/// Of the variables of e; nothing if e is large. A direction of Either may be known no better.
Directions variable_directions(const Expr &e);

/// As bounds_of_expr, but where e is monotonic in a variable of `vars` that pulls it both ways, its
/// ends come from the ends of that variable: for x in [a, b],  x - x / 2  is in [a - a / 2, b - b /
/// 2], not in [a - b / 2, b - a / 2].
Interval bounds_of_correlated(const Expr &e, const Scope<Interval> &vars,
                              const FuncValueBounds &funcs = {});

/// True if e is small and some variable of `vars` occurs in it so that, taken by themselves, one
/// occurrence makes e larger and another one smaller (or it is not clear): only then
/// bounds_of_correlated can do better than bounds_of_expr.
bool has_opposed_variable(const Expr &e, const Scope<Interval> &vars);

/// An int32 or int64 sum with equal terms taken together, so that those that add up to nothing are
/// gone; anything else as it is. The simplifier may rewrite such terms where they stand, each in
/// another way, before it can see that they are the same.
Expr cancel_like_terms(const Expr &e);

}  // namespace calotype::internal
