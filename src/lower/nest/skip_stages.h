// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// skip_stages: guards stages by the conditions under which this run uses their values.
#pragma once

#include "lower/context.h"

namespace calotype::internal {

/// A Func whose values matter only under a condition that is known where its storage is made is
/// computed only then. Storage that is not even read otherwise is not allocated either.
///
///     realize f(...) {                           realize f(...) {
///       produce f { ... }                   ->     if (p) { produce f { ... } }
///       g(x) = select(p, f(x), 0)                  g(x) = select(p, f(x), 0)
///     }                                          }
///
/// Of a condition of several conjuncts those count that are known there. Of Funcs in common loops
/// each has the condition around its own statements alone.
///
/// A select reads both sides: what f holds must not decide where something is read or stored, or
/// what is called. There only conditions of statements and of if_then_else count.
///
/// A stage of one element and few operations is computed for each element of a loop, where the condition asks data
/// of the element: a branch there costs more, and keeps the loop from becoming one of vectors.
///
/// Requires:    nothing.
/// Establishes: nothing.
/// Order: after the passes that look for a producer in its realization (bounds, sliding windows,
///     folding); while Provides are there.
Stmt skip_stages(const Stmt &s, LowerContext &ctx);

}  // namespace calotype::internal
