// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/vectors/promote_elements.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/equality.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "ir/walk/search.h"
#include "ir/with.h"
#include "lower/storage/handle_names.h"

namespace calotype::internal {

namespace {

/// Lanes of a buffer that a loop reads and writes, with the vector that they are kept in.
struct Place {
    const Store *store;  ///< one of those to it
    std::string kept;

    Type type() const {
        return store->value.type();
    }
    bool is(const Type &t, const Expr &index, const Expr &predicate) const {
        return t == type() && equal(index, store->index) && equal(predicate, store->predicate);
    }
    bool is_of(const Store *op) const {
        return op->name == store->name && is(op->value.type(), op->index, op->predicate);
    }
    /// What is in memory.
    Expr in_memory() const {
        return Load::make(type(), store->name, store->index, store->predicate, store->alignment);
    }
    Stmt write_back() const {
        return with(store, &Store::value, load());
    }
    Expr load() const {
        return Load::make(type(), kept, lanes(), const_true(type().lanes()), Alignment());
    }
    Stmt keep(const Expr &value) const {
        return Store::make(kept, value, lanes(), const_true(type().lanes()), Alignment());
    }

private:
    Expr lanes() const {
        return Ramp::make(0, 1, type().lanes());
    }
};

/// Null if it is none of these.
const Place *find_place(const std::vector<Place> &places, const Type &t, const Expr &index,
                        const Expr &predicate) {
    const auto found = std::find_if(places.begin(), places.end(), [&](const Place &place) {
        return place.is(t, index, predicate);
    });
    return found == places.end() ? nullptr : &*found;
}

/// What the compiler behind this one does not promote by itself. Each lane is an element of its own.
bool is_scattered(const Store *op) {
    const Ramp *ramp = op->index.as<Ramp>();
    const auto stride =
        ramp && ramp->base.type().is_scalar() ? as_const_int(ramp->stride) : std::nullopt;
    return stride && *stride != 0 && (*stride != 1 || !is_const_one(op->predicate));
}

/// Of scattered places: true if no lane of one is one of the other, as they leave the same gaps, and are apart or of
/// other remainders.
bool are_apart(const Place &a, const Place &b) {
    const Ramp *first = a.store->index.as<Ramp>(), *second = b.store->index.as<Ramp>();
    const int64_t stride = *as_const_int(first->stride);
    const auto distance = as_const_int(simplify(second->base - first->base));
    return distance && first->lanes == second->lanes && is_const(second->stride, stride) &&
           (*distance % stride != 0 || std::abs(*distance) >= std::abs(stride) * first->lanes);
}

/// True if each iteration comes to a store to the place, which is within the buffer then.
bool surely_stores(const Stmt &s, const Place &place) {
    if (const Store *store = s.as<Store>()) {
        return place.is_of(store);
    }
    if (const Block *block = s.as<Block>()) {
        return surely_stores(block->first, place) || surely_stores(block->rest, place);
    }
    if (const LetStmt *let = s.as<LetStmt>()) {
        return surely_stores(let->body, place);
    }
    if (const Allocate *allocate = s.as<Allocate>()) {
        return surely_stores(allocate->body, place);
    }
    return false;
}

/// The places of one buffer that a loop keeps to.
class PlacesOf {
public:
    PlacesOf(const For *loop, const std::string &buffer) : loop_(loop), buffer_(buffer) {
        inside_ = bound_names(loop->body);
        inside_.push_back(loop->name);
    }

