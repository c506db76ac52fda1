// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// settle_choices: makes a loop for each answer of a condition that no iteration changes.
#pragma once

#include "ir/stmt_nodes.h"
#include "lower/context.h"

namespace calotype::internal {

/// A select computes both of its values. Where the condition is the same in all iterations of the innermost loop,
/// and much of the loop is only for what one of them chooses, there is a loop for each answer:
///
///     for x in [0, n) {                              if (wide) {
///       f[x] = select(wide, blur7(x), blur3(x))        for x in [0, n) { f[x] = blur7(x) }
///     }                                         ->   } else {
///                                                      for x in [0, n) { f[x] = blur3(x) }
///                                                    }
///
/// Where that would be too much code for what it saves, values that take long become those of if_then_else, which
/// is a branch: it goes the same way in all iterations. Kernels stay as they are: both versions would share the
/// registers.
///
/// Requires: flat storage, no likely().
/// Establishes: nothing that other passes rely on.
/// Order: after hoist_loop_invariants, which gives conditions that do not change a name; before share_functions,
/// so that a function that only one value needs is not computed in front of the choice.
Stmt settle_choices(const Stmt &s, LowerContext &ctx);

}  // namespace calotype::internal
