// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a device module to PTX.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "codegen/linkables/bitcode.h"
#include "codegen/nvptx/capability.h"
#include "codegen/nvptx/toolkit.h"
#include "ir/module.h"
#include "target/target.h"

namespace calotype::internal {

/// Bitcode that becomes part of a module, and functions of it that linked code needs.
struct DeviceBitcode {
    std::vector<BitcodeImage> images;
    std::set<std::string> wanted;
};

/// The names of the kernels in the code: identifiers, different from each other.
std::vector<std::string> kernel_symbols(const DeviceModule &module);

/// What the kernel's arguments take, each aligned to its own size; and what every device grants
/// them.
int64_t parameter_bytes(const DeviceKernel &kernel);
constexpr int64_t max_plain_parameter_bytes = 4352;

/// How many blocks of the kernel a multiprocessor must have room for, 0 if nothing says so: what
/// `min_blocks` says, or two where copies go on beside the work, so that another block hides what is
/// left of the waiting. Products of matrices take what they need for sums. Kernels that call code
/// which is linked later get no bound for it.
int64_t wanted_blocks(const DeviceKernel &kernel);

/// PTX text of the module for one architecture. `target` is the host's: from it come large_buffers,
/// strict_float and the like. Uses the toolkit's functions of floats if it has any. Bitcode becomes
/// part of it.
std::string ptx_text(const DeviceModule &module, const Target &target, Capability capability,
                     const CudaToolkit &toolkit, const DeviceBitcode &bitcode = {});

/// PTX of a library given as LLVM bitcode: all its functions, for others to call.
std::string bitcode_ptx(const BitcodeImage &bitcode, Capability capability,
                        const CudaToolkit &toolkit);

}  // namespace calotype::internal
