// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Resource limits of devices. Helper of the passes in this folder.
#pragma once

#include <cstdint>

#include "ir/enums.h"

namespace calotype::internal {

/// Shared memory that a kernel may declare; more comes with the launch.
constexpr int64_t max_static_shared_bytes = 48 * 1024;

/// The most shared memory that a block can have on any device of the kind, in bytes; 0: not known.
/// Whether the device at hand has it is found when the kernel is launched.
inline int64_t max_shared_bytes(DeviceAPI api) {
    return api == DeviceAPI::CUDA ? 227 * 1024 : 0;
}

}  // namespace calotype::internal
