// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hoist_loop_invariants: computes loop-invariant values once, before the loop.
#pragma once

#include "ir/stmt_nodes.h"
#include "lower/context.h"

namespace calotype::internal {

/// Arithmetic that does not depend on the loop moves in front of it; equal expressions share
/// a name.
///
///     for x in [0, n) {                        let x.invariant = y*stride + offset
///       f[x] = g[y*stride + offset + x]   ->   for x in [0, n) {
///     }                                          f[x] = g[x.invariant + x]
///                                              }
///
/// What moves is total (division by zero has a value), so it may run although the loop does not.
/// Loads stay: the loop may write what they read. So do
/// vectors that are broadcasts or ramps of scalars, whose scalars move. Values that leave a GPU
/// loop are computed on the host and become arguments of the kernel. Out of a loop over threads, or
/// blocks within blocks, nothing moves: it is computed as often, for all threads, whether they need
/// it or not, and holds a register meanwhile.
///
/// Requires: flat storage, no likely().
/// Establishes: nothing that other passes rely on.
/// Order: after simplify_late, which would put back what is used once; before kernels are formed.
Stmt hoist_loop_invariants(const Stmt &s, LowerContext &ctx);

}  // namespace calotype::internal
