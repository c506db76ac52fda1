// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Part of Halide.h: ConstantInterval, a range of integers that may have no lower or no upper end.
#pragma once

#include <cstdint>
#include <iosfwd>

#include "arith/constant_interval.h"
#include "ir/type.h"

namespace calotype {
namespace Internal {

/// The integers from min to max. An end that is not defined is not bounded, and reads as 0.
struct ConstantInterval {
    int64_t min = 0, max = 0;
    bool min_defined = false, max_defined = false;

    ConstantInterval() = default;  ///< everything
    ConstantInterval(int64_t min, int64_t max)
        : min(min), max(max), min_defined(true), max_defined(true) {
    }
    ConstantInterval(const internal::ConstRange &r)
        : min(r.min.value_or(0)), max(r.max.value_or(0)), min_defined(r.min.has_value()),
          max_defined(r.max.has_value()) {
    }
    operator internal::ConstRange() const;

    static ConstantInterval everything() {
        return {};
    }
    static ConstantInterval single_point(int64_t x) {
        return {x, x};
    }
    static ConstantInterval bounded_below(int64_t min) {
        return internal::ConstRange::at_least(min);
    }
    static ConstantInterval bounded_above(int64_t max) {
        return internal::ConstRange::at_most(max);
    }
    static ConstantInterval bounds_of_type(Type t) {
        return internal::ConstRange::of_type(t);
    }

    bool is_everything() const {
        return !min_defined && !max_defined;
    }
    bool is_bounded() const {
        return min_defined && max_defined;
    }
    bool is_single_point() const {
        return is_bounded() && min == max;
    }
    bool is_single_point(int64_t x) const {
        return is_single_point() && min == x;
    }
    bool contains(int32_t x) const {
        return contains(int64_t(x));
    }
    bool contains(int64_t x) const {
        return internal::ConstRange(*this).contains(x);
    }
    bool contains(uint64_t x) const;
    bool contains(const ConstantInterval &other) const {
        return internal::ConstRange(*this).contains(internal::ConstRange(other));
    }

    static ConstantInterval make_union(const ConstantInterval &a, const ConstantInterval &b);
    /// An InternalError if no integer is in both.
    static ConstantInterval make_intersection(const ConstantInterval &a, const ConstantInterval &b);
    void include(const ConstantInterval &i) {
        *this = make_union(*this, i);
    }
    void include(int64_t x) {
        include(single_point(x));
    }

    /// What a conversion to the type leaves: all of the type where it may change values.
    void cast_to(const Type &t);
    ConstantInterval operator-() const;
    bool operator==(const ConstantInterval &other) const;
    bool operator!=(const ConstantInterval &other) const {
        return !(*this == other);
    }
};

// The results of all pairs; a number stands for the interval of itself. Ends that leave 64 bits are
// dropped. Comparisons are true if they hold for all pairs.
#define CALOTYPE_INTERVAL_OPERATION(Result, name)                                                  \
    Result name(const ConstantInterval &a, const ConstantInterval &b);                             \
    inline Result name(const ConstantInterval &a, int64_t b) {                                     \
        return name(a, ConstantInterval::single_point(b));                                         \
    }                                                                                              \
    inline Result name(int64_t a, const ConstantInterval &b) {                                     \
        return name(ConstantInterval::single_point(a), b);                                         \
    }
CALOTYPE_INTERVAL_OPERATION(ConstantInterval, operator+)
CALOTYPE_INTERVAL_OPERATION(ConstantInterval, operator-)
CALOTYPE_INTERVAL_OPERATION(ConstantInterval, operator*)
CALOTYPE_INTERVAL_OPERATION(ConstantInterval, operator/)
CALOTYPE_INTERVAL_OPERATION(ConstantInterval, operator%)
CALOTYPE_INTERVAL_OPERATION(ConstantInterval, min)
CALOTYPE_INTERVAL_OPERATION(ConstantInterval, max)
CALOTYPE_INTERVAL_OPERATION(bool, operator<)
CALOTYPE_INTERVAL_OPERATION(bool, operator<=)
CALOTYPE_INTERVAL_OPERATION(bool, operator>)
CALOTYPE_INTERVAL_OPERATION(bool, operator>=)
#undef CALOTYPE_INTERVAL_OPERATION

#define CALOTYPE_INTERVAL_ASSIGNMENT(op)                                                           \
    inline void operator op##=(ConstantInterval &a, const ConstantInterval &b) {                   \
        a = a op b;                                                                                \
    }                                                                                              \
    inline void operator op##=(ConstantInterval &a, int64_t b) {                                   \
        a = a op b;                                                                                \
    }
CALOTYPE_INTERVAL_ASSIGNMENT(+)
CALOTYPE_INTERVAL_ASSIGNMENT(-)
CALOTYPE_INTERVAL_ASSIGNMENT(*)
CALOTYPE_INTERVAL_ASSIGNMENT(/)
CALOTYPE_INTERVAL_ASSIGNMENT(%)
#undef CALOTYPE_INTERVAL_ASSIGNMENT

ConstantInterval abs(const ConstantInterval &i);
ConstantInterval cast(Type t, const ConstantInterval &i);
/// "[1, 5]", "[-inf, 5]".
std::ostream &operator<<(std::ostream &out, const ConstantInterval &i);

}  // namespace Internal
}  // namespace calotype
