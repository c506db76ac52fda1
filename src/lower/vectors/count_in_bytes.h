// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums of choices between narrow numbers. Helper of accumulate_lanes.
#pragma once

#include "ir/stmt_nodes.h"

namespace calotype::internal {

/// Lanes for which a condition on bytes or 16-bit values holds are counted as bytes, of which instructions add up eight,
/// and which the comparison has made already:
///
///     vector_reduce(add, select(a == b, x32(1), x32(0)), 1)      with a, b uint8x32
///     ->
///     vector_reduce(add, int32x32(select(a == b, x32((uint8)1), x32((uint8)0))), 1)
///
/// What is left out of a sum of narrow values is left out before they are made wide, so that instructions for such sums serve
/// for the last lanes of a row, too:
///
///     vector_reduce(add, select(m, int32x32(a), x32(0)), 1)          with a uint8x32, m a condition on bytes or lane numbers
///     ->
///     vector_reduce(add, int32x32(select(m, a, x32((uint8)0))), 1)
///
/// Not in kernels.
Stmt count_in_bytes(const Stmt &s);

}  // namespace calotype::internal
