// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/abi/device_context.h"

#include "runtime/host/weak.h"

/** An aligned word never reaches into the next page, so reading it is safe whatever the user
 * context points at, though it may be less than a word. */
__attribute__((no_sanitize("address", "thread"))) static uint64_t first_word(const void *address) {
    return *static_cast<const volatile uint64_t *>(address);
}

CALOTYPE_WEAK const calotype_device_context *calotype_get_device_context(const void *user_context) {
    const uintptr_t address = reinterpret_cast<uintptr_t>(user_context);
    if (address <= 4096 || address % 8 != 0 ||
        first_word(user_context) != CALOTYPE_DEVICE_CONTEXT_MAGIC) {
        return nullptr;
    }
    return static_cast<const calotype_device_context *>(user_context);
}
