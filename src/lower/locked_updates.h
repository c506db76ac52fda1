// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Atomic updates with a mutex, as passes of the user see them.
#pragma once

#include "ir/stmt_nodes.h"
#include "lower/context.h"

namespace calotype::internal {

/// From the call that locks a mutex to that which unlocks it, an Atomic that names the mutex:
///
///     calotype_mutex_array_lock(f.mutex, i)
///     f.0[...] = ...
///     calotype_mutex_array_unlock(f.mutex, i)
///     ->
///     atomic f mutex f.mutex {
///       calotype_mutex_array_lock(f.mutex, i)
///       f.0[...] = ...
///       calotype_mutex_array_unlock(f.mutex, i)
///     }
Stmt mark_locked_updates(const Stmt &s, const LowerContext &ctx);

/// Takes them away again: the calls are what code is made of.
Stmt unmark_locked_updates(const Stmt &s);

}  // namespace calotype::internal
