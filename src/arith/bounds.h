// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Interval analysis: the values of an expression, given the ranges of its variables.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "arith/interval.h"
#include "ir/stmt_nodes.h"
#include "support/scope.h"

namespace calotype::internal {

/// What is known of the values of Funcs: (func name, value index) -> range over all coordinates.
using FuncValueBounds = std::map<std::pair<std::string, int>, Interval>;

/// The range of e (over all its lanes; the ends are scalars of e's element type).
///
/// Variables in `vars` range over their interval, each on its own. Other variables stand for
/// themselves and may occur in the ends; with `const_bound` they range over their type instead, so
/// that the ends are constants.
///
/// Sound for wrapping types, any divisor and any intrinsic. Assumes what the language does: no
/// overflow in int32 and int64, and no NaN. An end that cannot be found is missing; of types that
/// wrap, the ends are at worst those of the type.
///
/// The cost is linear in the DAG of e. Where an end would be used often and is large, it is named
/// by a Let.
Interval bounds_of_expr(const Expr &e, const Scope<Interval> &vars,
                        const FuncValueBounds &funcs = {}, bool const_bound = false);

/// All values of a type: constants for bool, 8 and 16 bit integers and unsigned ones, else
/// everything.
Interval bounds_of_type(Type t);

/// The constants that bound integer or bool e; `vars` as in bounds_of_expr. Everything for floats.
ConstantInterval constant_bounds(const Expr &e, const Scope<Interval> &vars = Scope<Interval>());

/// What `vars` becomes inside of code that runs only where `condition` holds: (name, interval) for
/// each variable of `vars` of which something new is learned. The intervals are simplified and free
/// of the variables in `vars`.
std::vector<std::pair<std::string, Interval>>
narrow_by_condition(const Expr &condition, const Scope<Interval> &vars,
                    const FuncValueBounds &funcs = {});

}  // namespace calotype::internal
