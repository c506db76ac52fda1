// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "arith/strided.h"

#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/expr_nodes.h"

namespace calotype::internal {

namespace {

/// The sum or difference of two affine vectors, or the product of one with a uniform value.
template<typename Node>
std::optional<AffineLanes> combine(const Expr &a, const Expr &b) {
    const auto x = affine_lanes_of(a), y = affine_lanes_of(b);
    if (!x || !y) {
        return std::nullopt;
    }
    return AffineLanes{Node::make(x->base, y->base), Node::make(x->stride, y->stride)};
}

std::optional<AffineLanes> product(const Expr &a, const Expr &b) {
    const auto x = affine_lanes_of(a), y = affine_lanes_of(b);
    if (!x || !y || !(is_const_zero(x->stride) || is_const_zero(y->stride))) {
        return std::nullopt;
    }
    const AffineLanes &moving = is_const_zero(y->stride) ? *x : *y;
    const Expr &factor = is_const_zero(y->stride) ? y->base : x->base;
    return AffineLanes{Mul::make(moving.base, factor), Mul::make(moving.stride, factor)};
}

}  // namespace

std::optional<AffineLanes> affine_lanes_of(const Expr &e) {
    const Type t = e.type();
    if (!t.is_int_or_uint()) {
        return std::nullopt;
    }
    if (t.is_scalar()) {
        return AffineLanes{e, make_zero(t)};
    }
    if (const Broadcast *op = e.as<Broadcast>()) {
        return op->value.type().is_scalar()
                   ? std::optional(AffineLanes{op->value, make_zero(t.element_of())})
                   : std::nullopt;
    }
    if (const Ramp *op = e.as<Ramp>()) {
        return op->base.type().is_scalar() ? std::optional(AffineLanes{op->base, op->stride})
                                           : std::nullopt;
    }
    if (const Add *op = e.as<Add>()) {
        return combine<Add>(op->a, op->b);
    }
    if (const Sub *op = e.as<Sub>()) {
        return combine<Sub>(op->a, op->b);
    }
    if (const Mul *op = e.as<Mul>()) {
        return product(op->a, op->b);
    }
    if (const Let *op = e.as<Let>()) {
        const auto body = affine_lanes_of(op->body);
        return body ? std::optional(AffineLanes{Let::make(op->name, op->value, body->base),
                                                Let::make(op->name, op->value, body->stride)})
                    : std::nullopt;
    }
    return std::nullopt;
}

Expr lane_stride_of(const Expr &e) {
    const auto lanes = affine_lanes_of(e);
    return lanes ? simplify(lanes->stride) : Expr();
}

}  // namespace calotype::internal
