// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// narrow_lanes: computes integers of 32 bits in 16 where all values fit, and of 64 in 32.
#pragma once

#include "ir/stmt_nodes.h"
#include "lower/context.h"

namespace calotype::internal {

/// Sums, products, quotients, choices and shuffles whose values are known to fit 16 bits are
/// computed in lanes of 16 bits, of which a register holds twice as many, where that is less work:
///
///     uint8x32((int32x32(a) * x32(3) + int32x32(b)) / x32(4))     with a, b uint8x32
///     ->
///     uint8x32((uint16x32(a) * x32(3) + uint16x32(b)) / x32(4))
///
/// What does not fit, as the sum of two 16-bit values, is halved as it is:
///
///     int16x16((int32x16(c) + int32x16(d)) / x16(2))              with c, d int16x16
///     ->
///     halving_add(c, d)
///
/// A sum that is saturated to the type of what is added is a saturating sum of that, and a rounded
/// product of fractions the one operation that it has:
///
///     saturating_cast(uint32x16(a) + uint32x16(b)):uint16x16      with a, b uint16x16
///     ->
///     saturating_add(a, b)
///
/// Stored conditions are combined as bytes (values/bool_bytes.h).
///
/// Integers of 64 bits in whose making no value leaves int32 are made in that before (narrow_long_lanes.h).
///
/// Only what is made of constants and of narrow integers; not indices, and not what is reduced
/// across lanes, for which there are instructions that add up products in 32 bits.
///
/// Requires: vector code, simplified.
/// Establishes: nothing that other passes rely on.
/// Order: before split_lanes, which counts registers; after partition_loops, in whose steady states
///     values are free of what the edges of images add to them. Not in kernels.
Stmt narrow_lanes(const Stmt &s, LowerContext &ctx);

}  // namespace calotype::internal
