// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// prune_branches: removes branches that an enclosing condition excludes.
#pragma once

#include "lower/context.h"

namespace calotype::internal {

/// A condition on parameters that one around it has decided is gone. Func and consumer that are
/// both specialized for the same thing have it twice:
///
///     if (p) {                                   if (p) {
///       if (p) { A } else { B }           ->       A
///     } else {                                   } else {
///       if (p) { A } else { B }                    B
///     }                                          }
///
/// A Select that asks for the same in the body of such a branch is the value that it has there.
///
/// Requires:    nothing.
/// Establishes: nothing.
/// Order: first after the nest is built. Loops that never run here, such as those of a device in
///     the host's branch, must not meet the checks that follow.
Stmt prune_branches(const Stmt &s, LowerContext &ctx);

}  // namespace calotype::internal
