// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// unroll_loops: replaces unrolled loops by one copy of the body for each iteration.
#pragma once

#include "ir/stmt_nodes.h"
#include "lower/context.h"

namespace calotype::internal {

/// A copy of the body for each iteration.
///
///     unrolled for x in [a, a + 3) {                    f[a] = a
///       f[x] = x                                ->      f[a + 1] = a + 1
///     }                                                 f[a + 2] = a + 2
///
/// An extent that is not constant is a CompileError, as are more than 65536 copies of a body.
///
/// Short serial loops of the host that choose by their variable, as a mux does, are unrolled, too, if
/// what is chosen is together at most twice as large as the loop's body.
///
/// Requires: extents are simplified, and constant where something bounds them (bound_loop_extents).
/// Establishes: no For of ForType::Unrolled.
/// Order: after simplification, which makes extents constant; before loops are vectorised, so that
///     the copies become vectors too.
Stmt unroll_loops(const Stmt &s, LowerContext &ctx);

}  // namespace calotype::internal
