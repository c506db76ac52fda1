// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

namespace calotype::internal {

/// Of the LLVM that code is generated with: 19.1 is 191.
int llvm_version();

/// Which build of LLVM that is; "" if it cannot be told.
std::string llvm_build();

}  // namespace calotype::internal
