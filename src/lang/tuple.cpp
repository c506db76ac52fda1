// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lang/tuple.h"

#include "ir/operators.h"
#include "lang/func_ref.h"
#include "support/error.h"

namespace calotype {

Tuple::Tuple(const std::vector<Expr> &exprs) : exprs_(exprs) {
    user_assert(!exprs_.empty()) << "a Tuple has no elements";
}

Tuple::Tuple(const FuncRef &call) {
    if (call.size() <= 1) {
        exprs_ = {call};
        return;
    }
    for (size_t i = 0; i < call.size(); i++) {
        exprs_.push_back(call[int(i)]);
    }
}

void Tuple::check_index(size_t i) const {
    user_assert(i < exprs_.size()) << "a Tuple of " << exprs_.size() << " has no element " << i;
}

Expr &Tuple::operator[](size_t i) {
    check_index(i);
    return exprs_[i];
}

const Expr &Tuple::operator[](size_t i) const {
    check_index(i);
    return exprs_[i];
}

namespace {

void check_same_size(const char *what, size_t a, size_t b) {
    user_assert(a == b) << what << " of Tuples of different sizes, " << a << " and " << b;
}

}  // namespace

Tuple select(const Tuple &condition, const Tuple &true_value, const Tuple &false_value) {
    check_same_size("select", condition.size(), true_value.size());
    check_same_size("select", true_value.size(), false_value.size());
    std::vector<Expr> result;
    for (size_t i = 0; i < condition.size(); i++) {
        result.push_back(select(condition[i], true_value[i], false_value[i]));
    }
    return Tuple(result);
}

Tuple select(const Expr &condition, const Tuple &true_value, const Tuple &false_value) {
    check_same_size("select", true_value.size(), false_value.size());
    std::vector<Expr> result;
    for (size_t i = 0; i < true_value.size(); i++) {
        result.push_back(select(condition, true_value[i], false_value[i]));
    }
    return Tuple(result);
}

Expr mux(const Expr &id, const Tuple &values) {
    return mux(id, values.as_vector());
}

Expr mux(const Expr &id, const std::initializer_list<FuncRef> &values) {
    return mux(id, std::vector<Expr>(values.begin(), values.end()));
}

Tuple mux(const Expr &id, const std::initializer_list<Tuple> &values) {
    return mux(id, std::vector<Tuple>(values));
}

Tuple mux(const Expr &id, const std::vector<Tuple> &values) {
    user_assert(!values.empty()) << "mux has no values";
    std::vector<Expr> result;
    for (size_t i = 0; i < values[0].size(); i++) {
        std::vector<Expr> elements;
        for (const Tuple &t : values) {
            check_same_size("mux", values[0].size(), t.size());
            elements.push_back(t[i]);
        }
        result.push_back(mux(id, elements));
    }
    return Tuple(result);
}

}  // namespace calotype
