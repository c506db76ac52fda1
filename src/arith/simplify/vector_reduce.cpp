// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions over lanes that are equal or of known form.
#include <set>
#include <utility>

#include "arith/simplify/simplifier.h"
#include "ir/constants.h"
#include "ir/operators.h"

namespace calotype::internal {

namespace {

bool is_idempotent(VectorReduce::Operator op) {
    return op == VectorReduce::Min || op == VectorReduce::Max || op == VectorReduce::And ||
           op == VectorReduce::Or;
}

/// The smallest and the largest lane of a ramp or broadcast; undefined for others.
std::pair<Expr, Expr> ends_of(const Expr &e) {
    const auto *b = e.as<Broadcast>();
    if (b && b->value.type().is_scalar()) {
        return {b->value, b->value};
    }
    const auto *r = e.as<Ramp>();
    const auto stride = r && r->base.type().is_scalar() ? as_const_int(r->stride) : std::nullopt;
    if (!stride || !e.type().is_int() || e.type().bits() < 32) {
        return {};
    }
    const Expr last = r->base + make_const(r->base.type(), *stride * (r->lanes - 1));
    return *stride >= 0 ? std::pair(r->base, last) : std::pair(last, r->base);
}

/// Whether a comparison with what is the same in all lanes holds in all of them, or in any: that of
/// one lane.
template<typename Comparison>
Expr in_lanes(const Comparison *op, bool all) {
    const auto [low_a, high_a] = ends_of(op->a);
    const auto [low_b, high_b] = ends_of(op->b);
    const bool known = low_a.defined() && low_b.defined();
    if (!known || !(low_a.same_as(high_a) || low_b.same_as(high_b))) {
        return Expr();
    }
    return Comparison::make(all ? high_a : low_a, all ? low_b : high_b);
}

/// Whether each lane of the one vector that it takes lanes of occurs.
bool takes_all_lanes(const Shuffle *op) {
    if (op->vectors.size() != 1) {
        return false;
    }
    const size_t lanes = size_t(op->vectors[0].type().lanes());
    return std::set<int>(op->indices.begin(), op->indices.end()).size() == lanes;
}

/// A condition of vectors, for all lanes or any, as one of scalars; undefined if it is none.
Expr in_lanes(const Expr &condition, bool all) {
    if (const auto *op = condition.as<LT>()) {
        return in_lanes(op, all);
    } else if (const auto *op = condition.as<LE>()) {
        return in_lanes(op, all);
    } else if (const auto *op = condition.as<Not>()) {
        const Expr other = in_lanes(op->a, !all);
        return other.defined() ? !other : other;
    }
    const auto *both = condition.as<And>();
    const auto *either = condition.as<Or>();
    if (all ? both != nullptr : either != nullptr) {
        const Expr a = in_lanes(all ? both->a : either->a, all);
        const Expr b = in_lanes(all ? both->b : either->b, all);
        return !a.defined() || !b.defined() ? Expr() : all ? a && b : a || b;
    }
    const auto *groups = condition.as<VectorReduce>();
    if (groups && groups->op == (all ? VectorReduce::And : VectorReduce::Or)) {
        return in_lanes(groups->value, all);
    }
    const auto *order = condition.as<Shuffle>();
    if (order && takes_all_lanes(order)) {
        return in_lanes(order->vectors[0], all);
    }
    const auto *b = condition.as<Broadcast>();
    return b && b->value.type().is_scalar() ? b->value : Expr();
}

}  // namespace

Expr Simplifier::visit(const VectorReduce *op) {
    const Expr value = mutate(op->value);
    const int lanes = op->type.lanes(), factor = value.type().lanes() / lanes;
    if (factor == 1) {
        return value;
    }
    const auto *b = value.as<Broadcast>();
    if (b && b->value.type().is_scalar()) {
        const Expr one = b->value;
        if (is_idempotent(op->op)) {
            return lanes == 1 ? one : broadcast(one, lanes);
        }
        if (op->op == VectorReduce::Add && one.type().is_int_or_uint() && !one.type().is_bool()) {
            const Expr sum = mul(one, make_const(one.type(), factor));
            return lanes == 1 ? sum : broadcast(sum, lanes);
        }
    }
    if (lanes == 1 && (op->op == VectorReduce::And || op->op == VectorReduce::Or)) {
        const Expr scalar = in_lanes(value, op->op == VectorReduce::And);
        if (scalar.defined()) {
            return mutate(scalar);
        }
    }
    const auto *r = value.as<Ramp>();
    const auto stride = r && r->base.type().is_scalar() ? as_const_int(r->stride) : std::nullopt;
    const bool exact_ramp = stride && lanes == 1 && r->type.is_int() && r->type.bits() >= 32;
    if (exact_ramp && (op->op == VectorReduce::Min || op->op == VectorReduce::Max)) {
        const bool first = (op->op == VectorReduce::Min) == (*stride >= 0);
        return first ? r->base : add(r->base, make_const(r->base.type(), *stride * (r->lanes - 1)));
    }
    return value.same_as(op->value) ? Expr(op) : VectorReduce::make(op->op, value, lanes);
}

}  // namespace calotype::internal
