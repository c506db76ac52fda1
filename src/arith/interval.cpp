// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "arith/interval.h"

#include <ostream>

#include "arith/bounds/ends.h"
#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/equality.h"
#include "ir/printer.h"

namespace calotype::internal {

namespace {

bool same_end(const Expr &a, const Expr &b) {
    if (!a.defined() || !b.defined()) {
        return a.defined() == b.defined();
    }
    return a.same_as(b) || equal(a, b);
}

bool is_inverted_constant(const Interval &i) {
    return i.is_bounded() && is_const(i.min) && is_const(i.max) &&
           is_const_one(ends::less(i.max, i.min));
}

}  // namespace

Interval Interval::make_union(const Interval &a, const Interval &b) {
    return internal::make_union(a, b);
}

Interval Interval::make_intersection(const Interval &a, const Interval &b) {
    if (a.is_empty() || b.is_empty()) {
        return Interval::nothing();
    }
    return {ends::max_or_other(a.min, b.min), ends::min_or_other(a.max, b.max)};
}

bool Interval::same_as(const Interval &other) const {
    return is_empty() == other.is_empty() && same_end(min, other.min) && same_end(max, other.max);
}

void Interval::include(const Interval &other) {
    *this = make_union(*this, other);
}

Expr Interval::extent() const {
    if (!is_bounded()) {
        return Expr();
    }
    return internal::simplify(ends::add(ends::sub(max, min), make_one(min.type())));
}

Interval make_union(const Interval &a, const Interval &b) {
    if (a.is_empty()) {
        return b;
    }
    if (b.is_empty()) {
        return a;
    }
    if (a.is_single_point() && b.is_single_point() && same_end(a.min, b.min)) {
        return a;
    }
    const Expr min = same_end(a.min, b.min) ? a.min : ends::min(a.min, b.min);
    const Expr max = same_end(a.max, b.max) ? a.max : ends::max(a.max, b.max);
    return {min, max};
}

Interval make_intersection(const Interval &a, const Interval &b) {
    const Interval result = Interval::make_intersection(a, b);
    return is_inverted_constant(result) ? Interval::nothing() : result;
}

Interval simplify(const Interval &i) {
    if (i.is_empty()) {
        return i;
    }
    if (i.is_single_point()) {
        return Interval::single_point(internal::simplify(i.min));
    }
    Interval result(internal::simplify(i.min), internal::simplify(i.max));
    if (result.is_bounded() && equal(result.min, result.max)) {
        result.max = result.min;
    }
    return result;
}

bool contains(const Interval &i, const Expr &e) {
    if (i.is_empty()) {
        return false;
    }
    const auto holds = [](const Expr &a, const Expr &b) {
        return same_end(a, b) || can_prove(ends::less_equal(a, b));
    };
    return (!i.min.defined() || holds(i.min, e)) && (!i.max.defined() || holds(e, i.max));
}

ConstantInterval as_constant_interval(const Interval &i) {
    ConstantInterval result;
    if (i.min.defined()) {
        result.min = as_const_int(i.min);
    }
    if (i.max.defined()) {
        result.max = as_const_int(i.max);
    }
    return result;
}

Interval make_interval(const ConstantInterval &i, Type t) {
    t = t.element_of();
    const auto end = [&](std::optional<int64_t> x) {
        return x && t.can_represent(*x) ? make_const(t, *x) : Expr();
    };
    Interval result(end(i.min), end(i.max));
    if (i.is_single()) {
        result.max = result.min;
    }
    return result;
}

std::ostream &operator<<(std::ostream &out, const Interval &i) {
    if (i.is_empty()) {
        return out << "[nothing]";
    }
    i.min.defined() ? out << "[" << i.min : out << "[-inf";
    return i.max.defined() ? out << ", " << i.max << "]" : out << ", inf]";
}

}  // namespace calotype::internal
