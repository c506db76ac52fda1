// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Alignment: what is known of an integer modulo something.
#pragma once

#include <cstdint>

namespace calotype::internal {

/// The integers x with x == remainder (mod modulus). modulus 1: nothing known; modulus 0: exactly
/// `remainder`.
struct Alignment {
    int64_t modulus = 1, remainder = 0;
    constexpr Alignment() = default;
    constexpr Alignment(int64_t modulus, int64_t remainder)
        : modulus(modulus), remainder(remainder) {
    }
    bool operator==(const Alignment &o) const {
        return modulus == o.modulus && remainder == o.remainder;
    }
    bool operator!=(const Alignment &o) const {
        return !(*this == o);
    }
};

}  // namespace calotype::internal
