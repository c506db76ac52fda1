// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Short names for casts, in a namespace of their own: u8(x), f32(x), u8_sat(x).
#pragma once

#include <utility>

#include "ir/operators.h"

namespace calotype {
namespace ConciseCasts {

#define CALOTYPE_CAST(name, TypeOf, bits)                                                          \
    inline Expr name(Expr e) {                                                                     \
        return cast(TypeOf(bits), std::move(e));                                                   \
    }
#define CALOTYPE_SATURATING_CAST(name, TypeOf, bits)                                               \
    inline Expr name(Expr e) {                                                                     \
        return saturating_cast(TypeOf(bits), std::move(e));                                        \
    }
CALOTYPE_CAST(f64, Float, 64)
CALOTYPE_CAST(f32, Float, 32)
CALOTYPE_CAST(f16, Float, 16)
CALOTYPE_CAST(bf16, BFloat, 16)
CALOTYPE_CAST(i64, Int, 64)
CALOTYPE_CAST(i32, Int, 32)
CALOTYPE_CAST(i16, Int, 16)
CALOTYPE_CAST(i8, Int, 8)
CALOTYPE_CAST(u64, UInt, 64)
CALOTYPE_CAST(u32, UInt, 32)
CALOTYPE_CAST(u16, UInt, 16)
CALOTYPE_CAST(u8, UInt, 8)
CALOTYPE_SATURATING_CAST(i64_sat, Int, 64)
CALOTYPE_SATURATING_CAST(i32_sat, Int, 32)
CALOTYPE_SATURATING_CAST(i16_sat, Int, 16)
CALOTYPE_SATURATING_CAST(i8_sat, Int, 8)
CALOTYPE_SATURATING_CAST(u64_sat, UInt, 64)
CALOTYPE_SATURATING_CAST(u32_sat, UInt, 32)
CALOTYPE_SATURATING_CAST(u16_sat, UInt, 16)
CALOTYPE_SATURATING_CAST(u8_sat, UInt, 8)
#undef CALOTYPE_CAST
#undef CALOTYPE_SATURATING_CAST

}  // namespace ConciseCasts
}  // namespace calotype
