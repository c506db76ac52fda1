// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/values/multiply_in_sums.h"

#include <cmath>
#include <optional>
#include <set>

#include "ir/constants.h"
#include "ir/equality.h"
#include "ir/mutator.h"
#include "ir/visitor.h"

namespace calotype::internal {

namespace {

template<typename T>
std::optional<double> normal_reciprocal(double divisor) {
    const T reciprocal = T(1) / T(divisor);
    return std::isnormal(reciprocal) ? std::optional<double>(reciprocal) : std::nullopt;
}

/// What a division of floats may be a product with.
std::optional<double> reciprocal_of_divisor(const Div *op) {
    const Type t = op->type.element_of();
    const std::optional<double> divisor =
        t == Float(32) || t == Float(64) ? as_const_float(op->b) : std::nullopt;
    if (!divisor) {
        return std::nullopt;
    }
    return t.bits() == 32 ? normal_reciprocal<float>(*divisor)
                          : normal_reciprocal<double>(*divisor);
}

/// Divisions by constants, and where they occur.
class Quotients : public GraphVisitor {
public:
    std::set<Expr, ExprDeepLess> exact;  ///< used for something else than sums and products
    bool any_in_sums = false;

private:
    using GraphVisitor::visit;

    template<typename Op>
    void sum_or_product(const Op *op) {
        for (const Expr &e : {op->a, op->b}) {
            const Div *quotient = e.as<Div>();
            if (quotient && reciprocal_of_divisor(quotient)) {
                any_in_sums = true;
                (*this)(quotient->a);
            } else {
                (*this)(e);
            }
        }
    }

    void visit(const Add *op) override {
        sum_or_product(op);
    }
    void visit(const Sub *op) override {
        sum_or_product(op);
    }
    void visit(const Mul *op) override {
        sum_or_product(op);
    }
    void visit(const Div *op) override {
        if (reciprocal_of_divisor(op)) {
            exact.insert(op);
        }
        GraphVisitor::visit(op);
    }
};

class MultiplyInSums : public GraphMutator {
public:
    explicit MultiplyInSums(const Quotients &quotients) : quotients_(quotients) {
    }

private:
    using GraphMutator::visit;

    Expr visit(const Div *op) override {
        const std::optional<double> reciprocal = reciprocal_of_divisor(op);
        return reciprocal && !quotients_.exact.count(op)
                   ? Mul::make(mutate(op->a), make_const(op->type, *reciprocal))
                   : GraphMutator::visit(op);
    }

    const Quotients &quotients_;
};

}  // namespace

Stmt multiply_in_sums(const Stmt &s, LowerContext &) {
    Quotients quotients;
    quotients(s);
    return quotients.any_in_sums ? MultiplyInSums(quotients).mutate(s) : s;
}

}  // namespace calotype::internal
