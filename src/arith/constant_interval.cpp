// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "arith/constant_interval.h"

#include <algorithm>

namespace calotype::internal {

bool fits(const ConstantInterval &r, Type t) {
    if (!t.is_int_or_uint()) {
        return false;
    }
    // The range of uint64 has no upper end: what exceeds int64 cannot be told from what exceeds
    // uint64, so an open range fits no type.
    return r.is_bounded() && ConstantInterval::of_type(t).contains(r);
}

ConstantInterval abs(const ConstantInterval &r) {
    if (is_non_negative(r)) {
        return r;
    }
    const ConstantInterval negated = ConstantInterval::single(0) - r;
    if (is_non_positive(r)) {
        return negated;
    }
    ConstantInterval result = ConstantInterval::at_least(0);
    if (r.max && negated.max) {
        result.max = std::max(*r.max, *negated.max);
    }
    return result;
}

std::optional<int64_t> checked_add(int64_t a, int64_t b) {
    int64_t result;
    return __builtin_add_overflow(a, b, &result) ? std::nullopt : std::optional(result);
}

std::optional<int64_t> checked_sub(int64_t a, int64_t b) {
    int64_t result;
    return __builtin_sub_overflow(a, b, &result) ? std::nullopt : std::optional(result);
}

std::optional<int64_t> checked_mul(int64_t a, int64_t b) {
    int64_t result;
    return __builtin_mul_overflow(a, b, &result) ? std::nullopt : std::optional(result);
}

}  // namespace calotype::internal
