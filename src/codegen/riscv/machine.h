// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The 64-bit processors of RISC-V, with the extensions that Linux asks for (rv64gc).
#pragma once

#include "codegen/llvm/machine.h"

namespace calotype::internal {

const Machine &riscv_machine();

}  // namespace calotype::internal