    /// Empty where they cannot be kept.
    std::vector<Place> find(UniqueNames &names) const {
        std::vector<Place> places;
        bool ok = true;
        for_each<Store>(loop_->body, [&](const Store *op) {
            if (op->name == buffer_ &&
                !find_place(places, op->value.type(), op->index, op->predicate)) {
                ok = ok && is_scattered(op) && stays(op->index) && stays(op->predicate);
                places.push_back({op, ""});
            }
        });
        for_each<Load>(loop_->body, [&](const Load *op) {
            ok = ok &&
                 (op->name != buffer_ || find_place(places, op->type, op->index, op->predicate));
        });
        for (size_t i = 0; ok && i < places.size(); i++) {
            ok = surely_stores(loop_->body, places[i]);
            for (size_t j = 0; j < i; j++) {
                ok = ok && are_apart(places[i], places[j]);
            }
        }
        if (!ok) {
            return {};
        }
        for (Place &place : places) {
            place.kept = names.unique(buffer_ + ".kept");
        }
        return places;
    }

private:
    /// The same in all iterations.
    bool stays(const Expr &e) const {
        return is_pure(e) && !contains_kind(e, NodeKind::Load) && !uses_any_var(e, inside_);
    }

    const For *const loop_;
    const std::string &buffer_;
    std::vector<std::string> inside_;
};

/// Loads and stores of the places, with the vectors that keep them.
class UseKept : public Mutator {
public:
    UseKept(const std::string &buffer, const std::vector<Place> &places)
        : buffer_(buffer), places_(places) {
    }

private:
    using Mutator::visit;

    Expr visit(const Load *op) override {
        return op->name == buffer_ ? find_place(places_, op->type, op->index, op->predicate)->load()
                                   : Mutator::visit(op);
    }
    Stmt visit(const Store *op) override {
        return op->name == buffer_ ? find_place(places_, op->value.type(), op->index, op->predicate)
                                         ->keep(mutate(op->value))
                                   : Mutator::visit(op);
    }

    const std::string &buffer_;
    const std::vector<Place> &places_;
};

/// What is done in a loop is done by one thread, and what is touched there is named.
bool is_plain(const Stmt &body) {
    return handle_names(body).empty() && !contains_node(body, [](const Node *node) {
               const For *loop = node_as<For>(node);
               return (loop && loop->for_type != ForType::Serial) || node->kind == NodeKind::Fork ||
                      node->kind == NodeKind::Acquire || node->kind == NodeKind::Atomic;
           });
}

class PromoteElements : public StmtMutator {
public:
    explicit PromoteElements(UniqueNames &names) : names_(names) {
    }

private:
    using Mutator::visit;

    Stmt visit(const For *op) override {
        if (is_gpu(op->for_type)) {
            return op;
        }
        const Stmt body = mutate(op->body);
        const Stmt loop = body.same_as(op->body) ? Stmt(op) : with(op, &For::body, body);
        return op->for_type == ForType::Serial ? promoted(loop.as<For>()) : loop;
    }

    Stmt promoted(const For *loop) {
        std::set<std::string> buffers;
        for_each<Store>(loop->body, [&](const Store *op) {
            if (is_scattered(op)) {
                buffers.insert(op->name);
            }
        });
        if (buffers.empty() || !is_plain(loop->body)) {
            return loop;
        }
        Stmt body = loop->body;
        std::vector<Place> all;
        for (const std::string &buffer : buffers) {
            const std::vector<Place> places = PlacesOf(loop, buffer).find(names_);
            if (!places.empty()) {
                body = UseKept(buffer, places).mutate(body);
                all.insert(all.end(), places.begin(), places.end());
            }
        }
        return all.empty() ? Stmt(loop) : around(with(loop, &For::body, body), loop->extent, all);
    }

    static Stmt around(Stmt s, const Expr &extent, const std::vector<Place> &places) {
        for (const Place &place : places) {
            s = Block::make({place.keep(place.in_memory()), s, place.write_back()});
        }
        for (const Place &place : places) {
            s = Allocate::make(place.kept, place.type().element_of(), MemoryType::Stack,
                               {place.type().lanes()}, const_true(), s);
        }
        return is_positive_const(extent) ? s : IfThenElse::make(0 < extent, s);
    }

    UniqueNames &names_;
};

}  // namespace

Stmt promote_elements(const Stmt &s, LowerContext &ctx) {
    return PromoteElements(ctx.names).mutate(s);
}

}  // namespace calotype::internal
