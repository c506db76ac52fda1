// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/storage/constant_indices.h"

#include <algorithm>

#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/mutator.h"
#include "ir/queries.h"
#include "ir/with.h"
#include "lower/let_scope.h"
#include "support/scope.h"

namespace calotype::internal {

namespace {

class ConstantIndices : public Mutator {
private:
    using Mutator::visit;

    Stmt visit(const Allocate *op) override {
        const bool is_small =
            (op->memory_type == MemoryType::Stack || op->memory_type == MemoryType::Register) &&
            std::all_of(op->extents.begin(), op->extents.end(),
                        [](const Expr &e) { return is_const(e); });
        const ScopedBinding<> bind(is_small, small_, op->name);
        return Mutator::visit(op);
    }
    Stmt visit(const LetStmt *op) override {
        const Expr value = mutate(op->value);
        const LetScope::Inside inside(lets_, op->name, is_pure(value) ? value : Expr());
        const Stmt body = mutate(op->body);
        return value.same_as(op->value) && body.same_as(op->body)
                   ? Stmt(op)
                   : LetStmt::make(op->name, value, body);
    }
    Expr visit(const Let *op) override {
        const Expr value = mutate(op->value);
        const LetScope::Inside inside(lets_, op->name, is_pure(value) ? value : Expr());
        const Expr body = mutate(op->body);
        return value.same_as(op->value) && body.same_as(op->body)
                   ? Expr(op)
                   : Let::make(op->name, value, body);
    }
    Stmt visit(const For *op) override {
        const LetScope::Inside inside(lets_, op->name, Expr());
        return Mutator::visit(op);
    }
    Expr visit(const Load *op) override {
        const Expr e = Mutator::visit(op);
        op = e.as<Load>();
        const Expr index = small_.contains(op->name) ? constant(op->index) : op->index;
        return index.same_as(op->index) ? e : with(op, &Load::index, index);
    }
    Stmt visit(const Store *op) override {
        const Stmt s = Mutator::visit(op);
        op = s.as<Store>();
        const Expr index = small_.contains(op->name) ? constant(op->index) : op->index;
        return index.same_as(op->index) ? s : with(op, &Store::index, index);
    }

    /// A constant, or lanes that begin at one; the index itself if it is none.
    Expr constant(const Expr &index) const {
        const Ramp *ramp = index.as<Ramp>();
        const Expr &first = ramp ? ramp->base : index;
        if (is_const(first) || !first.type().is_scalar()) {
            return index;
        }
        const Expr known = simplify(remove_likelies(lets_.expand_while_small(first)));
        return !is_const(known) ? index
               : ramp           ? Ramp::make(known, ramp->stride, ramp->lanes)
                                : known;
    }

    LetScope lets_;
    Scope<> small_;
};

}  // namespace

Stmt make_indices_constant(const Stmt &s) {
    return ConstantIndices().mutate(s);
}

}  // namespace calotype::internal
