// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/device/cache/fences.h"

#if defined(__linux__)
#include <errno.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#if defined(__SANITIZE_THREAD__) && !defined(__clang__)
// It knows no fences, but needs none either to know what happens before what.
#pragma GCC diagnostic ignored "-Wtsan"
#endif

namespace calotype::runtime {

constinit std::atomic<bool> fences_are_asymmetric{false};

#if defined(__linux__)
static bool ask_system(int command) {
    return syscall(SYS_membarrier, command, 0u, 0) == 0;
}
static bool register_process() {
    return ask_system(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
}
static bool drain_all() {
    return ask_system(MEMBARRIER_CMD_PRIVATE_EXPEDITED) ||
           (register_process() && ask_system(MEMBARRIER_CMD_PRIVATE_EXPEDITED));
}
/** As this code is loaded, which mostly is before there are threads: the first registration of a
 * process costs a microsecond then, and 6 to 8 ms where the threads of a driver run. */
__attribute__((constructor)) static void register_early() {
    const int before = errno;
    register_process();
    errno = before;
}
#else
static bool register_process() {
    return false;
}
static bool drain_all() {
    return false;
}
#endif

void heavy_fence() {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (fences_are_asymmetric.load(std::memory_order_relaxed) && !drain_all()) {
        // The system took back what it allowed, as when a sandbox closes: light fences cost
        // from now on, and what others have stored until now has long left their processors afterwards.
        fences_are_asymmetric.store(false, std::memory_order_seq_cst);
#if defined(__linux__)
        usleep(1000);
#endif
    }
}

void choose_fences(bool may_be_asymmetric) {
    fences_are_asymmetric.store(may_be_asymmetric && register_process(), std::memory_order_seq_cst);
}

}  // namespace calotype::runtime
