// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "arith/box.h"

#include <algorithm>
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

/// Two conditions as the parts that they share and those of each alone.
struct Compared {
    Compared(const Expr &a, const Expr &b) : of_a(ends::conjuncts(a)), of_b(ends::conjuncts(b)) {
        for (size_t i = 0; i < of_a.size();) {
            const auto same = std::find_if(of_b.begin(), of_b.end(),
                                           [&](const Expr &e) { return equal(e, of_a[i]); });
            if (same == of_b.end()) {
                i++;
                continue;
            }
            shared.push_back(of_a[i]);
            of_b.erase(same);
            of_a.erase(of_a.begin() + long(i));
        }
    }

    /// Some part of one is the negation of parts of the other.
    bool exclude_each_other() const {
        return some_negates(of_a, of_b) || some_negates(of_b, of_a);
    }
    /// What they share is all that holds where at least one of them does.
    bool make_what_they_share() const {
        return of_a.empty() || of_b.empty() || is_negation(of_a, of_b) || is_negation(of_b, of_a);
    }

    std::vector<Expr> shared, of_a, of_b;

private:
    static bool some_negates(const std::vector<Expr> &a, const std::vector<Expr> &b) {
        return std::any_of(a.begin(), a.end(), [&](const Expr &e) { return negates(e, b); });
    }
    static bool is_negation(const std::vector<Expr> &a, const std::vector<Expr> &b) {
        return a.size() == 1 && negates(a[0], b) &&
               are_among(b, ends::conjuncts(a[0].as<Not>()->a));
    }
    static bool are_among(const std::vector<Expr> &some, const std::vector<Expr> &all) {
        return std::all_of(some.begin(), some.end(), [&](const Expr &e) {
            return std::any_of(all.begin(), all.end(),
                               [&](const Expr &other) { return equal(e, other); });
        });
    }
    /// e is !(p && q && ...), and all of these are among the parts.
    static bool negates(const Expr &e, const std::vector<Expr> &parts) {
        const Not *negated = e.as<Not>();
        return negated && are_among(ends::conjuncts(negated->a), parts);
    }
};

/// The conditions of which one must hold for e to hold.
void collect_alternatives(const Expr &e, std::vector<Expr> *alternatives) {
    if (const Or *either = e.as<Or>()) {
        collect_alternatives(either->a, alternatives);
        collect_alternatives(either->b, alternatives);
    } else {
        alternatives->push_back(e);
    }
}

std::vector<Expr> alternatives_of(const Expr &e) {
    std::vector<Expr> result;
    collect_alternatives(e, &result);
    return result;
}

Expr all_of(const std::vector<Expr> &parts) {
    Expr result;
    for (const Expr &p : parts) {
        result = result.defined() ? ends::logical_and(result, p) : p;
    }
    return result.defined() ? result : const_true();
}

/// Adds an alternative; two of which one is the negation of the other but for what they share, or
/// of which one says more than the other, become one.
void add_alternative(Expr e, std::vector<Expr> *alternatives) {
    for (size_t i = 0; i < alternatives->size();) {
        const Compared parts(e, (*alternatives)[i]);
        if (parts.make_what_they_share()) {
            e = all_of(parts.shared);
            alternatives->erase(alternatives->begin() + long(i));
            i = 0;
        } else {
            i++;
        }
    }
    alternatives->push_back(e);
}

bool exclude_each_other(const Expr &a, const Expr &b) {
    for (const Expr &x : alternatives_of(a)) {
        for (const Expr &y : alternatives_of(b)) {
            if (!Compared(x, y).exclude_each_other()) {
                return false;
            }
        }
    }
    return true;
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
    Uses uses{a, b};
    if (is_condition(a) && is_condition(b) && are_smaller_than(largest_alternative, a, b)) {
        uses.never_both =
            exclude_each_other(a, b) || (are_smaller_than(largest_choice, a, b) &&
                                         can_prove(ends::logical_not(ends::logical_and(a, b))));
    }
    return uses;
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
    std::vector<Expr> alternatives = alternatives_of(a);
    for (const Expr &e : alternatives_of(b)) {
        add_alternative(e, &alternatives);
    }
    Expr result;
    for (const Expr &e : alternatives) {
        result = result.defined() ? ends::logical_or(result, e) : e;
    }
    return result;
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
