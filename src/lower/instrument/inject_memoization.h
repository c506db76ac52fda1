// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// inject_memoization: what is in the cache is not computed.
#pragma once

#include "lower/context.h"

namespace calotype {

/// The production of a memoized Func is computed, and entered in the cache, only where a lookup does not find it.
///
///     realize f {                                       realize f {
///       produce f {...}                                   produce f { if (f.memoized.lookup == 1) {...; store in the cache} }
///       consume f {...}                          ->       consume f {...}
///     }                                                 }
///
/// The lookup and its result are made with the storage, by flatten_storage, since the cache owns the storage.
/// memoize_tag(e, ...) becomes e. A memoized output is computed as usual: its storage is the caller's.
///
/// Requires:    the nest of build_nest.
/// Establishes: no memoize_expr.
/// Order:       right after build_nest: everything else that is done to the production is inside of the condition.
Stmt inject_memoization(const Stmt &s, LowerContext &ctx);

}  // namespace calotype
