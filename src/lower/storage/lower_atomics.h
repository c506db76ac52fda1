// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// lower_atomics: turns atomic updates of private memory into plain ones, and mutexes into calls.
#pragma once

#include "ir/stmt_nodes.h"
#include "lower/context.h"

namespace calotype::internal {

/// An Atomic around stores that no other thread can meet, since they stand outside of parallel
/// loops or are to storage made in the same iteration, is removed. Others stand around each store to
/// what is updated alone, not around what is computed for it, which no other thread meets. Their
/// mutexes are locked and unlocked around the whole update: what is computed before stays outside of
/// the lock.
///
///     parallel for i in [0, n) {
///       atomic f mutex f.mutex { f[g[i]] = ... }
///     }
///     ->
///     parallel for i in [0, n) {
///       let f.mutex.index = g[i] % 1024
///       calotype_mutex_array_lock(f.mutex, f.mutex.index)
///       f[g[i]] = ...
///       calotype_mutex_array_unlock(f.mutex, f.mutex.index)
///     }
///
/// Requires: flat storage, no vectorised loops.
/// Establishes: each Atomic is around one store that several threads can meet, and has no mutex.
/// Order: after vectorize_loops, which makes reductions of atomic updates, and needs to see that
///     they are such.
Stmt lower_atomics(const Stmt &s, LowerContext &ctx);

}  // namespace calotype::internal
