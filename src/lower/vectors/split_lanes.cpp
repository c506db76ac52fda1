// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/vectors/split_lanes.h"

#include <algorithm>
#include <optional>
#include <set>
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
constexpr int max_nodes = 2048;
/// So many phases at most.
constexpr int max_phases = 4;

bool steps_by(const Expr &index, int stride) {
    const Ramp *ramp = index.as<Ramp>();
    return ramp && is_const(ramp->stride, stride);
}

bool is_dense(const Expr &index) {
    return steps_by(index, 1);
}

/// Those of one phase: one index of each `phases`, from the k-th on.
std::vector<int> indices_of_phase(const std::vector<int> &indices, int k, int phases) {
    std::vector<int> part;
    for (size_t i = size_t(k); i < indices.size(); i += size_t(phases)) {
        part.push_back(indices[i]);
    }
    return part;
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

/// Whether each phase is one of the vectors that are shuffled.
bool is_whole_in_phases(const Shuffle *op, int phases) {
    for (int k = 0; k < phases; k++) {
        if (!whole_vector(op->vectors, indices_of_phase(op->indices, k, phases)).defined()) {
            return false;
        }
    }
    return op->indices.size() % size_t(phases) == 0;
}

/// Of which numbers of phases something in the value is less than the whole in each of them: a shuffle that repeats or
/// interleaves, or a remainder that is the same in all lanes of a phase.
class FindPhases : public Visitor {
public:
    std::set<int> found;
    int nodes = 0;
    using Visitor::operator();
    void operator()(const Expr &e) override {
        if (e.defined() && seen_.insert(e.get()).second && ++nodes <= max_nodes) {
            Visitor::operator()(e);
        }
    }

private:
    using Visitor::visit;
    void visit(const Shuffle *op) override {
        for (int phases = 2; phases <= max_phases; phases++) {
            if (is_whole_in_phases(op, phases)) {
                found.insert(phases);
            }
        }
        Visitor::visit(op);
    }
    void visit(const Mod *op) override {
        const Broadcast *modulus = op->b.as<Broadcast>();
        const Ramp *ramp = op->a.as<Ramp>();
        const std::optional<int64_t> phases = modulus ? as_const_int(modulus->value) : std::nullopt;
        if (phases && *phases >= 2 && *phases <= max_phases && ramp && is_const_one(ramp->stride)) {
            found.insert(int(*phases));
        }
        Visitor::visit(op);
    }
    std::unordered_set<const ExprNode *> seen_;
};

/// Those that the lanes of the value can be divided into.
std::vector<int> phases_in(const Expr &e) {
    FindPhases find;
    find(e);
    std::vector<int> result;
    for (int phases : find.found) {
        if (find.nodes <= max_nodes && e.type().lanes() % phases == 0) {
            result.push_back(phases);
        }
    }
    return result;
}

/// One lane of each `phases` of vectors, from the k-th on.
class LanesOfPhase : public GraphMutator {
public:
    LanesOfPhase(int k, int phases, const Scope<Expr> &lets) : k_(k), phases_(phases), lets_(lets) {
    }
    using GraphMutator::mutate;
    Expr mutate(const Expr &e) override {
        return e.type().is_scalar() ? e : GraphMutator::mutate(e);
    }

private:
    using GraphMutator::visit;

    int part(const Type &t) const {
        return t.lanes() / phases_;
    }
    Expr slice(const Expr &e) const {
        return Shuffle::make_slice(e, k_, phases_, part(e.type()));
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
        return Cast::make(op->type.with_lanes(part(op->type)), mutate(op->value));
    }
    Expr visit(const Reinterpret *op) override {
        const bool alike = op->type.lanes() == op->value.type().lanes();
        return alike ? Reinterpret::make(op->type.with_lanes(part(op->type)), mutate(op->value))
                     : slice(op);
    }
    Expr visit(const Select *op) override {
        return Select::make(mutate(op->condition), mutate(op->true_value), mutate(op->false_value));
    }
    Expr visit(const Broadcast *op) override {
        return op->value.type().is_scalar() ? Broadcast::make(op->value, part(op->type))
                                            : slice(op);
    }
    Expr visit(const Ramp *op) override {
        if (op->base.type().is_vector()) {
            return slice(op);
        }
        const Type t = op->base.type();
        const Expr base = k_ == 0 ? op->base : op->base + op->stride * make_const(t, k_);
        return Ramp::make(base, op->stride * make_const(t, phases_), part(op->type));
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
        // A strided load is less work as a whole than as several of a longer stride.
        if (op->index.as<Ramp>() && !is_dense(op->index)) {
            return slice(op);
        }
        return Load::make(op->type.with_lanes(part(op->type)), op->name, mutate(op->index),
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
        const Type t = op->type.with_lanes(part(op->type));
        return op->is_intrinsic()
                   ? Call::make(t, op->intrinsic, args)
                   : Call::make(t, op->name, args, op->call_type, op->value_index, op->symbol);
    }
    Expr visit(const Shuffle *op) override {
        const std::vector<int> indices = indices_of_phase(op->indices, k_, phases_);
        const Expr whole = whole_vector(op->vectors, indices);
        return whole.defined() ? whole : Shuffle::make(op->vectors, indices);
    }
    Expr visit(const VectorReduce *op) override {
        return slice(op);
    }

    int k_;
    int phases_;
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
        return with(op, &Store::value, has_effects(op->value) ? op->value : split(op->value));
    }
    /// Code generation knows an update by its form.
    Stmt visit(const Atomic *op) override {
        return op;
    }

    /// The value, or its phases if these are less work.
    Expr split(const Expr &e) const {
        const std::vector<int> numbers = phases_in(e);
        if (numbers.empty()) {
            return e;
        }
        const Expr whole = common_subexpression_elimination(e, true);
        Expr best;
        int least = count_work(whole, target_);
        for (int phases : numbers) {
            const Expr parts = in_phases(e, phases);
            const int work = count_work(common_subexpression_elimination(parts, true), target_);
            if (work < least) {
                best = parts;
                least = work;
            }
        }
        return best.defined() ? load_densely(best) : e;
    }

    Expr in_phases(const Expr &e, int phases) const {
        std::vector<Expr> parts;
        for (int k = 0; k < phases; k++) {
            parts.push_back(LanesOfPhase(k, phases, lets_).mutate(e));
        }
        return simplify(Shuffle::make_interleave(parts));
    }

    const Target &target_;
    Scope<Expr> lets_;  ///< those of vectors that are cheap to compute again
};

}  // namespace

Stmt split_lanes(const Stmt &s, LowerContext &ctx) {
    return LaneSplitter(ctx).mutate(s);
}

}  // namespace calotype::internal
