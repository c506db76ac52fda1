// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Time, and waiting that ends with it.
#pragma once

#include <unistd.h>

#include "runtime/host/sync.h"

namespace calotype::runtime {

/** Of a clock that only goes forward. */
uint64_t now_ns();

constexpr uint64_t no_deadline = UINT64_MAX;
inline uint64_t deadline_after_ms(uint32_t ms) {
    return now_ns() + uint64_t(ms) * 1000000u;
}

/** Sleep while `word` holds `expected`, until woken or until now_ns() reaches the deadline. May
 * return early. */
void futex_wait_until(const FutexWord &word, uint32_t expected, uint64_t deadline_ns);

/** Where nobody wakes: ask until is_done() or now_ns() reaches the deadline, at once at first, then
 * every 50 us. */
template<typename IsDone>
void poll_until(uint64_t deadline_ns, IsDone is_done) {
    constexpr unsigned longest_us = 50;
    for (unsigned pause_us = 1; !is_done() && now_ns() < deadline_ns;) {
        usleep(pause_us);
        pause_us = 2 * pause_us < longest_us ? 2 * pause_us : longest_us;
    }
}

}  // namespace calotype::runtime
