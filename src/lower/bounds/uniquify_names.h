// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// uniquify_names: renames lets and loops so that no two have the same name.
#pragma once

#include "lower/context.h"

namespace calotype::internal {

///     for x: {let t = 1: a(t)}          for x: {let t = 1: a(t)}
///     for x: {let t = 2: b(t)}    ->    for x$1: {let t$1 = 2: b(t$1)}
///
/// Requires: nothing.
/// Establishes: no two LetStmts, Lets or loops of the statement have the same name; ctx.loops knows
///     the new loops.
/// Order: after everything that looks names::... up by name, before passes that move code.
Stmt uniquify_names(const Stmt &s, LowerContext &ctx);

}  // namespace calotype::internal
