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
/// Of a sum the parts that move are one value: `x + a*b - c` is `x.invariant + x`, with `x.invariant = a*b - c`. A part
/// that a let has named is taken as it stands there, so that equal sums stay equal however they are written: the values
/// that move out of a kernel are parameters of it, of which the compiler behind this one cannot know how they are related.
///
/// What moves is total (division by zero has a value), so it may run although the loop does not.
/// Loads stay, as the compiler behind this one moves those that it can; so do vectors that are broadcasts or ramps of
/// scalars, whose scalars move. But where each iteration computes a function (exp, sin, ...) of what it reads and the
/// loop does not write, reads and functions move in front of a loop that runs at all: such functions have branches,
/// which the compiler behind this one leaves in the loop.
///
///     for x in [0, n) {                        if 0 < n {
///       f[x] = g[x] * exp(k[3])           ->     let x.invariant = exp(k[3])
///     }                                          for x in [0, n) { f[x] = g[x] * x.invariant }
///                                              }
///
/// Values that leave a GPU loop are computed on the host and become arguments of the kernel. Out of a loop over threads, or
/// blocks within blocks, nothing moves: it is computed as often, for all threads, whether they need
/// it or not, and holds a register meanwhile.
///
/// Requires: flat storage, no likely().
/// Establishes: nothing that other passes rely on.
/// Order: after simplify_late, which would put back what is used once; before offload_kernels.
Stmt hoist_loop_invariants(const Stmt &s, LowerContext &ctx);

}  // namespace calotype::internal
