// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Interval: a range of values with symbolic ends, either of which may be missing.
#pragma once

#include <iosfwd>

#include "arith/constant_interval.h"
#include "ir/expr.h"

namespace calotype::internal {

/// The values v with min <= v <= max.
///
/// An undefined `min` (`max`) means that there is no lower (upper) bound; `is_empty` marks the
/// interval that holds nothing, whose ends are undefined as well. There is no expression that
/// stands for infinity: code that forgets to test for a missing end fails loudly when it builds a
/// node from an undefined operand.
///
/// Ends are scalar expressions. A symbolic interval may turn out to be inverted (min > max) where
/// the program runs; that means empty.
struct Interval {
    Expr min, max;

    Interval() = default;  ///< everything
    Interval(Expr min, Expr max) : min(std::move(min)), max(std::move(max)) {
    }

    static Interval everything() {
        return Interval();
    }
    static Interval nothing() {
        Interval i;
        i.empty_ = true;
        return i;
    }
    static Interval single_point(const Expr &e) {
        return Interval(e, e);
    }
    /// The ends of an interval that is unbounded there, for readable construction.
    static Expr neg_inf() {
        return Expr();
    }
    static Expr pos_inf() {
        return Expr();
    }

    bool is_empty() const {
        return empty_;
    }
    bool is_everything() const {
        return !empty_ && !min.defined() && !max.defined();
    }
    bool is_bounded() const {
        return min.defined() && max.defined();
    }
    bool has_lower_bound() const {
        return min.defined();
    }
    bool has_upper_bound() const {
        return max.defined();
    }
    /// Both ends are the same node.
    bool is_single_point() const {
        return min.defined() && min.get() == max.get();
    }
    bool is_single_point(const Expr &e) const {
        return min.defined() && min.get() == e.get() && max.get() == e.get();
    }
    /// The ends are structurally the same, or provably so by their constant values.
    bool same_as(const Interval &other) const;

    /// Grow to contain `other`, or the value.
    void include(const Interval &other);
    void include(const Expr &e) {
        include(single_point(e));
    }

    /// max - min + 1, simplified; undefined unless bounded.
    Expr extent() const;

    /// The function of this name.
    static Interval make_union(const Interval &a, const Interval &b);
    /// By the ends alone: [3, 4] and [9, 10] give the inverted [9, 4].
    static Interval make_intersection(const Interval &a, const Interval &b);

private:
    bool empty_ = false;
};

/// The smallest interval known to contain both.
Interval make_union(const Interval &a, const Interval &b);
/// The values in both. Disjoint constant intervals give nothing(); symbolic ones may give an
/// inverted interval.
Interval make_intersection(const Interval &a, const Interval &b);
/// The interval with each end simplified.
Interval simplify(const Interval &i);
/// True if e is known (without deep proof) to lie within the interval.
bool contains(const Interval &i, const Expr &e);

/// The constant ends, where they are constants that fit int64.
ConstantInterval as_constant_interval(const Interval &i);
/// The constants as expressions of scalar type t.
Interval make_interval(const ConstantInterval &i, Type t);

std::ostream &operator<<(std::ostream &out, const Interval &i);

}  // namespace calotype::internal
