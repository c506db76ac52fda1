// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/llvm/products.h"

#include "ir/language/match_types.h"

namespace calotype::internal {

std::optional<Factors> narrowed(const Expr &x, const Expr &y, const Type &a, const Type &b) {
    const int lanes = x.type().lanes();
    const Factors result = {lossless_cast(a.with_lanes(lanes), x),
                            lossless_cast(b.with_lanes(lanes), y)};
    return result.a.defined() && result.b.defined() ? std::make_optional(result) : std::nullopt;
}

std::optional<Factors> factors_of(const Expr &product, const Type &a, const Type &b) {
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
