// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/loops/lanes.h"

#include <optional>

#include "arith/exact_types.h"
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

using MaybeEnds = std::optional<Ends>;

bool is_uniform(const Ends &e) {
    return e.smallest.same_as(e.largest);
}

MaybeEnds turned(const MaybeEnds &ends) {
    return ends ? std::optional(Ends{ends->largest, ends->smallest}) : ends;
}

/// Ends of vectors, and questions about all lanes that they answer. Where `bounds_do`, of lanes in
/// any order, and of sums of several such: what no lane is beyond, though none may be at it.
class LaneEnds {
public:
    explicit LaneEnds(bool bounds_do) : bounds_do_(bounds_do) {
    }

    /// Where lane by lane is in order, or what is made of such without changing the order.
    MaybeEnds of(const Expr &e) const {
        if (e.type().is_scalar()) {
            return Ends{e, e};
        }
        if (!is_exact_int(e.type())) {
            return std::nullopt;
        }
        const std::optional<AffineLanes> affine = affine_lanes_of(e);
        if (!affine) {
            return of_operation(e);
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

    /// The condition for all lanes, or for any.
    Expr reduce(const Expr &condition, bool all) const {
        if (condition.type().is_scalar()) {
            return condition;
        }
        const Expr result = reduce_structure(condition, all);
        return result.defined()
                   ? result
                   : VectorReduce::make(all ? VectorReduce::And : VectorReduce::Or, condition, 1);
    }

private:
    /// Whether ends of two vectors together are ends of what is made of both.
    bool go_together(const MaybeEnds &a, const MaybeEnds &b) const {
        return a && b && (bounds_do_ || is_uniform(*a) || is_uniform(*b));
    }

    /// Of an operation on two vectors that keeps the order of lanes.
    template<typename Op>
    MaybeEnds of_monotonic(const Op *op) const {
        const MaybeEnds a = of(op->a), b = of(op->b);
        if (!go_together(a, b)) {
            return std::nullopt;
        }
        return Ends{Op::make(a->smallest, b->smallest), Op::make(a->largest, b->largest)};
    }

    /// Differences keep the order of the first operand, and turn that of the second.
    MaybeEnds of_difference(const Sub *op) const {
        const MaybeEnds a = of(op->a), b = turned(of(op->b));
        if (!go_together(a, b)) {
            return std::nullopt;
        }
        return Ends{a->smallest - b->smallest, a->largest - b->largest};
    }

    MaybeEnds of_choice(const Select *op) const {
        const MaybeEnds a = of(op->true_value), b = of(op->false_value);
        if (!a || !b) {
            return std::nullopt;
        }
        return Ends{min(a->smallest, b->smallest), max(a->largest, b->largest)};
    }

    MaybeEnds of_operation(const Expr &e) const {
        if (const Add *op = e.as<Add>()) {
            return of_monotonic(op);
        }
        if (const Min *op = e.as<Min>()) {
            return of_monotonic(op);
        }
        if (const Max *op = e.as<Max>()) {
            return of_monotonic(op);
        }
        if (const Sub *op = e.as<Sub>()) {
            return of_difference(op);
        }
        const Mul *product = e.as<Mul>();
        const Broadcast *factor = product ? product->b.as<Broadcast>() : nullptr;
        if (factor && is_positive_const(factor->value)) {
            return of_monotonic(product);
        }
        if (factor && is_negative_const(factor->value)) {
            return turned(of_monotonic(product));
        }
        const Div *quotient = e.as<Div>();
        const Broadcast *divisor = quotient ? quotient->b.as<Broadcast>() : nullptr;
        if (divisor && is_positive_const(divisor->value)) {
            return of_monotonic(quotient);
        }
        return bounds_do_ ? bounds_of_operation(e) : std::nullopt;
    }

    /// Of what changes the order of lanes: which phase of several each is in, and a choice by it.
    MaybeEnds bounds_of_operation(const Expr &e) const {
        const Mod *remainder = e.as<Mod>();
        const Broadcast *divisor = remainder ? remainder->b.as<Broadcast>() : nullptr;
        if (divisor && is_positive_const(divisor->value)) {
            return Ends{make_zero(divisor->value.type()), divisor->value - 1};
        }
        const Select *choice = e.as<Select>();
        return choice ? of_choice(choice) : std::nullopt;
    }

    /// The comparison of the lanes that make it hardest (all) or easiest (any) to hold.
    template<typename Comparison>
    Expr compare_ends(const Comparison *op, bool all) const {
        const MaybeEnds a = of(op->a), b = of(op->b);
        if (!go_together(a, b)) {
            return Expr();
        }
        constexpr bool less =
            Comparison::kind_tag == NodeKind::LT || Comparison::kind_tag == NodeKind::LE;
        const bool large_a = less == all;
        return Comparison::make(large_a ? a->largest : a->smallest,
                                large_a ? b->smallest : b->largest);
    }

    Expr reduce_structure(const Expr &c, bool all) const {
        if (const Broadcast *op = c.as<Broadcast>()) {
            return reduce(op->value, all);
        }
        if (const Not *op = c.as<Not>()) {
            return !reduce(op->a, !all);
        }
        const And *conjunction = c.as<And>();
        if (conjunction && all) {
            return reduce(conjunction->a, all) && reduce(conjunction->b, all);
        }
        const Or *disjunction = c.as<Or>();
        if (disjunction && !all) {
            return reduce(disjunction->a, all) || reduce(disjunction->b, all);
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

    const bool bounds_do_;
};

}  // namespace

Expr all_lanes(const Expr &condition) {
    return LaneEnds(false).reduce(remove_likelies(condition), true);
}

Expr surely_all_lanes(const Expr &condition) {
    return LaneEnds(true).reduce(remove_likelies(condition), true);
}

Expr any_lane(const Expr &condition) {
    return LaneEnds(false).reduce(remove_likelies(condition), false);
}

Expr largest_lane(const Expr &e) {
    const MaybeEnds ends = LaneEnds(false).of(e);
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
