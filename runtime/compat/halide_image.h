// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Halide::Tools::Image, an old name of Runtime::Buffer.
#pragma once

#include "HalideBuffer.h"

namespace calotype {
namespace Tools {
template<typename T>
using Image = Runtime::Buffer<T>;
}  // namespace Tools
}  // namespace calotype
