// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/values/bool_bytes.h"

#include "ir/constants.h"
#include "ir/expr_nodes.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "ir/walk/search.h"
#include "ir/with.h"
#include "support/scope.h"

namespace calotype::internal {

namespace {

bool is_condition(const Expr &stored) {
    const Cast *cast = stored.as<Cast>();
    const auto constant = as_const_uint(stored);
    return (cast && cast->value.type().is_bool()) || (constant && *constant <= 1);
}

/// Whether nothing but conditions is stored there, by stores.
bool holds_conditions(const Allocate *op) {
    const bool is_known =
        op->type == UInt(8) && !op->new_expr.defined() &&
        !contains<Variable>(op->body, [&](const Variable *v) { return v->name == op->name; });
    bool conditions = is_known;
    if (is_known) {
        for_each<Store>(op->body, [&](const Store *store) {
            conditions = conditions && (store->name != op->name || is_condition(store->value));
        });
    }
    return conditions;
}

class CombineBoolBytes : public GraphMutator {
private:
    using GraphMutator::visit;

    Stmt visit(const For *op) override {
        return is_gpu(op->for_type) ? Stmt(op) : GraphMutator::visit(op);
    }
    Stmt visit(const Atomic *op) override {
        return op;
    }
    Stmt visit(const Allocate *op) override {
        const ScopedBinding<int> bind(conditions_, op->name, holds_conditions(op));
        return GraphMutator::visit(op);
    }

    Expr visit(const And *op) override {
        return combined(op);
    }
    Expr visit(const Or *op) override {
        return combined(op);
    }
    Expr visit(const Not *op) override {
        return combined(op);
    }
    Expr visit(const Cast *op) override {
        const bool from_condition =
            op->type.element_of() == UInt(8) && op->value.type().is_bool() && op->type.is_vector();
        const Expr result = from_condition ? bytes(op->value) : Expr();
        return result.defined() ? result : GraphMutator::visit(op);
    }

    template<typename Logic>
    Expr combined(const Logic *op) {
        const Expr result = op->type.is_vector() ? bytes(op) : Expr();
        return result.defined() ? Cast::make(op->type, result) : GraphMutator::visit(op);
    }

    /// A condition as bytes that are 0 or 1; undefined if it is not made of such alone.
    Expr bytes(const Expr &e) {
        if (const And *op = e.as<And>()) {
            return of_both(Intrinsic::bitwise_and, op->a, op->b);
        }
        if (const Or *op = e.as<Or>()) {
            return of_both(Intrinsic::bitwise_or, op->a, op->b);
        }
        if (const Not *op = e.as<Not>()) {
            const Expr a = bytes(op->a);
            return a.defined()
                       ? Call::make(a.type(), Intrinsic::bitwise_xor, {a, make_one(a.type())})
                       : a;
        }
        const Cast *cast = e.as<Cast>();
        const Load *load = cast && cast->type.is_bool() ? cast->value.as<Load>() : nullptr;
        const int *is_known = load ? conditions_.find(load->name) : nullptr;
        return is_known && *is_known ? mutate(cast->value) : Expr();
    }

    Expr of_both(Intrinsic id, const Expr &a, const Expr &b) {
        const Expr x = bytes(a), y = x.defined() ? bytes(b) : Expr();
        return y.defined() ? Call::make(x.type(), id, {x, y}) : Expr();
    }

    Scope<int> conditions_;  ///< whether allocations hold nothing else
};

}  // namespace

Stmt combine_bool_bytes(const Stmt &s) {
    return CombineBoolBytes().mutate(s);
}

}  // namespace calotype::internal
