// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Alignment of buffers in device memory. Helper of passes in this folder.
#pragma once

#include <string>

#include "ir/alignment.h"
#include "lower/context.h"

namespace calotype::internal {

/// Of memory that the runtime makes.
constexpr int device_memory_alignment = 128;

/// Of the address on the device, in bytes, of an input or output: what its user promised of the
/// host's. That this holds is checked when a kernel is launched (offload_kernels).
Alignment promised_alignment(const LowerContext &ctx, const std::string &buffer, Type t);

}  // namespace calotype::internal
