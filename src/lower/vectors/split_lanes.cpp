// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/vectors/split_lanes.h"

#include <algorithm>
#include <unordered_set>
#include <vector>

#include "arith/cse.h"
#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "ir/visitor.h"
#include "ir/with.h"
#include "lower/vectors/count_work.h"
#include "lower/vectors/load_densely.h"
#include "support/scope.h"

namespace calotype::internal {

namespace {

/// Values of more nodes than this stay as they are.
constexpr int max_nodes = 512;

bool steps_by(const Expr &index, int stride) {
    const Ramp *ramp = index.as<Ramp>();
    return ramp && is_const(ramp->stride, stride);
}

bool is_dense(const Expr &index) {
    return steps_by(index, 1);
}

/// Every second index, from the k-th on.
std::vector<int> every_second(const std::vector<int> &indices, int k) {
    std::vector<int> half;
    for (size_t i = size_t(k); i < indices.size(); i += 2) {
        half.push_back(indices[i]);
    }
    return half;
}

/// The vector that a shuffle is, whole and in order; undefined if it is none.
Expr whole_vector(const std::vector<Expr> &vectors, const std::vector<int> &indices) {
    int first = 0;
    for (const Expr &v : vectors) {
        const int lanes = v.type().lanes();
        bool same = lanes == int(indices.size());
        for (int i = 0; same && i < lanes; i++) {
            same = indices[size_t(i)] == first + i;
        }
        if (same) {
            return v;
        }
        first += lanes;
    }
    return Expr();
}

/// Whether even or odd lanes of something in the value are less than the whole: a shuffle that
/// repeats or interleaves, or a remainder that alternates.
class FindAlternation : public Visitor {
public:
    bool found = false;
    int nodes = 0;
    using Visitor::operator();
    void operator()(const Expr &e) override {
        if (e.defined() && !found && seen_.insert(e.get()).second && ++nodes <= max_nodes) {
            Visitor::operator()(e);
        }
    }

private:
    using Visitor::visit;
    void visit(const Shuffle *op) override {
        const bool even = op->indices.size() % 2 == 0;
        found =
            found || (even && whole_vector(op->vectors, every_second(op->indices, 0)).defined() &&
                      whole_vector(op->vectors, every_second(op->indices, 1)).defined());
        Visitor::visit(op);
    }
    void visit(const Mod *op) override {
        const Broadcast *modulus = op->b.as<Broadcast>();
        const Ramp *ramp = op->a.as<Ramp>();
        found =
            found || (modulus && is_const(modulus->value, 2) && ramp && is_const_one(ramp->stride));
        Visitor::visit(op);
    }
    std::unordered_set<const ExprNode *> seen_;
};

bool alternates(const Expr &e) {
    FindAlternation find;
    find(e);
    return find.found && find.nodes <= max_nodes;
}

/// Every second lane of vectors, from the k-th on.
class HalfOfLanes : public GraphMutator {
public:
    HalfOfLanes(int k, const Scope<Expr> &lets) : k_(k), lets_(lets) {
    }
    using GraphMutator::mutate;
    Expr mutate(const Expr &e) override {
        return e.type().is_scalar() ? e : GraphMutator::mutate(e);
    }

private:
    using GraphMutator::visit;

    static int half(const Type &t) {
        return t.lanes() / 2;
    }
    Expr slice(const Expr &e) const {
        return Shuffle::make_slice(e, k_, 2, half(e.type()));
    }

#define ARITH(Name, symbol)                                                                        \
    Expr visit(const Name *op) override {                                                          \
        return Name::make(mutate(op->a), mutate(op->b));                                           \
    }
#define COMPARE(Name, symbol) ARITH(Name, symbol)
#define LOGIC(Name, symbol) ARITH(Name, symbol)
#include "ir/nodes.def"

