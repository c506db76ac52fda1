// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// add_atomic_mutex: adds locks to atomic updates that no single instruction can make.
#pragma once

#include "ir/stmt_nodes.h"
#include "lower/context.h"

namespace calotype::internal {

/// Atomic updates of several values, or of a value that depends on other elements, hold a lock.
///
///     realize f { parallel for r { atomic f { f(i) = {...f(i)[1]..., ...} } } }
///     ->
///     realize f {
///       allocate f.mutex (calotype_mutex_array_create)
///       parallel for r { atomic f mutex f.mutex { f(i) = {...f(i)[1]..., ...} } }
///     }
///
/// Locks are shared: element i takes number i modulo 1024. Outside of parallel loops nothing needs
/// one.
///
/// Requires: multi-dimensional storage, tuples not split.
/// Establishes: an Atomic without mutex holds one store `f[i] = g(f[i])`. lower_atomics turns
///     those with one into calls of lock and unlock.
/// Order: before split_tuples, after which several stores would have to be recognised as one
///     update.
Stmt add_atomic_mutex(const Stmt &s, LowerContext &ctx);

/// How many locks there are for a Func.
constexpr int atomic_mutexes = 1024;

}  // namespace calotype::internal
