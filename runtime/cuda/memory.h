// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Device memory: where it comes from, and who owns which piece of it.
#pragma once

#include "runtime/cuda/context.h"

namespace calotype {
namespace runtime {
namespace cuda {

/** Allocate in the call's context, in the order of its stream. The piece is known by its address
 * plus `offset`, which is what *handle becomes. */
calotype_status allocate(const Call &call, size_t bytes, int64_t offset, CUdeviceptr *handle);
/** Free what allocate() gave, in whatever context that was. */
calotype_status deallocate(const Call &call, CUdeviceptr handle);
/** KernelBackend::reuse_memory. */
bool reuse_memory(const DeviceScope &scope, uint64_t freed, const calotype_buffer_t &buf,
                  uint64_t *handle);
/** Wait for all work of the context, and give back what waits for that. */
calotype_status await_all_work(const Call &call);
/** Give memory that is kept for later back to the driver. */
calotype_status release_unused(const Call &call);
/** The same for a context that is gone, and end its pool; false: it or pieces of it are in use. */
bool end_memory(KnownContext &context);
/** How many pieces are in use. */
int live_allocations();

}  // namespace cuda
}  // namespace runtime
}  // namespace calotype
