// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/gpu/inline_lets.h"

#include "arith/cse.h"
#include "arith/simplify.h"
#include "ir/mutator.h"
#include "ir/queries.h"
#include "support/scope.h"

namespace calotype::internal {

namespace {

class LetInliner : public Mutator {
    using Mutator::visit;

    static bool is_inlined(const Expr &value) {
        constexpr int small = 256;
        const Type t = value.type();
        return t.is_scalar() && (t.is_int() || t.is_uint()) && is_pure(value) &&
               !contains_kind(value, NodeKind::Load) && !is_repetitive(value, small);
    }

    Stmt visit(const LetStmt *op) override {
        const Expr value = mutate(op->value);
        if (is_inlined(value)) {
            const ScopedBinding<Expr> bind(values_, op->name, value);
            return mutate(op->body);
        }
        const ScopedBinding<Expr> hidden(values_, op->name, Expr());
        return LetStmt::make(op->name, value, mutate(op->body));
    }

    Stmt visit(const For *op) override {
        const Expr min = mutate(op->min), extent = mutate(op->extent);
        const ScopedBinding<Expr> hidden(values_, op->name, Expr());
        return For::make(op->name, min, extent, op->for_type, op->partition, op->device_api,
                         mutate(op->body));
    }

    Expr visit(const Let *op) override {
        const Expr value = mutate(op->value);
        const ScopedBinding<Expr> hidden(values_, op->name, Expr());
        return Let::make(op->name, value, mutate(op->body));
    }

    Expr visit(const Variable *op) override {
        const Expr *value = values_.find(op->name);
        return value && value->defined() ? *value : Expr(op);
    }

    Scope<Expr> values_;
};

}  // namespace

Stmt inline_integer_lets(const Stmt &s, const SimplifyContext &context) {
    return simplify(LetInliner().mutate(remove_likelies(s)), context);
}

}  // namespace calotype::internal
