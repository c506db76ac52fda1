// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// select_tile_instructions: computes matrix products with tile registers.
#pragma once

#include "lower/context.h"

namespace calotype::internal {

/// Storage in MemoryType::AMXTile becomes tile registers.
///
///     allocate c[int32, 16, 16] in amx_tile          tile_configure(16, 64, 16, 64, ...)
///     vectorized y, x in [0, 16)                     tile_zero(0)
///       c[y*16 + x] = 0                              for k in [0, n) {
///     for k in [0, n)                                  tile_load(1, a, k*64, 256)
///       vectorized y, x in [0, 16), j in [0, 64)  ->   tile_load(2, b, k*1024, 64)
///         c[y*16 + x] += int32(a[y*256 + k*64 + j])    tile_multiply_add(0, 1, 2, ...)
///           * int32(b[k*1024 + j/4*64 + x*4 + j%4])  }
///     vectorized y, x in [0, 16)                     tile_store(0, out, 0, 64)
///       out[y*64 + x] = c[y*16 + x]                  tile_release()
///
/// Where the code does anything else with a tile, it is in memory: stored before that, and loaded
/// after it. A product whose conditions may fail is one where they hold for the whole tile, and
/// plain loops where they do not. Operands that are the same for neighbouring products are loaded
/// once.
///
/// CompileError where nothing is a product of tiles, a sum in tiles is none, they need more
/// registers than there are, or the target has none.
///
/// Requires: flat storage, no unrolled loops.
/// Establishes: no storage in MemoryType::AMXTile.
/// Order: before vectorize_loops, to see rows, columns and depth apart.
Stmt select_tile_instructions(const Stmt &s, LowerContext &ctx);

}  // namespace calotype::internal
