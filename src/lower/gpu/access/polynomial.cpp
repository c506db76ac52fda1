// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/gpu/access/polynomial.h"

#include <algorithm>
#include <numeric>

#include "ir/constants.h"
#include "ir/equality.h"
#include "ir/expr_nodes.h"
#include "ir/operators.h"

namespace calotype::internal {

namespace {

constexpr size_t max_terms = 64, max_factors = 16;

using Maybe = std::optional<Polynomial>;

int64_t reduced(int64_t value) {
    return value & (Polynomial::modulus - 1);
}

void add_to(Polynomial &sum, const Product &product, int64_t coefficient) {
    if (product.empty()) {
        sum.constant = reduced(sum.constant + coefficient);
        return;
    }
    const auto it = sum.terms.emplace(product, 0).first;
    it->second = reduced(it->second + coefficient);
    if (it->second == 0) {
        sum.terms.erase(it);
    }
}

Maybe if_small(Polynomial p) {
    return p.terms.size() <= max_terms ? Maybe(std::move(p)) : std::nullopt;
}

Maybe sum_of(const Maybe &a, const Maybe &b, int64_t factor) {
    if (!a || !b) {
        return std::nullopt;
    }
    Polynomial result = *a;
    add_to(result, {}, factor * b->constant);
    for (const auto &[product, coefficient] : b->terms) {
        add_to(result, product, factor * coefficient);
    }
    return if_small(std::move(result));
}

/// The terms and, as the product of nothing, the constant.
std::vector<std::pair<Product, int64_t>> parts_of(const Polynomial &p) {
    std::vector<std::pair<Product, int64_t>> parts(p.terms.begin(), p.terms.end());
    parts.emplace_back(Product(), p.constant);
    return parts;
}

Maybe product_of(const Maybe &a, const Maybe &b) {
    if (!a || !b) {
        return std::nullopt;
    }
    Polynomial result;
    for (const auto &[first, m] : parts_of(*a)) {
        for (const auto &[second, n] : parts_of(*b)) {
            Product both = first;
            both.insert(both.end(), second.begin(), second.end());
            if (both.size() > max_factors) {
                return std::nullopt;
            }
            std::sort(both.begin(), both.end(), ExprDeepLess());
            add_to(result, both, m * n);
        }
    }
    return if_small(std::move(result));
}

Polynomial product_with(const Expr &e, int64_t coefficient) {
    Polynomial p;
    p.terms[{e}] = coefficient;
    return p;
}

/// Of several terms: the name, without the constant that divides all of them.
Polynomial one_factor(const Polynomial &sum, const std::string &name) {
    if (sum.terms.empty() || (sum.terms.size() == 1 && sum.constant == 0)) {
        return sum;
    }
    int64_t common = std::gcd(sum.constant, Polynomial::modulus);
    for (const auto &[product, coefficient] : sum.terms) {
        common = std::gcd(common, coefficient);
    }
    const Expr value = Variable::make(Int(32), name);
    return product_with(common == 1 ? value : value / int(common), common);
}

Maybe factor_of(const Expr &e, const Polynomials &known) {
    const Variable *op = e.as<Variable>();
    const auto it = op ? known.find(op->name) : known.end();
    return it != known.end() ? it->second.factor : polynomial_of(e, known);
}

bool is_sum_or_product(const Expr &e) {
    return e.type() == Int(32) &&
           (e.as<Add>() || e.as<Sub>() || e.as<Mul>() || e.as<Variable>() || e.as<IntImm>());
}

}  // namespace

bool ProductLess::operator()(const Product &a, const Product &b) const {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), ExprDeepLess());
}

std::optional<Polynomial> polynomial_of(const Expr &e, const Polynomials &known) {
    if (const std::optional<int64_t> c = as_const_int(e)) {
        Polynomial constant;
        constant.constant = reduced(*c);
        return constant;
    }
    if (const Add *op = e.as<Add>()) {
        return sum_of(polynomial_of(op->a, known), polynomial_of(op->b, known), 1);
    }
    if (const Sub *op = e.as<Sub>()) {
        return sum_of(polynomial_of(op->a, known), polynomial_of(op->b, known), -1);
    }
    if (const Mul *op = e.as<Mul>()) {
        return product_of(factor_of(op->a, known), factor_of(op->b, known));
    }
    if (const Variable *op = e.as<Variable>()) {
        const auto it = known.find(op->name);
        if (it != known.end()) {
            return it->second.sum;
        }
    }
    return product_with(e, 1);
}

NamedPolynomial::NamedPolynomial(Polynomials &known, const std::string &name, const Expr &value,
                                 bool is_uniform)
    : known_(known), name_(name) {
    Maybe p = is_sum_or_product(value) ? polynomial_of(value, known) : std::nullopt;
    hidden_ = known.extract(name);
    if (p) {
        known[name] = {*p, is_uniform ? one_factor(*p, name) : *p};
    }
}

NamedPolynomial::~NamedPolynomial() {
    known_.erase(name_);
    known_.insert(std::move(hidden_));
}

bool may_be_multiple(const Polynomial &p, int64_t n,
                     const std::function<bool(const Expr &)> &is_free) {
    return std::all_of(p.terms.begin(), p.terms.end(), [&](const auto &term) {
        const auto &[product, coefficient] = term;
        return coefficient % n == 0 || std::any_of(product.begin(), product.end(), is_free);
    });
}

}  // namespace calotype::internal
