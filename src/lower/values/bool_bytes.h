// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stored conditions, combined as the bytes that they are. Helper of narrow_lanes.
#pragma once

#include "ir/stmt_nodes.h"

namespace calotype::internal {

/// Bytes of memory that conditions alone are stored in are 0 or 1, and so is what bitwise operations make of them:
///
///     g[...] = uint8x16(boolx16(f[...]) && !boolx16(f[...]))       where all stores to f are of conditions
///     ->
///     g[...] = bitwise_and(f[...], bitwise_xor(f[...], x16((uint8)1)))
///
/// Each by itself is compared with 0 first, which with registers for masks goes from one kind of registers to the other.
/// Not in kernels.
Stmt combine_bool_bytes(const Stmt &s);

}  // namespace calotype::internal
