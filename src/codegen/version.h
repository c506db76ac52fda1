// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace calotype::internal {

/// Of the LLVM that code is generated with: 19.1 is 191.
int llvm_version();

}  // namespace calotype::internal
