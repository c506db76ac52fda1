// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// split_quotients: takes multiples of a loop's variable out of quotients and remainders.
#pragma once

#include "ir/stmt_nodes.h"
#include "lower/context.h"

namespace calotype::internal {

/// Where a loop's variable is a multiple of the divisor in what is divided, what is left does not change in the loop:
///
///     for x in [0, n) {                        for x in [0, n) {
///       let c = x*4 + base               ->      let c = x*4 + base
///       f[c] = g[c/2] + g[(c + 1)/2]             f[c] = g[base/2 + x*2] + g[(base + 1)/2 + x*2]
///     }                                        }
///
/// The simplifier does so within an expression. Here lets of the loop's body are looked through, which it leaves
/// where they are used more than once.
///
/// Requires: flat storage, no likely().
/// Establishes: nothing that other passes rely on.
/// Order: after simplify_late, which makes the last of these lets; before hoist_loop_invariants, which moves what is
/// left in front of the loop.
Stmt split_quotients(const Stmt &s, LowerContext &ctx);

}  // namespace calotype::internal
