// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Recordings as graphs of the driver.
#pragma once

#include "runtime/cuda/context.h"

namespace calotype {
namespace runtime {
namespace cuda {

/** KernelBackend's functions of these names. */
bool can_replay();
bool replay(const DeviceScope &scope, std::atomic<void *> *graphs, const LaunchList &list,
            ReplayCounts *counts);
void close_graphs(std::atomic<void *> *graphs, bool has_driver);
void free_graphs(void *graphs);

}  // namespace cuda
}  // namespace runtime
}  // namespace calotype
