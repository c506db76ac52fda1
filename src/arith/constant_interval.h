// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ConstantInterval: a range of integers with constant, optional ends, and exact arithmetic on such
// ranges. It is the simplifier's ConstRange under the name that passes use, with what they ask of
// it.
#pragma once

#include "arith/simplify/const_range.h"

namespace calotype::internal {

using ConstantInterval = ConstRange;

/// True if every value of the range is one of integer type t.
bool fits(const ConstantInterval &r, Type t);

inline bool is_positive(const ConstantInterval &r) {
    return r.min && *r.min > 0;
}
inline bool is_non_negative(const ConstantInterval &r) {
    return r.min && *r.min >= 0;
}
inline bool is_negative(const ConstantInterval &r) {
    return r.max && *r.max < 0;
}
inline bool is_non_positive(const ConstantInterval &r) {
    return r.max && *r.max <= 0;
}
inline bool excludes_zero(const ConstantInterval &r) {
    return is_positive(r) || is_negative(r);
}

/// The range of |x|.
ConstantInterval abs(const ConstantInterval &r);

/// The sum, difference, product if it fits 64 bits.
std::optional<int64_t> checked_add(int64_t a, int64_t b);
std::optional<int64_t> checked_sub(int64_t a, int64_t b);
std::optional<int64_t> checked_mul(int64_t a, int64_t b);

}  // namespace calotype::internal
