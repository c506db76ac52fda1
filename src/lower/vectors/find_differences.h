// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// find_differences: choices between a difference and its negative.
#pragma once

#include "ir/stmt_nodes.h"
#include "lower/context.h"

namespace calotype::internal {

/// Of vectors, what is chosen by its sign is the operation that machines have for it:
///
///     select(a < b, b - a, a - b)      with a, b uint8x32
///     ->
///     absd(a, b)
///
///     select(a < b, int32x8(b) - int32x8(a), int32x8(a) - int32x8(b))      with a, b int16x8
///     ->
///     int32x8(abs(int32x8(a) - int32x8(b)))
///
/// Requires: vector code, simplified.
/// Establishes: nothing that other passes rely on.
/// Order: before narrow_lanes, which decides in how many bits differences are computed.
Stmt find_differences(const Stmt &s, LowerContext &ctx);

}  // namespace calotype::internal
