// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/riscv/features.h"

#include <algorithm>

namespace calotype::internal {

namespace {

/// What distributions of Linux are compiled for.
constexpr const char *general = "+m,+a,+f,+d,+c";

/// The vector extension of application processors has registers of at least as many bits.
constexpr int fewest_vector_bits = 128;

}  // namespace

std::string riscv_features(const Target &target) {
    if (!target.has_feature(Target::RVV)) {
        return general;
    }
    const int bits = std::max(target.vector_bits, fewest_vector_bits);
    return std::string(general) + ",+v,+zvl" + std::to_string(bits) + "b";
}

}  // namespace calotype::internal
