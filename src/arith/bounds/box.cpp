// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "arith/box.h"

#include <ostream>

#include "arith/bounds/ends.h"
#include "arith/order.h"
#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/equality.h"
#include "ir/printer.h"

namespace calotype::internal {

namespace {

/// Up to this many nodes, the union of two ends is a choice by which of them is used. Where at most
/// one of them is, no end is repeated.
constexpr int largest_choice = 40;
constexpr int largest_alternative = 200;

bool are_smaller_than(int limit, const Expr &a, const Expr &b) {
    return ends::tree_size(a, limit) + ends::tree_size(b, limit) < limit;
}

bool is_condition(const Expr &used) {
    return used.defined() && !is_trivially_true(used);
}

bool provable_less_equal(const Expr &a, const Expr &b) {
    return known_less_equal(a, b) || can_prove(ends::less_equal(a, b));
}

/// The smaller of two lower ends, the larger of two upper ones.
Expr union_end(const Expr &a, const Expr &b, bool lower) {
    if (known_less_equal(a, b)) {
        return lower ? a : b;
    }
    if (known_less_equal(b, a)) {
        return lower ? b : a;
    }
    return simplify(lower ? ends::min(a, b) : ends::max(a, b));
}

/// How two sides of a union come to be used.
struct Uses {
    Expr a, b;  ///< undefined: always
    bool never_both = false;
};

Uses uses_of(const Expr &a, const Expr &b) {
    return {a, b,
            is_condition(a) && is_condition(b) && are_smaller_than(largest_choice, a, b) &&
                can_prove(ends::logical_not(ends::logical_and(a, b)))};
}

/// The union of an end and one that counts under a condition, where nothing is repeated: without it
/// there stands the value that adds nothing.
Expr union_with_optional(const Expr &a, const Expr &b, const Expr &used, bool lower) {
    const Expr plain = union_end(a, b, lower);
    if (equal(plain, a) || !b.type().is_int() || !b.type().is_scalar()) {
        return plain;
    }
    const Expr nothing = lower ? b.type().max() : b.type().min();
    return union_end(a, ends::select(used, b, nothing), lower);
}

/// The end of a union where each side counts only if it is used.
Expr merge_end(const Expr &a, const Expr &b, const Uses &uses, bool lower) {
    if (!a.defined() || !b.defined()) {
        return Expr();
    }
    if (a.same_as(b) || equal(a, b)) {
        return a;
    }
    if (uses.never_both && are_smaller_than(largest_alternative, a, b)) {
        return ends::select(uses.b, b, a);
    }
    // A choice repeats an end. Of large ones that would add up.
    const bool small = are_smaller_than(largest_choice, a, b);
    if (!small && is_condition(uses.b) && are_smaller_than(largest_choice, uses.b, b)) {
        return union_with_optional(a, b, uses.b, lower);
    }
    // Where an end is that of the union, the other one's use does not matter: with neither used,
    // what is left is the end that reaches less far, and adds nothing to further unions.
    const Expr both = union_end(a, b, lower);
    Expr end = both;
    if (small && is_condition(uses.b) && !equal(both, a)) {
        end = ends::select(uses.b, end, a);
    }
    if (small && is_condition(uses.a) && !equal(both, b)) {
        end = ends::select(uses.a, end, b);
    }
    return end;
}

Expr either_used(const Expr &a, const Expr &b) {
    if (!is_condition(a) || !is_condition(b) || !are_smaller_than(largest_alternative, a, b)) {
        return Expr();
    }
    return simplify(ends::logical_or(a, b));
}

Expr both_used(const Expr &a, const Expr &b) {
    if (!is_condition(a) || !is_condition(b)) {
        return is_condition(a) ? a : b;
    }
    return simplify(ends::logical_and(a, b));
}

}  // namespace

bool Box::maybe_unused() const {
    return is_condition(used);
}

void merge_boxes(Box &a, const Box &b) {
    if (b.empty() && !a.empty()) {
        return;
    }
    if (a.empty() && !b.empty()) {
        a = b;
        return;
    }
    internal_assert(a.size() == b.size())
        << "boxes of " << a.size() << " and " << b.size() << " dimensions";
    const bool alike = a.maybe_unused() && b.maybe_unused() && equal(a.used, b.used);
    const Uses uses = alike ? Uses() : uses_of(a.used, b.used);
    for (size_t i = 0; i < a.size(); i++) {
        Interval &x = a[i];
        const Interval &y = b[i];
        if (x.is_empty() || y.is_empty()) {
            x = x.is_empty() ? y : x;
            continue;
        }
        if (x.is_single_point() && y.is_single_point() && equal(x.min, y.min)) {
            continue;
        }
        x = Interval(merge_end(x.min, y.min, uses, true), merge_end(x.max, y.max, uses, false));
    }
    a.used = alike ? a.used : either_used(a.used, b.used);
}

Box box_union(const Box &a, const Box &b) {
    Box result = a;
    merge_boxes(result, b);
    return result;
}

Box box_intersection(const Box &a, const Box &b) {
    internal_assert(a.size() == b.size())
        << "boxes of " << a.size() << " and " << b.size() << " dimensions";
    Box result(a.size());
    for (size_t i = 0; i < a.size(); i++) {
        result[i] = simplify(make_intersection(a[i], b[i]));
    }
    result.used = both_used(a.used, b.used);
    return result;
}

bool boxes_overlap(const Box &a, const Box &b) {
    internal_assert(a.size() == b.size())
        << "boxes of " << a.size() << " and " << b.size() << " dimensions";
    const Expr used = both_used(a.used, b.used);
    if (used.defined() && can_prove(ends::logical_not(used))) {
        return false;
    }
    const auto provably_before = [](const Interval &x, const Interval &y) {
        return x.max.defined() && y.min.defined() && can_prove(ends::less(x.max, y.min));
    };
    for (size_t i = 0; i < a.size(); i++) {
        if (a[i].is_empty() || b[i].is_empty() || provably_before(a[i], b[i]) ||
            provably_before(b[i], a[i])) {
            return false;
        }
    }
    return true;
}

bool box_contains(const Box &outer, const Box &inner) {
    internal_assert(outer.size() == inner.size())
        << "boxes of " << outer.size() << " and " << inner.size() << " dimensions";
    for (size_t i = 0; i < outer.size(); i++) {
        const Interval &o = outer[i], &n = inner[i];
        if (n.is_empty()) {
            continue;
        }
        const bool below =
            !o.min.defined() || (n.min.defined() && provable_less_equal(o.min, n.min));
        const bool above =
            !o.max.defined() || (n.max.defined() && provable_less_equal(n.max, o.max));
        if (o.is_empty() || !below || !above) {
            return false;
        }
    }
    if (!outer.maybe_unused()) {
        return true;
    }
    return inner.maybe_unused() &&
           (equal(inner.used, outer.used) ||
            can_prove(ends::logical_or(ends::logical_not(inner.used), outer.used)));
}

Box simplify(const Box &b) {
    Box result = b;
    for (Interval &i : result.bounds) {
        i = simplify(i);
    }
    if (result.used.defined()) {
        result.used = simplify(result.used);
        result.used = is_condition(result.used) ? result.used : Expr();
    }
    return result;
}

std::ostream &operator<<(std::ostream &out, const Box &b) {
    out << "{";
    for (size_t i = 0; i < b.size(); i++) {
        out << (i ? ", " : "") << b[i];
    }
    out << "}";
    return b.maybe_unused() ? out << " if " << b.used : out;
}

}  // namespace calotype::internal
