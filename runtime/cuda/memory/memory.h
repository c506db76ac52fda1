// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The device memory of buffers: which piece came from which allocator, in whose context and in what
// order it goes back there.
#pragma once

#include "runtime/cuda/context.h"

namespace calotype::runtime::cuda {

/** Allocate in the call's context, in the order of its stream. The piece is known by its address
 * plus `offset`, which is what *handle becomes. */
calotype_status allocate(const Call &call, size_t bytes, int64_t offset, CUdeviceptr *handle);
/** Free what allocate() gave, whatever context the call names, if it names one at all. */
calotype_status deallocate(void *user_context, CUdeviceptr handle);
/** The context in which allocate() gave the handle; null if it did not, or no more. */
ContextInfo *owner_of(CUdeviceptr handle);
/** The same for an address within a piece, as crops have; looks at all pieces. */
ContextInfo *owner_of_part(CUdeviceptr address);
/** KernelBackend::reuse_memory. */
bool reuse_memory(const DeviceScope &scope, uint64_t freed, const calotype_buffer_t &buf,
                  uint64_t *handle);
/** Wait for all work of the call's context. */
calotype_status await_all_work(const Call &call);
/** Give back what is kept for reuse in all contexts. */
void release_all_kept();
/** The same, and what the allocator keeps on the call's device. */
calotype_status release_unused(const Call &call);
/** The identity of the context ends. With a driver, its kept memory is given back before, and the
 * context must answer; without one nothing is asked about it. */
void end_context(uint64_t context_uid, bool has_driver);

/** KernelBackend's functions of these names. */
calotype_status set_allocator(const calotype_device_allocator *allocator);
void add_memory_stats(int32_t device, calotype_memory_stats *stats);

// ---- stream_order.cpp ----------------------------------------------------------------------------

/** A stream on which what is done is after all that was queued in the context, which is current.
 * CALOTYPE_E_CAPTURE: a stream of the context is being captured. */
calotype_status stream_after_all_work(ContextInfo &info, CUstream *stream);
/** Destroy stream and event of a context whose identity has ended. */
void end_ordered_stream(ContextInfo &info, bool has_driver);

/** Whether a stream of the context is being captured, so that waiting for all its work would break
 * that. Its default stream tells. */
bool is_any_captured(const ContextInfo &info);

}  // namespace calotype::runtime::cuda
