// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// unmask_storage: vectors of small storage are stored whole where one mask is that of all stores.
#pragma once

#include "ir/stmt_nodes.h"
#include "lower/context.h"

namespace calotype::internal {

/// Of lanes that no store writes nobody knows anything, so that they may be written, too:
///
///     allocate f[float32, 4] in stack                 allocate f[float32, 4] in stack
///     f[ramp(0, 1, 4) if m] = 0                   ->  f[ramp(0, 1, 4)] = 0
///     for r { f[ramp(0, 1, 4) if m] =                 for r { f[ramp(0, 1, 4)] =
///         f[ramp(0, 1, 4) if m] + g[... if m] }           f[ramp(0, 1, 4)] + g[... if m] }
///
/// Then they are registers. A masked store is memory, which a whole load after it has to wait for, and what is found in the
/// other lanes may be numbers that processors are slow with.
///
/// Only of storage whose vectors have constant places, each written with one mask that is known before it is allocated.
/// Updates with other masks, as of the last lanes of a reduction, are stored whole with what was there:
///
///     f[ramp(0, 1, 4) if m] = f[ramp(0, 1, 4) if m] + v
///     ->  f[ramp(0, 1, 4)] = select(m, f[ramp(0, 1, 4)] + v, f[ramp(0, 1, 4)])
///
/// Requires: vector code.
/// Establishes: nothing that other passes rely on.
/// Order: after partition_loops, whose steady states have no masks; before the passes that look for what a loop adds to,
///     which take vectors without masks.
Stmt unmask_storage(const Stmt &s, LowerContext &ctx);

}  // namespace calotype::internal
