// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// KnownBits: which bits of an integer are 0 or 1 in all its values.
#pragma once

#include <cstdint>

#include "arith/integer_info.h"
#include "ir/intrinsics.h"
#include "ir/type.h"

namespace calotype::internal {

/// Bits of a value as 64 bits hold it, sign-extended if its type has a sign.
struct KnownBits {
    uint64_t zeros = 0, ones = 0;

    uint64_t known() const {
        return zeros | ones;
    }
};

/// Of a value of integer type t that `info` describes.
KnownBits known_bits(const IntegerInfo &info, Type t);
/// Of a & b, a | b or a ^ b, as the intrinsic says.
KnownBits combine(Intrinsic op, const KnownBits &a, const KnownBits &b);
/// The range and the alignment that follow from them for a value of integer type t.
IntegerInfo info_of_bits(const KnownBits &bits, Type t);

}  // namespace calotype::internal
