// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where buffers lie in memory, and the host half of device_and_host_malloc for devices that share
// no memory with the host.
#pragma once

#include "runtime/abi/buffer.h"

namespace calotype::runtime {

/** Bytes between the lowest and the highest element; at least 1, also where there is none. */
size_t bytes_to_allocate(const calotype_buffer_t &buf);
/** From the lowest address of an allocation to the element at the mins of the buffer, in bytes. */
int64_t bytes_before_origin(const calotype_buffer_t &buf);
/** From the element at the mins of a buffer to that at the mins of a part of it, in bytes. A slice
 * has no dimension `slice_dim`, at `slice_pos` of the whole; a crop has all (-1). */
int64_t bytes_to_part(const calotype_buffer_t &whole, const calotype_buffer_t &part,
                      int slice_dim = -1, int slice_pos = 0);

/** Give the buffer a host copy if it has none; an error code. */
int allocate_host_copy(void *user_context, calotype_buffer_t *buf);
void free_host_copy(void *user_context, calotype_buffer_t *buf);

}  // namespace calotype::runtime
