// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// share_functions: what several stores compute by the same function of the same values is computed once.
#pragma once

#include "ir/stmt_nodes.h"
#include "lower/context.h"

namespace calotype::internal {

/// Of stores that follow each other, such as those of an unrolled loop, functions of the same values share a name.
///
///     f[x*2] = pow(g[x], a) + 1            let x.shared = pow(g[x], a)
///     f[x*2 + 1] = pow(g[x], a) * 2   ->   f[x*2] = x.shared + 1
///                                          f[x*2 + 1] = x.shared * 2
///
/// Functions of one kind that do not need each other, as those of the channels of a pixel, also within one store
/// or in lets in front of a loop, become lanes of one, of which they are taken out:
///
///     f[x*3] = exp(g[x*3])                 let x.lanes = exp(concat(g[x*3], g[x*3 + 1], g[x*3 + 2], g[x*3 + 2]))
///     f[x*3 + 1] = exp(g[x*3 + 1])    ->   f[x*3] = extract(x.lanes, 0)
///     f[x*3 + 2] = exp(g[x*3 + 2])         ...
///
/// The back end would not find them: most of these functions become branches there. What is shared reads no
/// memory that the stores write, and is not chosen by if_then_else; a whole if_then_else is shared as a function is.
///
/// No function of the same values is left to be computed once as a lane and once by itself: around it the back end
/// may contract other products and sums, and values that are compared for being equal would differ in their last bits.
/// So lets within the value of a let stand in front of it before.
///
/// Requires: flat storage, no likely().
/// Establishes: nothing that other passes rely on.
/// Order: after hoist_loop_invariants, which leaves what changes with the loop; before offload_kernels.
Stmt share_functions(const Stmt &s, LowerContext &ctx);

}  // namespace calotype::internal
