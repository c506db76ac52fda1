// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lang/derivative/adjoint_sum.h"

#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/operators.h"
#include "lang/tuple.h"

namespace calotype::internal {

std::vector<Type> adjoint_types(const std::vector<Type> &types) {
    std::vector<Type> result;
    for (const Type &t : types) {
        result.push_back(t.is_float() ? t : Float(32));
    }
    return result;
}

AdjointSum::AdjointSum(std::vector<std::string> args, const std::vector<Type> &types)
    : args_(std::move(args)) {
    for (const Type &t : adjoint_types(types)) {
        terms_.push_back(make_zero(t));
    }
}

std::vector<Expr> AdjointSum::vars() const {
    std::vector<Expr> result;
    for (const std::string &arg : args_) {
        result.push_back(Var(arg));
    }
    return result;
}

void AdjointSum::add(int value_index, const Placement &p) {
    if (!p.is_gather) {
        updates_.push_back({value_index, p, true});
        return;
    }
    Expr &sum = terms_[size_t(value_index)];
    const Expr term = is_trivially_true(p.condition)
                          ? p.value
                          : select(p.condition, p.value, make_zero(p.value.type()));
    sum = is_const_zero(sum) ? term : sum + term;
    is_started_ = true;
}

void AdjointSum::start_from(const Func &before) {
    for (size_t i = 0; i < terms_.size(); i++) {
        terms_[i] = make_func_call(before.function(), vars(), int(i));
    }
    is_started_ = true;
}

void AdjointSum::start_from(const Func &before, const Placement &p) {
    start_from(before);
    for (size_t i = 0; i < terms_.size(); i++) {
        const Expr zero = make_zero(terms_[i].type());
        if (p.is_gather) {
            terms_[i] = simplify(select(p.condition, zero, terms_[i]));
        } else {
            Placement set = p;
            set.value = zero;
            updates_.push_back({int(i), set, false});
        }
    }
}

Func AdjointSum::make(const std::string &name) const {
    Func f(name);
    f(vars()) = Tuple(terms_);
    for (const Update &update : updates_) {
        const Placement &p = update.placement;
        const Expr old = make_func_call(f.function(), p.place, update.value_index);
        const Expr value = update.adds ? old + p.value : p.value;
        std::vector<Expr> values;
        for (size_t i = 0; i < terms_.size(); i++) {
            values.push_back(int(i) != update.value_index
                                 ? make_func_call(f.function(), p.place, int(i))
                             : is_trivially_true(p.condition) ? value
                                                              : select(p.condition, value, old));
        }
        f(p.place) = Tuple(values);
    }
    if (!updates_.empty()) {
        f.compute_root();
    }
    return f;
}

}  // namespace calotype::internal
