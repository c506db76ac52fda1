// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which modules go when there are too many.
#pragma once

#include "runtime/device/cache/teardown.h"

namespace calotype {
namespace runtime {

/** Take idle modules out of service until the context is within its limits, and those that wait
 * for being idle. If all are held, finalizes will ask again. The lock is held. */
void choose_victims(ContextState &context, ThreadBlock &me, TeardownList &victims);
/** Tear them down. Those that cannot go because of a capture go with one of the next finalizes. */
calotype_status tear_down_chosen(ContextState &context, TeardownList &victims, void *user_context,
                                 ThreadBlock &me);
/** Take all idle modules until the rest has at most `target` bytes. The lock is held. */
void choose_idle(ContextState &context, uint64_t target_bytes, ThreadBlock &me,
                 TeardownList &victims);

}  // namespace runtime
}  // namespace calotype
