// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Target features as attributes of LLVM's x86 back end.
#pragma once

#include <string>

#include "target/target.h"

namespace calotype::internal {

/// The attributes of an x86 target with implied features set: "+sse4.1,+avx,...".
std::string x86_features(const Target &target);
/// Whether the processor has AVX-512 as Intel makes it, with fast gathers. AVX-VNNI tells Sapphire Rapids from Zen 4 where
/// a virtual machine hides the tiles that both differ in.
bool is_intel_with_avx512(const Target &target);
/// Whether it has masks for lanes of 8 and 16 bits, and converts floats to 64-bit integers in vectors.
bool x86_has_narrow_and_long_lanes(const Target &target);
/// The name of the processor that instructions are scheduled for.
std::string x86_tuning(const Target &target);

}  // namespace calotype::internal
