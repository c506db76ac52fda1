// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The 64-bit processors of ARM.
#pragma once

#include "codegen/llvm/machine.h"

namespace calotype::internal {

const Machine &arm_machine();

}  // namespace calotype::internal
