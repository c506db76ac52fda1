// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ConstRange: a set of integers between two optional constant ends, and the arithmetic on such
// sets. Alignment arithmetic (ir/alignment.h) is here too, since the two travel together.
#pragma once

#include <cstdint>
#include <optional>

#include "ir/alignment.h"
#include "ir/type.h"

namespace calotype::internal {

/// All integers x with min <= x and x <= max; an end that is not there is not bounded.
/// Values of 64-bit unsigned types above INT64_MAX are only described by a missing max.
struct ConstRange {
    std::optional<int64_t> min, max;

    static ConstRange everything() {
        return {};
    }
    static ConstRange single(int64_t x) {
        return {x, x};
    }
    static ConstRange of(int64_t lo, int64_t hi) {
        return {lo, hi};
    }
    static ConstRange at_least(int64_t lo) {
        return {lo, std::nullopt};
    }
    static ConstRange at_most(int64_t hi) {
        return {std::nullopt, hi};
    }
    /// All values of an integer type; everything for other types.
    static ConstRange of_type(Type t);

    bool is_single() const {
        return min && max && *min == *max;
    }
    bool is_bounded() const {
        return min && max;
    }
    bool is_everything() const {
        return !min && !max;
    }
    /// No integer at all. Unreachable code has such ranges.
    bool is_empty() const {
        return min && max && *min > *max;
    }
    bool contains(int64_t x) const {
        return (!min || *min <= x) && (!max || x <= *max);
    }
    bool contains(const ConstRange &r) const {
        return (!min || (r.min && *min <= *r.min)) && (!max || (r.max && *r.max <= *max));
    }
    bool operator==(const ConstRange &o) const {
        return min == o.min && max == o.max;
    }
};

ConstRange intersection(const ConstRange &a, const ConstRange &b);
/// What of r is in `limits`; r itself if nothing is: then the code does not run, and any range will
/// do.
ConstRange within(const ConstRange &r, const ConstRange &limits);
ConstRange union_of(const ConstRange &a, const ConstRange &b);

// The exact results over unbounded integers; ends that leave 64 bits are dropped.
ConstRange operator+(const ConstRange &a, const ConstRange &b);
ConstRange operator-(const ConstRange &a, const ConstRange &b);
ConstRange operator*(const ConstRange &a, const ConstRange &b);
ConstRange operator/(const ConstRange &a, const ConstRange &b);
ConstRange operator%(const ConstRange &a, const ConstRange &b);
ConstRange min(const ConstRange &a, const ConstRange &b);
ConstRange max(const ConstRange &a, const ConstRange &b);

/// True if every x of a and y of b have x < y (x <= y).
bool always_less(const ConstRange &a, const ConstRange &b);
bool always_less_equal(const ConstRange &a, const ConstRange &b);

/// The range of an operation in type t whose exact result is r: t's whole range if the operation
/// may wrap, and what of r fits t where overflow is taken not to happen.
ConstRange fit_type(const ConstRange &r, Type t);

Alignment operator+(const Alignment &a, const Alignment &b);
Alignment operator-(const Alignment &a, const Alignment &b);
Alignment operator*(const Alignment &a, const Alignment &b);
/// What holds of x if it is a member of a or of b.
Alignment union_of(const Alignment &a, const Alignment &b);
/// What holds of x if it is a member of both; b's facts alone if they contradict.
Alignment intersection(const Alignment &a, const Alignment &b);

/// Quotient and remainder as the IR defines them: the remainder is not negative, x / 0 == x % 0 ==
/// 0.
int64_t euclidean_div(int64_t a, int64_t b);
int64_t euclidean_mod(int64_t a, int64_t b);
int64_t greatest_common_divisor(int64_t a, int64_t b);

}  // namespace calotype::internal
