// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The processors of x86-64.
#pragma once

#include "codegen/llvm/machine.h"

namespace calotype::internal {

const Machine &x86_machine();

}  // namespace calotype::internal
