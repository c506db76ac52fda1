// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// join_reductions: reductions over the same domain that read the same become one loop.
#pragma once

#include "ir/stmt_nodes.h"
#include "lower/context.h"

namespace calotype::internal {

/// Each inlined reduction is a Func with loops of its own. Where two of them that follow each other run over the same domain
/// and load some of the same elements there, as a weighted mean does, one loop updates both, and what both compute is
/// computed once by whoever looks for equal expressions afterwards.
///
///     produce a {                                produce a {
///       a[0] = 0                                   a[0] = 0
///       for r in [0, n) {                        }
///         a[0] = a[0] + w(r)*g[r]                consume a {
///       }                                          produce b {
///     }                                              b[0] = 0
///     consume a {                           ->       for r in [0, n) {
///       produce b {                                    a[0] = a[0] + w(r)*g[r]
///         b[0] = 0                                     b[0] = b[0] + w(r)
///         for r in [0, n) {                          }
///           b[0] = b[0] + w(r)                     }
///         }                                        ...
///       } ...
///
/// Nests of loops that have the same bounds, one by one, and whose stores are to places which the outermost loop does not
/// change; no more than a few of them, as each takes a register. Neither needs the other, nor does what stands between
/// them.
///
/// Requires: flat storage.
/// Establishes: nothing that other passes rely on.
/// Order: before loops are unrolled or partitioned, after which the two no longer look the same.
Stmt join_reductions(const Stmt &s, LowerContext &ctx);

}  // namespace calotype::internal
