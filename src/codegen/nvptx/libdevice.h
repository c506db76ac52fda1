// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// libdevice: the functions of floats that come with CUDA's toolkit, as LLVM bitcode.
#pragma once

#include <string>

#include <llvm/IR/Module.h>

namespace calotype::internal {

/// Links those functions of the file that the module calls ("__nv_sinf") into it, for its use
/// alone. CompileError if the file cannot be read.
void link_libdevice(llvm::Module &module, const std::string &path);

}  // namespace calotype::internal
