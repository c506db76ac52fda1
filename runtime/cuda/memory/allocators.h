// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The current allocator of device memory, and the statistics of each device.
#pragma once

#include "runtime/abi/device_memory.h"
#include "runtime/cuda/context.h"

namespace calotype::runtime::cuda {

/** One that was set at some time. They are never given up, since pieces may still be theirs. */
struct Allocator {
    calotype_device_allocator functions;
    Allocator *next;
};

const Allocator *current_allocator();

/** The built-in one: one pool of the driver's for each device, which keeps what is freed up to the
 * release threshold. Pools are the device's: they outlive contexts, and what one context frees
 * serves all others. Devices without pools have plain memory, for whose return the driver waits
 * until all work is done. */
extern const Allocator device_pool;
/** The release threshold of a device has changed. */
void update_pool(int device);
/** Give up all pools of which nothing is in use: the driver is being replaced. */
void forget_pools();

/** What the allocator answers, with the failure kept: an address that is not a multiple of
 * calotype_device_alignment is one, and an exception. */
calotype_status call_allocate(const Allocator &from, const calotype_device_place &place,
                              uint64_t bytes, uint64_t *address);
calotype_status call_free(const Allocator &to, const calotype_device_place &place, uint64_t address,
                          uint64_t bytes);
/** Of all allocators that were set. */
void call_trim(int device, uint64_t keep);
uint64_t kept_by_allocators(int device);

/** What buffers have on one device, and the limits. */
struct DeviceMemory {
    std::atomic<uint64_t> in_use, peak, allocations, frees, retries;
    std::atomic<uint64_t> limit;  ///< 0: none
    std::atomic<uint64_t> kept_limit{CALOTYPE_KEEP_DEFAULT};
    std::atomic<uint32_t> pieces;

    void note_allocation(uint64_t bytes);
    void note_free(uint64_t bytes);
};
extern constinit DeviceMemory device_memory[max_devices];
/** How much may be kept for reuse on a device. */
uint64_t release_threshold(const DeviceInfo &device);
/** KernelBackend's function. */
calotype_status set_memory_limits(const calotype_memory_limits &limits);

}  // namespace calotype::runtime::cuda
