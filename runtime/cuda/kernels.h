// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CUDA as the kernel cache sees it, and what stands in sources of its own.
#pragma once

#include "runtime/device/kernel_backend.h"

namespace calotype::runtime::cuda {

extern const KernelBackend kernel_backend;

/** @name Members of KernelBackend */
/**@{*/
bool launch_at_once(void *user_context, const DeviceScope &held, void *function,
                    const uint32_t grid[3], const uint32_t block[3], uint32_t dynamic_shared_bytes,
                    void *stream, void **args);
calotype_status launch(const DeviceScope &scope, void *function, const calotype_kernel_desc &kernel,
                       const uint32_t grid[3], const uint32_t block[3],
                       uint32_t dynamic_shared_bytes, void *stream, void **args);
bool can_replay();
bool replay(const DeviceScope &scope, std::atomic<void *> *graphs, const LaunchList &list,
            ReplayCounts *counts);
void close_graphs(std::atomic<void *> *graphs, bool has_driver);
void free_graphs(void *graphs);
/**@}*/

}  // namespace calotype::runtime::cuda
