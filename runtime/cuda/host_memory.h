// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Page-locked host memory, from and to which copies are fast and can overlap with kernels. It is
// ordinary memory that the driver is told to lock, so that it outlives contexts and driver.
#pragma once

#include "runtime/abi/buffer.h"
#include "runtime/cuda/context.h"

namespace calotype {
namespace runtime {
namespace cuda {

/** Give the buffer host memory, locked in the call's context for all contexts. Where the driver
 * refuses to lock it, it is ordinary memory. 0 or an error code, with the failure kept. */
int allocate_locked(const Call &call, calotype_buffer_t *buf);
/** Free what allocate_locked() gave. */
void free_locked(void *user_context, calotype_buffer_t *buf);
/** The identity of the context has ended: with a driver, what is locked in it is unlocked. The
 * context is current then, and nobody uses it any more. */
void unlock_all_in(const ContextInfo &info, bool has_driver);

}  // namespace cuda
}  // namespace runtime
}  // namespace calotype
