// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The built-in allocator of device memory: one pool of the driver's for each device, which keeps
// what is freed up to a limit. Pools are the device's: they outlive contexts, and what one context
// frees serves all others. Devices without pools have plain memory, for whose return the driver
// waits until all work is done.
#pragma once

#include "runtime/cuda/driver.h"
#include "runtime/cuda/memory/allocators.h"

namespace calotype {
namespace runtime {
namespace cuda {

extern const Allocator device_pool;

/** How many bytes the pool of a device keeps. */
void set_pool_limit(int device, uint64_t kept_bytes);
/** Give up all pools of which nothing is in use: the driver is being replaced. */
void forget_pools();

}  // namespace cuda
}  // namespace runtime
}  // namespace calotype
