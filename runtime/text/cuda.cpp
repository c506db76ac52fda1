// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels given as PTX and launched by name.
#include "runtime/abi/runtime_cuda.h"
#include "runtime/cuda/device_symbols.h"
#include "runtime/text/text_modules.h"

using namespace calotype::runtime;

/** For every architecture: what the text is for stands in it. */
static constexpr TextKind ptx = {CALOTYPE_PTX, 0, calotype_cuda_device_interface, find_ptx_kernels};

CALOTYPE_TEXT_KERNELS(cuda, ptx)
