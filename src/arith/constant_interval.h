// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ConstantInterval: a range of integers with constant, optional ends, and exact arithmetic on such ranges.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>

#include "ir/type.h"

namespace calotype::internal {

/// The integers v with min <= v <= max; an absent end means "no bound known there". Never empty: min <= max.
///
/// The operators give the range of the exact, mathematical result (not wrapped to any type). An end that does not fit
/// 64 bits is dropped, which is always sound. To model a wrapping type, follow with `wrapped_to`.
struct ConstantInterval {
    std::optional<int64_t> min, max;

    ConstantInterval() = default;
    ConstantInterval(std::optional<int64_t> min, std::optional<int64_t> max)
        : min(min), max(max) {
    }

    static ConstantInterval everything() {
        return {};
    }
    static ConstantInterval single_point(int64_t x) {
        return {x, x};
    }
    static ConstantInterval bounded_below(int64_t x) {
        return {x, std::nullopt};
    }
    static ConstantInterval bounded_above(int64_t x) {
        return {std::nullopt, x};
    }
    /// All values of an integer type; an end outside of int64 is absent. Everything for other types.
    static ConstantInterval of_type(Type t);

    bool is_everything() const {
        return !min && !max;
    }
    bool is_bounded() const {
        return min && max;
    }
    bool is_single_point() const {
        return min && max && *min == *max;
    }
    bool is_single_point(int64_t x) const {
        return is_single_point() && *min == x;
    }
    bool contains(int64_t x) const {
        return (!min || *min <= x) && (!max || x <= *max);
    }
    /// True if every value of this is in `outer`.
    bool within(const ConstantInterval &outer) const;
    /// True if every value of this is one of integer type t.
    bool fits(Type t) const;
    /// Known to be > 0, >= 0, < 0, <= 0, != 0.
    bool is_positive() const {
        return min && *min > 0;
    }
    bool is_non_negative() const {
        return min && *min >= 0;
    }
    bool is_negative() const {
        return max && *max < 0;
    }
    bool is_non_positive() const {
        return max && *max <= 0;
    }
    bool excludes_zero() const {
        return is_positive() || is_negative();
    }

    /// The range after conversion to an integer type that wraps: unchanged if it fits, else all of the type.
    ConstantInterval wrapped_to(Type t) const;

    bool operator==(const ConstantInterval &o) const {
        return min == o.min && max == o.max;
    }
};

/// The smallest range that contains both.
ConstantInterval make_union(const ConstantInterval &a, const ConstantInterval &b);
/// The values in both. Where there are none, a range inside one of them (callers need not handle "empty").
ConstantInterval make_intersection(const ConstantInterval &a, const ConstantInterval &b);

ConstantInterval operator-(const ConstantInterval &a);
ConstantInterval operator+(const ConstantInterval &a, const ConstantInterval &b);
ConstantInterval operator-(const ConstantInterval &a, const ConstantInterval &b);
ConstantInterval operator*(const ConstantInterval &a, const ConstantInterval &b);
/// Division that leaves a non-negative remainder; by zero gives zero.
ConstantInterval operator/(const ConstantInterval &a, const ConstantInterval &b);
/// The non-negative remainder; by zero gives zero.
ConstantInterval operator%(const ConstantInterval &a, const ConstantInterval &b);
ConstantInterval min(const ConstantInterval &a, const ConstantInterval &b);
ConstantInterval max(const ConstantInterval &a, const ConstantInterval &b);
ConstantInterval abs(const ConstantInterval &a);

std::ostream &operator<<(std::ostream &out, const ConstantInterval &i);

/// The scalar operations behind the operators: absent where the result does not fit 64 bits.
std::optional<int64_t> checked_add(int64_t a, int64_t b);
std::optional<int64_t> checked_sub(int64_t a, int64_t b);
std::optional<int64_t> checked_mul(int64_t a, int64_t b);
/// Quotient and remainder with 0 <= remainder < |b|; both 0 where b is 0; wraps for INT64_MIN / -1.
int64_t euclidean_div(int64_t a, int64_t b);
int64_t euclidean_mod(int64_t a, int64_t b);

}  // namespace calotype::internal
