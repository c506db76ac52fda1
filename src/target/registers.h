// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Instruction sets of a target's machine, and widths of its vector registers.
#pragma once

#include "target/target.h"

namespace calotype::internal {

/// The target with all instruction sets that its machine has by those that it names: these are what
/// code may use. Features of devices are left as they are named, as the version is the lowest named.
/// avx10_1 without a width means vectors of 512 bits, as all processors have them that have it.
Target with_instruction_sets(const Target &target);
/// With all features that it has by those that it names, of its machine and of devices.
Target with_all_features(const Target &target);

/// The width of the widest vector register that the target can compute floats, or integers of all
/// widths, in; 0 where it has none. The first part of AVX-512 has no instructions for integers of 8
/// and 16 bits.
int vector_register_bits(const Target &target, bool is_float);
/// What vectors are cut into: such a register or, where there is none, a general one.
int widest_register_bits(const Target &target, bool is_float);

}  // namespace calotype::internal
