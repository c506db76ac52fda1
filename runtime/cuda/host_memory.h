// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Page-locked host memory, from and to which copies are fast and can overlap with kernels. It is
// ordinary memory that the driver is told to lock, and stays locked until it is freed: a copy that
// is queued while it is unlocked faults on the device. Unlocking needs no context, and the driver
// itself unlocks what was locked in a context that is destroyed.
#pragma once

#include "runtime/abi/buffer.h"
#include "runtime/cuda/context.h"

namespace calotype {
namespace runtime {
namespace cuda {

/** Give the buffer host memory, locked in the call's context for all contexts. Where the driver
 * refuses to lock it, it is ordinary memory. 0 or an error code, with the failure kept. */
int allocate_locked(const Call &call, calotype_buffer_t *buf);
/** Free what allocate_locked() gave, once its copies are done. */
void free_locked(void *user_context, calotype_buffer_t *buf);

}  // namespace cuda
}  // namespace runtime
}  // namespace calotype
