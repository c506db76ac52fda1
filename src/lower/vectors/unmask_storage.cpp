// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/vectors/unmask_storage.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "ir/constants.h"
#include "ir/equality.h"
#include "ir/mutator.h"
#include "ir/queries.h"
#include "ir/walk/search.h"
#include "ir/with.h"

namespace calotype::internal {

namespace {

/// Neighbours in storage that are written with a mask.
struct MaskedVector {
    int64_t first, lanes;
    Expr mask;

    bool overlaps(const MaskedVector &other) const {
        return first < other.first + other.lanes && other.first < first + lanes;
    }
    bool is(const MaskedVector &other) const {
        return first == other.first && lanes == other.lanes && equal(mask, other.mask);
    }
};

/// The vector that is loaded or stored, if it has a mask and a constant place.
std::optional<MaskedVector> masked_vector(const Expr &index, const Expr &predicate) {
    const Ramp *ramp = index.as<Ramp>();
    const auto first = ramp ? as_const_int(ramp->base) : std::nullopt;
    if (!first || !is_const_one(ramp->stride) || is_const_one(predicate)) {
        return std::nullopt;
    }
    return MaskedVector{*first, ramp->lanes, predicate};
}

bool contains_vector(const std::vector<MaskedVector> &all, const std::optional<MaskedVector> &v) {
    return v &&
           std::any_of(all.begin(), all.end(), [&](const MaskedVector &o) { return o.is(*v); });
}

/// Whether something else than loads and stores may touch the storage.
bool is_named_otherwise(const Allocate *op) {
    return op->new_expr.defined() ||
           contains<Variable>(op->body, [&](const Variable *v) { return v->name == op->name; }) ||
           contains<Allocate>(op->body, [&](const Allocate *a) { return a->name == op->name; }) ||
           contains<Atomic>(op->body, [](const Atomic *) { return true; });
}

/// The vectors of storage, if all of it is written by them.
std::vector<MaskedVector> masked_vectors(const Allocate *op) {
    const int64_t size = op->constant_size();
    std::vector<MaskedVector> all;
    const auto is_known_before = [&](const Expr &mask) {
        return is_pure(mask) && !contains_kind(mask, NodeKind::Load) &&
               !uses_any_var(mask, bound_names(op->body));
    };
    const auto add = [&](const MaskedVector &v) {
        if (contains_vector(all, v)) {
            return true;
        }
        const bool is_apart = std::none_of(all.begin(), all.end(),
                                           [&](const MaskedVector &o) { return o.overlaps(v); });
        all.push_back(v);
        return is_apart && v.first >= 0 && v.first + v.lanes <= size && is_known_before(v.mask);
    };
    const bool has_others = size == 0 || contains<Store>(op->body, [&](const Store *store) {
                                const auto v = masked_vector(store->index, store->predicate);
                                return store->name == op->name && !(v && add(*v));
                            });
    return has_others || all.empty() || is_named_otherwise(op) ? std::vector<MaskedVector>() : all;
}

/// Loads and stores of the vectors, without masks.
class DropMasks : public Mutator {
public:
    DropMasks(const std::string &name, const std::vector<MaskedVector> &vectors)
        : name_(name), vectors_(vectors) {
    }

private:
    using Mutator::visit;

    bool is_whole(const std::string &name, const Expr &index, const Expr &predicate) const {
        return name == name_ && contains_vector(vectors_, masked_vector(index, predicate));
    }
    Expr visit(const Load *op) override {
        const bool whole = is_whole(op->name, op->index, op->predicate);
        return whole ? with(op, &Load::predicate, const_true(op->type.lanes()))
                     : Mutator::visit(op);
    }
    Stmt visit(const Store *op) override {
        const Stmt store = Mutator::visit(op);
        const bool whole = is_whole(op->name, op->index, op->predicate);
        return whole ? with(store.as<Store>(), &Store::predicate,
                            const_true(op->value.type().lanes()))
                     : store;
    }

    const std::string &name_;
    const std::vector<MaskedVector> &vectors_;
};

/// Whether iterations of a loop in it may run at the same time.
bool is_shared(const Allocate *op) {
    return contains<For>(op->body, [](const For *f) { return f->for_type != ForType::Serial; }) ||
           contains<Fork>(op->body, [](const Fork *) { return true; });
}

/// Loads of one vector of storage with one mask, without it.
class LoadWhole : public Mutator {
public:
    LoadWhole(const std::string &name, const MaskedVector &vector) : name_(name), vector_(vector) {
    }
    bool found = false;

private:
    using Mutator::visit;

    Expr visit(const Load *op) override {
        const auto v = masked_vector(op->index, op->predicate);
        if (op->name != name_ || !v || !v->is(vector_)) {
            return Mutator::visit(op);
        }
        found = true;
        return with(op, &Load::predicate, const_true(op->type.lanes()));
    }

    const std::string &name_;
    const MaskedVector &vector_;
};

/// Updates of vectors keep what the lanes have that are off.
class ChooseLanes : public Mutator {
public:
    explicit ChooseLanes(const Allocate *op) : name_(op->name), size_(op->constant_size()) {
    }

private:
    using Mutator::visit;

    Stmt visit(const Store *op) override {
        const auto v = masked_vector(op->index, op->predicate);
        if (op->name != name_ || !v || v->first < 0 || v->first + v->lanes > size_) {
            return op;
        }
        LoadWhole whole(name_, *v);
        const Expr value = whole.mutate(op->value);
        if (!whole.found) {
            return op;
        }
        const Expr all = const_true(v->lanes);
        const Expr old = Load::make(value.type(), op->name, op->index, all, op->alignment);
        return with(op, &Store::value, Select::make(op->predicate, value, old), &Store::predicate,
                    all);
    }

    const std::string name_;
    const int64_t size_;
};

class UnmaskStorage : public StmtMutator {
private:
    using Mutator::visit;

    static Stmt with_choices(const Stmt &s) {
        const Allocate *op = s.as<Allocate>();
        return op->constant_size() == 0 || is_named_otherwise(op) || is_shared(op)
                   ? s
                   : with(op, &Allocate::body, ChooseLanes(op).mutate(op->body));
    }

    Stmt visit(const Allocate *op) override {
        const Stmt body = mutate(op->body);
        const Stmt inner = body.same_as(op->body) ? Stmt(op) : with(op, &Allocate::body, body);
        const std::vector<MaskedVector> vectors = masked_vectors(inner.as<Allocate>());
        return vectors.empty()
                   ? with_choices(inner)
                   : with(inner.as<Allocate>(), &Allocate::body,
                          DropMasks(op->name, vectors).mutate(inner.as<Allocate>()->body));
    }
};

}  // namespace

Stmt unmask_storage(const Stmt &s, LowerContext &) {
    return UnmaskStorage().mutate(s);
}

}  // namespace calotype::internal
