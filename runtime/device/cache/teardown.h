// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Taking modules out of service: first under the lock, then, without it, callbacks and the driver.
#pragma once

#include "runtime/device/cache/callbacks.h"

namespace calotype::runtime {

/** Entries of one context that only the caller can tear down, newest first. */
struct TeardownList {
    calotype_entry *first = nullptr, *last = nullptr;
    uint32_t count = 0;

    void add(calotype_entry &entry);
};

/** Whether someone holds it. Afterwards warm initializes come to the lock, until the entry is
 * unwatched, so an answer of no stays true while the lock is held. */
bool is_held(calotype_entry &entry);
/** Whether there is a reason to look at every finalize. */
bool is_to_be_watched(const calotype_entry &entry);
/** Make a ready entry tearing, held or not. */
void begin_teardown(calotype_entry &entry, ThreadBlock &me, TeardownList &victims);
/** The same, unless it is held. */
bool take_if_idle(calotype_entry &entry, ThreadBlock &me, TeardownList &victims);

/** Teardowns, unloads, and the end of the entries. The first error of a teardown is described in
 * this thread's last error, and returned. While a stream of the context is captured nothing of it
 * is done: the victims are ready again, and CALOTYPE_E_CAPTURE is returned. At exit what is held
 * stays loaded. Called without the lock. */
calotype_status tear_down(ContextState &context, TeardownList &victims, calotype_reason reason,
                          void *user_context, ThreadBlock &me);

/** Unload what is loaded; without the driver just forget. What launches read stays as it is: a
 * forced release may meet one of another thread. */
void unload_module(ContextState &context, const DeviceScope &scope, LoadedModule &module,
                   bool has_driver);

// Which modules go when there are too many.

/** Take idle modules out of service until the context is within its limits, and those that wait
 * for being idle. If all are held, finalizes will ask again. The lock is held. */
void choose_victims(ContextState &context, ThreadBlock &me, TeardownList &victims);
/** Tear them down. Those that cannot go because of a capture go with one of the next finalizes. */
calotype_status tear_down_chosen(ContextState &context, TeardownList &victims, void *user_context,
                                 ThreadBlock &me);
/** Unload idle modules until the rest has at most `target` bytes; adds to *freed how many went. */
calotype_status evict_idle(ContextState &context, uint64_t target_bytes, void *user_context,
                           ThreadBlock &me, uint64_t *freed);

}  // namespace calotype::runtime
