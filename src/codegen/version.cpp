// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/version.h"

#include <llvm/Config/llvm-config.h>

namespace calotype::internal {

int llvm_version() {
    return LLVM_VERSION_MAJOR * 10 + LLVM_VERSION_MINOR;
}

}  // namespace calotype::internal
