// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Alignment of buffers in device memory. Helper of passes in this folder.
#pragma once

#include <string>

#include "ir/alignment.h"
#include "ir/stmt_nodes.h"
#include "lower/context.h"

namespace calotype::internal {

/// Of memory that the runtime makes.
constexpr int device_memory_alignment = 128;

/// The memory on the host of storage that only kernels touch: none.
Expr no_host_memory();

/// True if the runtime makes what storage of the pipeline has on the device, so that its address there is a multiple of
/// device_memory_alignment: not if the memory is somebody else's (a cache's, say). Storage without memory on the host
/// is among it.
bool has_runtime_device_memory(const Allocate *op);

/// Of the address on the device, in bytes, of an input or output: what its user promised of the
/// host's. That this holds is checked when a kernel is launched (offload_kernels).
Alignment promised_alignment(const LowerContext &ctx, const std::string &buffer, Type t);

}  // namespace calotype::internal
