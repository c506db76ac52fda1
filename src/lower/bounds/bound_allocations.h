// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// bound_allocations: computes the extents of the storage of each realization.
#pragma once

#include "lower/context.h"

namespace calotype::internal {

///     realize g([g.min_realized.0, g.extent_realized.0]) {...}   ->
///         let g.min_realized.0 = f.s0.x
///         let g.extent_realized.0 = 2
///         realize g(...) {...}
///
/// Requires: all regions of stages are defined (infer_bounds), windows already slid.
/// Establishes: names::realized_min/extent are defined around every Realize: the box of everything
///     that its body touches. Where bound_storage fixes an extent it is that one, checked to be
///     enough.
/// Order: after slide_windows, which changes what is computed where, and before storage is
///     flattened.
Stmt bound_allocations(const Stmt &s, LowerContext &ctx);

}  // namespace calotype::internal
