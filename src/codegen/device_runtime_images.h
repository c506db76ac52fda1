// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The forms of the device runtime that were built with the compiler: a table that the build makes
// (runtime/nrt).
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/abi/kernels.h"

namespace calotype::internal {

struct DeviceRuntimeImage {
    calotype_kind kind;
    uint32_t sm;
    const char *bytes;
    size_t size;
    const char *file;
};
/// Each ends with one whose bytes are null. The second are those of CALOTYPE_NRT_DEBUG.
extern const DeviceRuntimeImage device_runtime_images[];
extern const DeviceRuntimeImage device_runtime_debug_images[];

}  // namespace calotype::internal
