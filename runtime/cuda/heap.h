// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the device runtime needs of CUDA.
#pragma once

#include "runtime/device/kernel_backend.h"

namespace calotype {
namespace runtime {
namespace cuda {

extern const DeviceHeap device_heap;

}  // namespace cuda
}  // namespace runtime
}  // namespace calotype
