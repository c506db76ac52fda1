// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "runtime/abi/buffer.h"
#include "runtime/abi/device_interface.h"

namespace calotype::runtime {

/** calotype_device_malloc() of a buffer without device memory, but for reporting a failure. */
int allocate_on_device(void *user_context, calotype_buffer_t *buf,
                       const calotype_device_interface_t *device_interface);
/** The end of a crop, a slice or what was wrapped. */
int release_handle(void *user_context, calotype_buffer_t *buf);
/** For CT_LOG=memory: what happens to the device copy. */
void log_memory(const char *what, const calotype_buffer_t &buf);

/** Move the device copy, if there is one, to where the call works, should it be on another device
 * of the same kind. Reports failures. */
int bring_here(void *user_context, calotype_buffer_t *buf);

/// @name Fields that other threads may look at meanwhile
/// @{
inline void set_device(calotype_buffer_t *buf, uint64_t device,
                       const calotype_device_interface_t *device_interface) {
    __atomic_store_n(&buf->device, device, __ATOMIC_RELAXED);
    __atomic_store_n(&buf->device_interface, device_interface, __ATOMIC_RELEASE);
}
inline void set_flag(calotype_buffer_t *buf, calotype_buffer_flags flag) {
    __atomic_fetch_or(&buf->flags, uint64_t(flag), __ATOMIC_RELEASE);
}
inline void clear_flag(calotype_buffer_t *buf, calotype_buffer_flags flag) {
    __atomic_fetch_and(&buf->flags, ~uint64_t(flag), __ATOMIC_RELEASE);
}
/** Both at once: nobody sees both set, or none. */
inline void replace_flag(calotype_buffer_t *buf, calotype_buffer_flags before,
                         calotype_buffer_flags after) {
    uint64_t flags = __atomic_load_n(&buf->flags, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&buf->flags, &flags,
                                        (flags & ~uint64_t(before)) | uint64_t(after), true,
                                        __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
    }
}
/// @}

}  // namespace calotype::runtime
