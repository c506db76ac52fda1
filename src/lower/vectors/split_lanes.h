// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// split_lanes: computes lanes that alternate by themselves where that is less work.
#pragma once

#include "ir/stmt_nodes.h"
#include "lower/context.h"

namespace calotype::internal {

/// Values whose lanes alternate, as upsampling and filters with two phases have them, are computed
/// as two vectors of half as many lanes, which meet in one shuffle at the end; those that go round
/// in three or four phases as three or four.
///
///     interleave(a, b) * x16(3) + interleave(b, c)     ->      interleave(a * x8(3) + b, b * x8(3) + c)
///
///     select(ramp(x, 1, 16) % x16(2) == x16(0), u, v)  ->      interleave(select(x8(x % 2 == 0), even lanes of u, of v),
///                                                                         select(x8((x + 1) % 2 == 0), odd lanes of u, of v))
///
/// What is the same in several phases is computed once. Whether it is less work is counted in
/// operations on the target's registers.
///
/// Requires: vector code, simplified.
/// Establishes: nothing that other passes rely on.
/// Order: after the last flatten_ramps, which finds what alternates; before simplify_late, which
///     names what phases share. Not in kernels.
Stmt split_lanes(const Stmt &s, LowerContext &ctx);

}  // namespace calotype::internal
