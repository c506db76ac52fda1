// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Indices as sums of products, modulo a power of two. Helper of assume_alignment.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/expr.h"

namespace calotype::internal {

/// What is not a sum or a product itself, in order; several times where it is multiplied with
/// itself.
using Product = std::vector<Expr>;

struct ProductLess {
    bool operator()(const Product &a, const Product &b) const;
};

/// constant + the sum of coefficient * product; coefficients and the constant are at least 0 and
/// less than `modulus`.
struct Polynomial {
    static constexpr int64_t modulus = 16;  ///< the most elements that one access moves

    int64_t constant = 0;
    std::map<Product, int64_t, ProductLess> terms;
};

/// An integer as a Polynomial; `known` holds those of names that stand for one. Nothing where it
/// would have too many terms, or too many factors in one.
std::optional<Polynomial> polynomial_of(const Expr &e,
                                        const std::map<std::string, Polynomial> &known);

}  // namespace calotype::internal
