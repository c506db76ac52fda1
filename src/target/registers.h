// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Widths of a machine's vector registers.
#pragma once

#include "target/target.h"

namespace calotype::internal {

/// The width of the widest vector register that the target can compute floats, or integers of all
/// widths, in; 0 where it has none. The first part of AVX-512 has no instructions for integers of 8
/// and 16 bits.
int vector_register_bits(const Target &target, bool is_float);

}  // namespace calotype::internal
