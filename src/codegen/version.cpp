// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/version.h"

#include <llvm-c/Core.h>
#include <llvm/Config/llvm-config.h>

#include "support/build_id.h"

namespace calotype::internal {

int llvm_version() {
    return LLVM_VERSION_MAJOR * 10 + LLVM_VERSION_MINOR;
}

std::string llvm_build() {
    const std::string id = build_id_of(reinterpret_cast<const void *>(&LLVMGetVersion));
    return id.empty() ? "" : LLVM_VERSION_STRING " " + id;
}

}  // namespace calotype::internal
