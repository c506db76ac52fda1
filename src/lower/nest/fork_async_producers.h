// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// fork_async_producers: runs async producers in parallel with their consumers.
#pragma once

#include "lower/context.h"

namespace calotype::internal {

/// The production of an async Func, and its consumption, become two tasks within its storage.
///
///     realize g { for y { produce g {...}; consume g {...} } }
///     ->
///     realize g {
///       let g.semaphore = alloca(...); calotype_semaphore_init(g.semaphore, 0)
///       fork {
///         for y { produce g {...}; calotype_semaphore_release(g.semaphore, 1) }
///       } and {
///         for y { acquire(g.semaphore, 1) { consume g {...} } }
///       }
///     }
///
/// Where the storage is hoisted out of loops, the tasks have these loops as well, and the producer
/// waits until the consumer is done with a copy of the storage. There is one, or as many as
/// ring_buffer says: iteration i uses copy i % n, by a further dimension of the storage.
///
/// Where storage is folded, fold_storage has put the loop's body into an Acquire of room in it and
/// the release of what no later iteration reads: the producer takes the first, the consumer gives
/// the second.
///
/// Storage in GPUSharedAsync is not hoisted: pipeline_async_copies makes the ring, outside of the
/// loop that fills it.
///
/// Storage of a memoized Func is the cache's, one a lookup: it is neither hoisted nor has copies.
///
/// A Func whose storage is not used again is waited for where it is read first; what is computed
/// before, and other async Funcs, need not wait.
///
/// Other Funcs whose storage is inside, and that both sides need, are computed by both; each has its
/// own storage, also where that is hoisted out of the fork.
///
/// Requires:    Func-level storage; sliding and folding are done.
/// Establishes: Fork and Acquire nodes; no Func is async any more.
/// Order: after passes that reason about the order of iterations; before split_tuples, which sees
///     one storage as several.
Stmt fork_async_producers(const Stmt &s, LowerContext &ctx);

/// The statement that gives n places in the folded storage of an async Func back.
Stmt release_places(const std::string &func, const Expr &n);

}  // namespace calotype::internal
