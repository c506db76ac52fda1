// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// lower_prefetches: turns prefetches of regions into loops over cache lines.
#pragma once

#include "lower/context.h"

namespace calotype::internal {

/// A Prefetch becomes loops with one access a cache line, the first dimension taken to be dense.
/// Lines outside of the buffer are left out as the strategy says.
///
///     prefetch im([x, 100]):float32 bound clamp { ... }
///     ->
///     for (im.prefetch.0, 0, (last - first + 1 + 15) / 16) {      first, last: x and x + 99, clamped
///       prefetch(im, (first + im.prefetch.0*16)*im.stride.0 - ...)
///     }
///     ...
///
/// Requires:    flatten_storage, by which buffers have addresses.
/// Establishes: no Prefetch.
/// Order:       right after flatten_storage: later passes know loops and addresses alone.
Stmt lower_prefetches(const Stmt &s, LowerContext &ctx);

}  // namespace calotype::internal
