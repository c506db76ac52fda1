// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tile registers are large, so Linux saves those of a process only if it has asked
// (Documentation/arch/x86/xstate.rst).
#include "runtime/abi/matrix_tiles.h"
#include "runtime/abi/errors.h"
#include "runtime/abi/hooks.h"
#include "runtime/host/weak.h"

#include <atomic>

#if defined(__x86_64__) && defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace {

bool request() {
#if defined(__x86_64__) && defined(__linux__)
    constexpr long request_permission = 0x1023, tile_data = 18;
    return syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
#else
    return false;
#endif
}

}  // namespace

CALOTYPE_WEAK int calotype_request_matrix_tiles(void *user_context) {
    static constinit std::atomic<bool> is_granted{false};
    if (is_granted.load(std::memory_order_relaxed)) {
        return 0;
    }
    if (!request()) {
        calotype_error(user_context, "the system does not grant the use of matrix tile registers "
                                     "(AMX): that takes a processor with them, and Linux 5.16");
        return calotype_error_code_unimplemented;
    }
    is_granted.store(true, std::memory_order_relaxed);
    return 0;
}
