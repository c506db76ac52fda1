// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Indices as sums of products, modulo a power of two. Helper of load_rows and assume_alignment.
#pragma once

#include <functional>
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

/// What a name stands for.
struct NamedSum {
    Polynomial sum;
    /// In a product. A sum that is the same for the whole launch, as a stride is, may be a multiple as a whole where none
    /// of its terms is one: it stays one factor there, beside the constant that all of its terms are multiples of.
    Polynomial factor;
};

using Polynomials = std::map<std::string, NamedSum>;

/// An integer as a Polynomial; `known` holds names that stand for one. Nothing where it would have too many terms, or too
/// many factors in one.
std::optional<Polynomial> polynomial_of(const Expr &e, const Polynomials &known);

/// For the length of a C++ block, a name has that value: where it is a sum or a product, it stands for one. `is_uniform`:
/// the value is the same for the whole launch.
class NamedPolynomial {
public:
    NamedPolynomial(Polynomials &known, const std::string &name, const Expr &value,
                    bool is_uniform);
    ~NamedPolynomial();
    NamedPolynomial(const NamedPolynomial &) = delete;
    NamedPolynomial &operator=(const NamedPolynomial &) = delete;

private:
    Polynomials &known_;
    const std::string &name_;
    Polynomials::node_type hidden_;
};

/// Whether p without its constant is a multiple of n wherever those factors are of which is_free holds: each other product
/// is one by its coefficient.
bool may_be_multiple(const Polynomial &p, int64_t n,
                     const std::function<bool(const Expr &)> &is_free);

}  // namespace calotype::internal
