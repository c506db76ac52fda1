// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The host half of device_and_host_malloc, for devices that share no memory with the host.
#pragma once

#include "runtime/abi/buffer.h"

namespace calotype {
namespace runtime {

/** Bytes between the lowest and the highest element; at least 1, also where there is none. */
size_t bytes_to_allocate(const calotype_buffer_t &buf);
/** From the lowest address of an allocation to the element at the mins of the buffer, in bytes. */
int64_t bytes_before_origin(const calotype_buffer_t &buf);

/** Give the buffer a host copy if it has none; an error code. */
int allocate_host_copy(void *user_context, calotype_buffer_t *buf);
void free_host_copy(void *user_context, calotype_buffer_t *buf);

}  // namespace runtime
}  // namespace calotype
