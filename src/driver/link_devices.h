// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Joining lowered modules that have device code.
#pragma once

#include "ir/module.h"

namespace calotype::internal {

/// Adds the functions of `from`, and its kernels to those that `into` has for the same device. A
/// kernel whose name is taken gets another one, in its launches too.
void append_device_code(LoweredModule &into, const LoweredModule &from);

}  // namespace calotype::internal
