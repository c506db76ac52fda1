// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/loops/flatten_ramps.h"

#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "lower/loops/lanes.h"

namespace calotype {

using namespace internal;

namespace {

/// The index if it is a ramp of vectors.
const Ramp *ramp_of_vectors(const Expr &index) {
    const Ramp *ramp = index.as<Ramp>();
    return ramp && ramp->base.type().is_vector() ? ramp : nullptr;
}

/// Row i of a vector of rows.
Expr row(const Expr &e, int i, int lanes) {
    if (is_trivially_true(e)) {
        return const_true(lanes);
    }
    const Broadcast *same = e.as<Broadcast>();
    if (same && same->value.type().lanes() == lanes) {
        return same->value;
    }
    return Shuffle::make_slice(e, i * lanes, 1, lanes);
}

Expr row_index(const Ramp *ramp, int i) {
    return simplify(ramp->base + ramp->stride * make_const(ramp->stride.type(), i));
}

bool all_true(const Expr &predicate) {
    const Broadcast *b = predicate.as<Broadcast>();
    return is_const_one(b ? b->value : predicate);
}

class RampFlattener : public GraphMutator {
public:
    explicit RampFlattener(LowerContext &ctx) : ctx_(ctx) {
    }

    // The lets made for a store are its own: a shared statement is rewritten once for each place.
    using GraphMutator::mutate;
    Stmt mutate(const Stmt &s) override {
        return Mutator::mutate(s);
    }

private:
    using GraphMutator::visit;

    Expr visit(const Load *op) override {
        const Ramp *ramp = ramp_of_vectors(op->index);
        if (!ramp) {
            return GraphMutator::visit(op);
        }
        const int lanes = ramp->base.type().lanes();
        const Broadcast *base = ramp->base.as<Broadcast>(), *stride = ramp->stride.as<Broadcast>();
        const bool scalar_rows =
            base && base->value.type().is_scalar() && stride && stride->value.type().is_scalar();
        if (scalar_rows && all_true(op->predicate)) {
            const Expr index = Ramp::make(mutate(base->value), mutate(stride->value), ramp->lanes);
            const Expr column = Load::make(op->type.with_lanes(ramp->lanes), op->name, index,
                                           const_true(ramp->lanes), op->alignment, op->symbol);
            return internal::repeat_lanes(column, lanes);
        }
        const Expr predicate = mutate(op->predicate);
        std::vector<Expr> rows;
        for (int i = 0; i < ramp->lanes; i++) {
            rows.push_back(mutate(Load::make(op->type.with_lanes(lanes), op->name,
                                             row_index(ramp, i), row_predicate(predicate, i, lanes),
                                             i == 0 ? op->alignment : Alignment(), op->symbol)));
        }
        return Shuffle::make_concat(rows);
    }

    static Expr row_predicate(const Expr &predicate, int i, int lanes) {
        return all_true(predicate) ? const_true(lanes) : simplify(row(predicate, i, lanes));
    }

    Stmt visit(const Store *op) override {
        const Ramp *ramp = ramp_of_vectors(op->index);
        if (!ramp || in_atomic_) {
            return GraphMutator::visit(op);
        }
        const int lanes = ramp->base.type().lanes();
        const Expr value = mutate(op->value), predicate = mutate(op->predicate);
        const std::string name = ctx_.names.unique(op->name + ".rows");
        const Expr rows = is_const(value) ? value : Variable::make(value.type(), name);
        std::vector<Stmt> stores;
        for (int i = 0; i < ramp->lanes; i++) {
            stores.push_back(
                mutate(Store::make(op->name, simplify(row(rows, i, lanes)), row_index(ramp, i),
                                   row_predicate(predicate, i, lanes),
                                   i == 0 ? op->alignment : Alignment(), op->symbol)));
        }
        const Stmt result = Block::make(stores);
        return is_const(value) ? result : LetStmt::make(name, value, result);
    }

    Stmt visit(const Atomic *op) override {
        const bool outer = std::exchange(in_atomic_, true);
        const Stmt result = GraphMutator::visit(op);
        in_atomic_ = outer;
        return result;
    }

    LowerContext &ctx_;
    bool in_atomic_ = false;
};

}  // namespace

Stmt flatten_ramps(const Stmt &s, LowerContext &ctx) {
    return RampFlattener(ctx).mutate(s);
}

}  // namespace calotype
