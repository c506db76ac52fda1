// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two barriers for two threads that each write a word and then read the other's: at least one of
// them sees what the other wrote. Where the system can, all of the cost is on one side: passing
// orders what the compiler does and no more, gathering makes every processor that runs a thread of
// this process drain its stores (membarrier, a few us).
#pragma once

#include <atomic>

namespace calotype {
namespace runtime {

/** Whether passing may be free. */
extern std::atomic<bool> barriers_are_uneven;

/** On the side that passes millions of times a second. */
inline void barrier_to_pass() {
    if (barriers_are_uneven.load(std::memory_order_relaxed)) {
        std::atomic_signal_fence(std::memory_order_seq_cst);
    } else {
        std::atomic_thread_fence(std::memory_order_seq_cst);
    }
}
/** On the other side. */
void barrier_to_gather();

/** Uneven ones if the system has them; false: even ones, for tests. All who gather hold the same
 * lock as the caller, now or at some time before they gather. */
void choose_barriers(bool may_be_uneven);

}  // namespace runtime
}  // namespace calotype
