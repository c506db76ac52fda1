// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which allocator device memory comes from, and how much of it there is on each device.
#pragma once

#include "runtime/abi/device_memory.h"

namespace calotype {
namespace runtime {
namespace cuda {

/** One that was set at some time. They are never given up, since pieces may still be theirs. */
struct Allocator {
    calotype_device_allocator functions;
    Allocator *next;
};

const Allocator *current_allocator();

/** What the allocator answers, with the failure kept: an address that is not a multiple of
 * calotype_device_alignment is one, and an exception. */
calotype_status call_allocate(const Allocator &from, const calotype_device_place &place,
                              uint64_t bytes, uint64_t *address);
calotype_status call_free(const Allocator &to, const calotype_device_place &place, uint64_t address,
                          uint64_t bytes);
/** Of all allocators that were set. */
void call_trim(int device, uint64_t keep);
uint64_t kept_by_allocators(int device);

/** @name Bytes that buffers have on a device, and the limits */
/**@{*/
void note_in_use(int device, uint64_t bytes);
void note_not_in_use(int device, uint64_t bytes);
void count_retry(int device);
uint64_t memory_in_use(int device);
uint64_t memory_limit(int device);  ///< 0: none
/** How much may be kept for reuse. */
uint64_t release_threshold(int device);
/** KernelBackend's function. */
calotype_status set_memory_limits(const calotype_memory_limits &limits);
void add_stats_of_device(int device, calotype_memory_stats *stats);
/**@}*/

}  // namespace cuda
}  // namespace runtime
}  // namespace calotype
