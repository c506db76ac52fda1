// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "arith/linear_form.h"

#include <algorithm>

#include "ir/constants.h"
#include "ir/equality.h"
#include "ir/expr_nodes.h"
#include "ir/queries.h"

namespace calotype::internal {

void LinearForm::add(const Expr &e, int64_t scale) {
    if (!is_valid()) {
        return;
    }
    if (const auto *op = e.as<Add>()) {
        add(op->a, scale);
        add(op->b, scale);
    } else if (const auto *op = e.as<Sub>()) {
        int64_t negative;
        valid_ = !__builtin_sub_overflow(int64_t(0), scale, &negative);
        add(op->a, scale);
        add(op->b, negative);
    } else if (const auto value = as_const_int(e)) {
        add_constant(*value, scale);
    } else if (const auto *op = e.as<Mul>(); op && as_const_int(op->b)) {
        int64_t product;
        valid_ = !__builtin_mul_overflow(scale, *as_const_int(op->b), &product);
        add(op->a, product);
    } else {
        add_term(e, scale);
    }
}

bool LinearForm::is_zero() const {
    return is_valid() && constant == 0 &&
           std::all_of(terms.begin(), terms.end(),
                       [](const Term &t) { return t.coefficient == 0; });
}

void LinearForm::drop_zeros() {
    terms.erase(std::remove_if(terms.begin(), terms.end(),
                               [](const Term &t) { return t.coefficient == 0; }),
                terms.end());
}

Expr LinearForm::to_expr(Type t) const {
    Expr sum;
    for (const Term &term : terms) {
        if (!t.can_represent(term.coefficient)) {
            return Expr();
        }
        if (term.coefficient == 0) {
            continue;
        }
        const Expr part = term.coefficient == 1
                              ? term.value
                              : Mul::make(term.value, make_const(t, term.coefficient));
        sum = sum.defined() ? Add::make(sum, part) : part;
    }
    if (!t.can_represent(constant)) {
        return Expr();
    }
    if (!sum.defined()) {
        return make_const(t, constant);
    }
    return constant == 0 ? sum : Add::make(sum, make_const(t, constant));
}

void LinearForm::add_constant(int64_t value, int64_t scale) {
    int64_t product;
    valid_ = !__builtin_mul_overflow(value, scale, &product) &&
             !__builtin_add_overflow(constant, product, &constant);
}

void LinearForm::add_term(const Expr &e, int64_t scale) {
    for (Term &t : terms) {
        const bool is_same =
            t.value.same_as(e) || (t.value.kind() == e.kind() && equal(t.value, e));
        if (is_same && !has_effects(e)) {
            valid_ = !__builtin_add_overflow(t.coefficient, scale, &t.coefficient) &&
                     t.coefficient != INT64_MIN;
            merged_ = true;
            return;
        }
    }
    terms.push_back({e, scale});
    valid_ = valid_ && scale != INT64_MIN;
}

}  // namespace calotype::internal
