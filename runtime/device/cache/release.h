// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The common part of all ways in which a context ends: by release, by loss, with the process. The
// lock is held in all of these.
#pragma once

#include "runtime/device/cache/kernel_cache.h"
#include "runtime/device/cache/teardown.h"

namespace calotype::runtime {

/** An entry that is on its way in or out; null if there is none. */
calotype_entry *moving_entry(const ContextState &context);
bool is_any_held(const ContextState &context);
/** While a release waits, holds that come and go take the lock. */
void watch_for_release(ContextState &context, bool awaited);
/** Take all that is loaded out of service, held or not. */
void take_ready(ContextState &context, ThreadBlock &me, TeardownList &victims);
/** Forget the errors of what did not load. */
void drop_failed(ContextState &context);

}  // namespace calotype::runtime
