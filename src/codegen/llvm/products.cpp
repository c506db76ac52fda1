// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/llvm/products.h"

#include <array>

#include "arith/narrowing.h"

namespace calotype::internal {

namespace {

/// Whether each product of integers of types a and b is a number of type t.
bool holds_products(const Type &t, const Type &a, const Type &b) {
    if (!a.is_int_or_uint() || !b.is_int_or_uint() || a.bits() + b.bits() > 32) {
        return false;
    }
    const auto ends = [](const Type &of) {
        return of.is_int() ? std::array{of.imin(), of.imax()}
                           : std::array{int64_t(0), int64_t(of.umax())};
    };
    for (const int64_t x : ends(a)) {
        for (const int64_t y : ends(b)) {
            if (!t.can_represent(x * y)) {
                return false;
            }
        }
    }
    return true;
}

}  // namespace

std::optional<Factors> narrowed(const Expr &x, const Expr &y, const Type &a, const Type &b) {
    const int lanes = x.type().lanes();
    const Factors result = {narrow_exactly(a.with_lanes(lanes), x),
                            narrow_exactly(b.with_lanes(lanes), y)};
    return result.a.defined() && result.b.defined() ? std::make_optional(result) : std::nullopt;
}

std::optional<Factors> factors_of(const Expr &product, const Type &a, const Type &b) {
    const Cast *wider = product.as<Cast>();
    if (wider && wider->type.can_represent(wider->value.type()) &&
        holds_products(wider->value.type(), a, b)) {
        return factors_of(wider->value, a, b);
    }
    Expr x, y;
    if (const Mul *mul = product.as<Mul>()) {
        x = mul->a;
        y = mul->b;
    } else if (const Call *call = Call::as_intrinsic(product, Intrinsic::widening_mul)) {
        x = call->args[0];
        y = call->args[1];
    } else {
        return std::nullopt;
    }
    const std::optional<Factors> in_order = narrowed(x, y, a, b);
    return in_order ? in_order : narrowed(y, x, a, b);
}

}  // namespace calotype::internal
