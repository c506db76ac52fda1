// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CUDA C++ to PTX or LTO-IR with what the toolkit has: NVRTC in process, else the program nvcc.
#pragma once

#include <string>

#include "codegen/nvptx/capability.h"
#include "codegen/nvptx/toolkit.h"

namespace calotype::internal {

enum class CudaForm : uint8_t { Ptx, LtoIr };

/// What came of it.
struct CudaCompilation {
    bool ok = false;
    std::string bytes;  ///< if it went well
    std::string log;    ///< all that the compiler said
};

/// True if the toolkit has NVRTC or nvcc.
bool can_compile_cuda(const CudaToolkit &toolkit);
/// The architecture itself, or if that is too old for the compiler the oldest that it knows.
Capability compilable(Capability capability, const CudaToolkit &toolkit);

/// Code that is to be linked: functions may be defined elsewhere. `path` is for messages; headers
/// are looked for in its folder and in the toolkit.
CudaCompilation compile_cuda(const std::string &source, const std::string &path, CudaForm form,
                             Capability capability, const CudaToolkit &toolkit);

}  // namespace calotype::internal
