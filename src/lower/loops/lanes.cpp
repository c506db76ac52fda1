// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/loops/lanes.h"

#include <optional>

#include "arith/strided.h"
#include "ir/constants.h"
#include "ir/operators.h"
#include "ir/queries.h"

namespace calotype::internal {

namespace {

/// First and last value of a vector whose lanes grow (or stay, or fall) one after the other.
struct Ends {
    Expr smallest, largest;
};

std::optional<Ends> ends_of_lanes(const Expr &e);

bool is_uniform(const Ends &e) {
    return e.smallest.same_as(e.largest);
}

/// Of an operation on two vectors that keeps the order of lanes, one of the operands being the same
/// in all.
template<typename Op>
std::optional<Ends> ends_of_monotonic(const Op *op) {
    const std::optional<Ends> a = ends_of_lanes(op->a), b = ends_of_lanes(op->b);
    if (!a || !b || (!is_uniform(*a) && !is_uniform(*b))) {
        return std::nullopt;
    }
    return Ends{Op::make(a->smallest, b->smallest), Op::make(a->largest, b->largest)};
}

std::optional<Ends> turned(const std::optional<Ends> &ends) {
    return ends ? std::optional(Ends{ends->largest, ends->smallest}) : ends;
}

/// Differences keep the order of the first operand, and turn that of the second.
std::optional<Ends> ends_of_difference(const Sub *op) {
    const std::optional<Ends> a = ends_of_lanes(op->a), b = turned(ends_of_lanes(op->b));
    if (!a || !b || (!is_uniform(*a) && !is_uniform(*b))) {
        return std::nullopt;
    }
    return Ends{a->smallest - b->smallest, a->largest - b->largest};
}

std::optional<Ends> ends_of_operation(const Expr &e) {
    if (const Add *op = e.as<Add>()) {
        return ends_of_monotonic(op);
    }
    if (const Min *op = e.as<Min>()) {
        return ends_of_monotonic(op);
    }
    if (const Max *op = e.as<Max>()) {
        return ends_of_monotonic(op);
    }
    if (const Sub *op = e.as<Sub>()) {
        return ends_of_difference(op);
    }
    const Mul *product = e.as<Mul>();
    const Broadcast *factor = product ? product->b.as<Broadcast>() : nullptr;
    if (factor && is_positive_const(factor->value)) {
        return ends_of_monotonic(product);
    }
    if (factor && is_negative_const(factor->value)) {
        return turned(ends_of_monotonic(product));
    }
    const Div *quotient = e.as<Div>();
    const Broadcast *divisor = quotient ? quotient->b.as<Broadcast>() : nullptr;
    if (divisor && is_positive_const(divisor->value)) {
        return ends_of_monotonic(quotient);
    }
    return std::nullopt;
}

/// Where lane by lane is in order, or what is made of such without changing the order.
std::optional<Ends> ends_of_lanes(const Expr &e) {
    if (e.type().is_scalar()) {
        return Ends{e, e};
    }
    if (!e.type().is_int() || e.type().can_overflow()) {
        return std::nullopt;
    }
    const std::optional<AffineLanes> affine = affine_lanes_of(e);
    if (!affine) {
        return ends_of_operation(e);
    }
    if (is_const_zero(affine->stride)) {
        return Ends{affine->base, affine->base};
    }
    const Expr last =
        affine->base + affine->stride * make_const(affine->stride.type(), e.type().lanes() - 1);
    if (is_positive_const(affine->stride)) {
        return Ends{affine->base, last};
    }
    if (is_negative_const(affine->stride)) {
        return Ends{last, affine->base};
    }
    return std::nullopt;
}

/// The comparison of the lanes that make it hardest (all) or easiest (any) to hold.
template<typename Comparison>
Expr compare_ends(const Comparison *op, bool all) {
    const std::optional<Ends> a = ends_of_lanes(op->a), b = ends_of_lanes(op->b);
    if (!a || !b || (!is_uniform(*a) && !is_uniform(*b))) {
        return Expr();
    }
    constexpr bool less =
        Comparison::kind_tag == NodeKind::LT || Comparison::kind_tag == NodeKind::LE;
    const bool large_a = less == all;
    return Comparison::make(large_a ? a->largest : a->smallest, large_a ? b->smallest : b->largest);
}

Expr reduce_condition(const Expr &condition, bool all);

Expr reduce_structure(const Expr &c, bool all) {
    if (const Broadcast *op = c.as<Broadcast>()) {
        return reduce_condition(op->value, all);
    }
    if (const Not *op = c.as<Not>()) {
        return !reduce_condition(op->a, !all);
    }
    const And *conjunction = c.as<And>();
    if (conjunction && all) {
        return reduce_condition(conjunction->a, all) && reduce_condition(conjunction->b, all);
    }
    const Or *disjunction = c.as<Or>();
    if (disjunction && !all) {
        return reduce_condition(disjunction->a, all) || reduce_condition(disjunction->b, all);
    }
    switch (c.kind()) {
    case NodeKind::LT:
        return compare_ends(c.as<LT>(), all);
    case NodeKind::LE:
        return compare_ends(c.as<LE>(), all);
    case NodeKind::GT:
        return compare_ends(c.as<GT>(), all);
    case NodeKind::GE:
        return compare_ends(c.as<GE>(), all);
    default:
        return Expr();
    }
}

Expr reduce_condition(const Expr &condition, bool all) {
    if (condition.type().is_scalar()) {
        return condition;
    }
    const Expr result = reduce_structure(condition, all);
    return result.defined()
               ? result
               : VectorReduce::make(all ? VectorReduce::And : VectorReduce::Or, condition, 1);
}

}  // namespace

Expr all_lanes(const Expr &condition) {
    return reduce_condition(remove_likelies(condition), true);
}

Expr any_lane(const Expr &condition) {
    return reduce_condition(remove_likelies(condition), false);
}

Expr largest_lane(const Expr &e) {
    const std::optional<Ends> ends = ends_of_lanes(e);
    return ends ? ends->largest : VectorReduce::make(VectorReduce::Max, e, 1);
}

Expr repeat_lanes(const Expr &e, int factor) {
    if (e.type().is_scalar() || factor == 1) {
        return Broadcast::make(e, factor);
    }
    if (const Broadcast *op = e.as<Broadcast>()) {
        return Broadcast::make(repeat_lanes(op->value, factor), op->lanes);
    }
    if (const Ramp *op = e.as<Ramp>()) {
        return Ramp::make(repeat_lanes(op->base, factor), repeat_lanes(op->stride, factor),
                          op->lanes);
    }
    std::vector<int> indices;
    for (int i = 0; i < e.type().lanes() * factor; i++) {
        indices.push_back(i / factor);
    }
    return Shuffle::make({e}, indices);
}

}  // namespace calotype::internal