    Expr visit(const Not *op) override {
        return Not::make(mutate(op->a));
    }
    Expr visit(const Cast *op) override {
        return Cast::make(op->type.with_lanes(half(op->type)), mutate(op->value));
    }
    Expr visit(const Reinterpret *op) override {
        const bool alike = op->type.lanes() == op->value.type().lanes();
        return alike ? Reinterpret::make(op->type.with_lanes(half(op->type)), mutate(op->value))
                     : slice(op);
    }
    Expr visit(const Select *op) override {
        return Select::make(mutate(op->condition), mutate(op->true_value), mutate(op->false_value));
    }
    Expr visit(const Broadcast *op) override {
        return op->value.type().is_scalar() ? Broadcast::make(op->value, half(op->type))
                                            : slice(op);
    }
    Expr visit(const Ramp *op) override {
        if (op->base.type().is_vector()) {
            return slice(op);
        }
        const Type t = op->base.type();
        return Ramp::make(k_ == 0 ? op->base : op->base + op->stride, op->stride * make_const(t, 2),
                          half(op->type));
    }
    Expr visit(const Variable *op) override {
        const Expr *value = lets_.find(op->name);
        return value ? mutate(*value) : slice(op);
    }
    Expr visit(const Let *op) override {
        if (op->value.type().is_scalar()) {
            return Let::make(op->name, op->value, mutate(op->body));
        }
        ScopedBinding<Expr> bind(lets_, op->name, op->value);
        return mutate(op->body);
    }
    Expr visit(const Load *op) override {
        // A strided load is less work as a whole than as two of twice the stride.
        if (op->index.as<Ramp>() && !is_dense(op->index)) {
            return slice(op);
        }
        return Load::make(op->type.with_lanes(half(op->type)), op->name, mutate(op->index),
                          mutate(op->predicate), Alignment(), op->symbol, op->is_streaming);
    }
    Expr visit(const Call *op) override {
        const bool lanewise = std::all_of(op->args.begin(), op->args.end(), [&](const Expr &a) {
            return a.type().is_scalar() || a.type().lanes() == op->type.lanes();
        });
        if (!op->is_pure() || !lanewise) {
            return slice(op);
        }
        const std::vector<Expr> args = GraphMutator::mutate(op->args);
        const Type t = op->type.with_lanes(half(op->type));
        return op->is_intrinsic()
                   ? Call::make(t, op->intrinsic, args)
                   : Call::make(t, op->name, args, op->call_type, op->value_index, op->symbol);
    }
    Expr visit(const Shuffle *op) override {
        const std::vector<int> indices = every_second(op->indices, k_);
        const Expr whole = whole_vector(op->vectors, indices);
        return whole.defined() ? whole : Shuffle::make(op->vectors, indices);
    }
    Expr visit(const VectorReduce *op) override {
        return slice(op);
    }

    int k_;
    Scope<Expr> lets_;
};

class LaneSplitter : public Mutator {
public:
    explicit LaneSplitter(const LowerContext &ctx) : target_(ctx.target) {
    }

private:
    using Mutator::visit;

    Stmt visit(const For *op) override {
        return is_gpu(op->for_type) ? Stmt(op) : Mutator::visit(op);
    }
    Stmt visit(const LetStmt *op) override {
        const bool known = op->value.type().is_vector() && is_pure(op->value) &&
                           !contains_kind(op->value, NodeKind::Load);
        ScopedBinding<Expr> bind(known, lets_, op->name, op->value);
        return Mutator::visit(op);
    }
    Stmt visit(const Store *op) override {
        const Expr &e = op->value;
        const bool may_be = e.type().lanes() % 2 == 0 && !has_effects(e) && alternates(e);
        return with(op, &Store::value, may_be ? split(e) : e);
    }
    /// Code generation knows an update by its form.
    Stmt visit(const Atomic *op) override {
        return op;
    }

    /// The value, or its halves if these are less work.
    Expr split(const Expr &e) const {
        const Expr halves = Shuffle::make_interleave(
            {HalfOfLanes(0, lets_).mutate(e), HalfOfLanes(1, lets_).mutate(e)});
        const Expr shared = common_subexpression_elimination(simplify(halves), true);
        const Expr whole = common_subexpression_elimination(e, true);
        return count_work(shared, target_) < count_work(whole, target_)
                   ? load_densely(simplify(halves))
                   : e;
    }

    const Target &target_;
    Scope<Expr> lets_;  ///< those of vectors that are cheap to compute again
};

}  // namespace

Stmt split_lanes(const Stmt &s, LowerContext &ctx) {
    return LaneSplitter(ctx).mutate(s);
}

}  // namespace calotype::internal
