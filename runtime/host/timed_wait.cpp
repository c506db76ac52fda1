// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/host/timed_wait.h"

#include <time.h>
#include <unistd.h>

#if defined(__linux__)
#include <linux/futex.h>
#include <sys/syscall.h>
#else
#include <sched.h>
#endif

namespace calotype::runtime {

uint64_t now_ns() {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return uint64_t(t.tv_sec) * 1000000000u + uint64_t(t.tv_nsec);
}

void futex_wait_until(const FutexWord &word, uint32_t expected, uint64_t deadline_ns) {
    if (deadline_ns == no_deadline) {
        futex_wait(word, expected);
        return;
    }
    const uint64_t now = now_ns();
    if (now >= deadline_ns) {
        return;
    }
#if defined(__linux__)
    struct timespec left;
    left.tv_sec = time_t((deadline_ns - now) / 1000000000u);
    left.tv_nsec = long((deadline_ns - now) % 1000000000u);
    syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, &left, nullptr, 0);
#else
    sched_yield();
#endif
}

}  // namespace calotype::runtime
