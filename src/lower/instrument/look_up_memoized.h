// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// look_up_memoized: computes memoized Funcs only if their values are not in the cache.
#pragma once

#include "ir/stmt_nodes.h"
#include "lower/context.h"

namespace calotype::internal {

/// Memoized Funcs are looked up in the cache of the runtime (runtime/abi/memoization.h), which owns
/// their storage, and are computed and entered if they are not there.
///
///     allocate f {            let f.memoized.lookup = calotype_memoization_cache_lookup(key, ...)
///       produce f {...}  ->   allocate f (what the lookup found or made)
///       consume f {...}       produce f { if (f.memoized.lookup == 1) {...; enter it} }
///     }                       consume f {...}
///
/// Requires: flat storage, which has no buffer headers where a Func is memoized.
/// Establishes: storage of memoized Funcs is the cache's; all names are bound, those of the headers of such storage, too.
/// Order: right after flatten_storage, by which the extents of storage are known; before
///     hoist_storage, since what a cache has is not hoisted.
Stmt look_up_memoized(const Stmt &s, LowerContext &ctx);

/// A memoized output is computed as usual: its storage is the caller's.
bool is_memoized(const Function &f, const LowerContext &ctx);

}  // namespace calotype::internal
