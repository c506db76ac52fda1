// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integers of 64 bits in lanes of 32. Helper of narrow_lanes.
#pragma once

#include "ir/stmt_nodes.h"

namespace calotype::internal {

/// Sums, products and quotients of vectors of 64 bits, in whose making no value leaves int32, are made in int32:
/// of which a register has twice as many, and machines have all the operations.
///
///     int16x8((int64x8(a) * x8(3) + x8(32768)) / x8(65536))     with a int16x8
///     ->
///     int16x8((int32x8(a) * x8(3) + x8(32768)) / x8(65536))
///
/// Where the result is taken as something other than an integer of 64 bits. Not in kernels, nor what is reduced
/// across lanes.
Stmt narrow_long_lanes(const Stmt &s);

}  // namespace calotype::internal
