// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Time, and waiting that ends with it.
#pragma once

#include "runtime/host/sync.h"

namespace calotype {
namespace runtime {

/** Of a clock that only goes forward. */
uint64_t now_ns();

constexpr uint64_t no_deadline = UINT64_MAX;
inline uint64_t deadline_after_ms(uint32_t ms) {
    return now_ns() + uint64_t(ms) * 1000000u;
}

/** Sleep while `word` holds `expected`, until woken or until now_ns() reaches the deadline. May
 * return early. */
void wait_on_until(const Word &word, uint32_t expected, uint64_t deadline_ns);

}  // namespace runtime
}  // namespace calotype
