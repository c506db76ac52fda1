// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Asymmetric fences, for two threads that each write a word and then read the other's: at least one
// of them sees what the other wrote if one uses the light fence and the other the heavy one. Where
// the system can, the light fence orders what the compiler does and no more, and the heavy fence
// makes every processor that runs a thread of this process drain its stores (membarrier, a few us).
#pragma once

#include <atomic>

namespace calotype::runtime {

/** Whether the light fence may be free. */
extern std::atomic<bool> fences_are_asymmetric;

/** For the side that runs millions of times a second. */
inline void light_fence() {
    if (fences_are_asymmetric.load(std::memory_order_relaxed)) {
        std::atomic_signal_fence(std::memory_order_seq_cst);
    } else {
        std::atomic_thread_fence(std::memory_order_seq_cst);
    }
}
/** For the other side. */
void heavy_fence();

/** Asymmetric ones if the system has them; false: two that cost the same, for tests. Whoever uses
 * the heavy fence holds the same lock as the caller, now or at some time before. */
void choose_fences(bool may_be_asymmetric);

}  // namespace calotype::runtime
