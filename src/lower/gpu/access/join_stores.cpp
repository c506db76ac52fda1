// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/gpu/access/join_stores.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <vector>

#include "arith/simplify.h"
#include "ir/equality.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "ir/with.h"
#include "lower/gpu/access/kernel_mutator.h"
#include "lower/gpu/access/wide_access.h"
#include "lower/gpu/host/device_alignment.h"
#include "lower/statements_of.h"

namespace calotype::internal {

namespace {

/// A store under lets of its own.
struct Part {
    std::vector<const LetStmt *> lets;
    const Store *store = nullptr;
    Expr first;  ///< of its elements, without the lets

    int lanes() const {
        return store->value.type().lanes();
    }
};

/// The statement as such a part, if it can be joined with others.
std::optional<Part> part_of(const Stmt &s) {
    Part part;
    const Stmt *inner = &s;
    while (const LetStmt *let = inner->as<LetStmt>()) {
        if (has_effects(let->value)) {
            return std::nullopt;
        }
        part.lets.push_back(let);
        inner = &let->body;
    }
    part.store = inner->as<Store>();
    const bool joins = part.store && is_trivially_true(part.store->predicate) &&
                       !part.store->value.type().is_bool() && !has_effects(part.store->value);
    part.first = joins ? first_of_neighbours(part.store->index) : Expr();
    if (!part.first.defined()) {
        return std::nullopt;
    }
    for (size_t i = part.lets.size(); i-- > 0;) {
        part.first = substitute(part.lets[i]->name, part.lets[i]->value, part.first);
    }
    return part;
}

bool reads(const Part &part, const std::string &buffer) {
    return uses_buffer(part.store->value, buffer) ||
           std::any_of(part.lets.begin(), part.lets.end(),
                       [&](const LetStmt *let) { return uses_buffer(let->value, buffer); });
}

bool mentions(const Part &part, const std::string &name) {
    return uses_var(Stmt(part.store), name) ||
           std::any_of(part.lets.begin(), part.lets.end(), [&](const LetStmt *let) {
               return let->name == name || uses_var(let->value, name);
           });
}

/// Whether the names of their lets mean one thing where all lets stand before both stores.
bool are_apart(const Part &before, const Part &after) {
    return std::none_of(before.lets.begin(), before.lets.end(),
                        [&](const LetStmt *let) { return mentions(after, let->name); }) &&
           std::none_of(after.lets.begin(), after.lets.end(), [&](const LetStmt *let) {
               return uses_var(Stmt(before.store), let->name);
           });
}

/// Of a sequence of statements; none of those that cannot be joined.
using Parts = std::vector<std::optional<Part>>;

class StoreJoiner : public KernelMutator {
public:
    StoreJoiner(const LowerContext &ctx, bool everywhere) : ctx_(ctx), everywhere_(everywhere) {
    }

    using Mutator::mutate;
    Expr mutate(const Expr &e) override {
        return e;
    }

private:
    using KernelMutator::visit;

    Stmt visit(const Allocate *op) override {
        const bool begins =
            (!in_kernel_ || is_gpu_shared(op->memory_type)) && has_runtime_device_memory(op);
        const ScopedBinding<> at_multiple(begins, made_here_, op->name);
        return KernelMutator::visit(op);
    }

    Stmt visit(const Block *op) override {
        if (!in_kernel_) {
            return KernelMutator::visit(op);
        }
        const std::vector<Stmt> all = statements_of(op);
        Parts parts;
        std::transform(all.begin(), all.end(), std::back_inserter(parts), part_of);
        std::vector<Stmt> result;
        for (size_t i = 0; i < all.size();) {
            const size_t n = count_joined(parts, i);
            result.push_back(n > 1 ? joined(parts, i, n) : mutate(all[i]));
            i += n;
        }
        const bool same = result.size() == all.size() &&
                          std::equal(all.begin(), all.end(), result.begin(),
                                     [](const Stmt &a, const Stmt &b) { return a.same_as(b); });
        return same ? Stmt(op) : Block::make(result);
    }

    /// How many parts from `begin` on one access can store, or 1.
    size_t count_joined(const Parts &parts, size_t begin) const {
        size_t result = 1;
        int lanes = 0;
        for (size_t i = begin; i < parts.size() && follows(parts, begin, i, lanes); i++) {
            lanes += parts[i]->lanes();
            result = is_one_access(parts[begin]->store, lanes) ? i - begin + 1 : result;
        }
        return result;
    }

    /// Whether part i can be stored with those from `begin` on, which have as many lanes.
    bool follows(const Parts &parts, size_t begin, size_t i, int lanes) const {
        if (!parts[i]) {
            return false;
        }
        const Part &first = *parts[begin], &part = *parts[i];
        const Store *store = part.store;
        return !own_.contains(store->name) && !reads(part, store->name) &&
               (lanes + part.lanes()) * store->value.type().bytes() <= max_access_bytes &&
               store->name == first.store->name &&
               store->is_streaming == first.store->is_streaming &&
               store->value.type().element_of() == first.store->value.type().element_of() &&
               std::all_of(parts.begin() + begin, parts.begin() + i,
                           [&](const auto &before) { return are_apart(*before, part); }) &&
               is_const(simplify(part.first - first.first), lanes);
    }

    bool is_one_access(const Store *first, int lanes) const {
        const bool is_known = first->alignment.modulus % lanes == 0;
        if ((lanes & (lanes - 1)) != 0 || (is_known && first->alignment.remainder % lanes != 0)) {
            return false;
        }
        const Type t = first->value.type();
        return everywhere_ ||
               (is_known &&
                (made_here_.contains(first->name) ||
                 promised_alignment(ctx_, first->name, t).modulus % (lanes * t.bytes()) == 0));
    }

    static Stmt joined(const Parts &parts, size_t begin, size_t n) {
        std::vector<Expr> values;
        int lanes = 0;
        for (size_t i = begin; i < begin + n; i++) {
            values.push_back(parts[i]->store->value);
            lanes += parts[i]->lanes();
        }
        const Store *like = parts[begin]->store;
        const Expr first = first_of_neighbours(like->index);
        Stmt s = with(like, &Store::value, Shuffle::make_concat(values), &Store::index,
                      Ramp::make(first, make_one(first.type()), lanes), &Store::predicate,
                      const_true(lanes));
        for (size_t i = begin + n; i-- > begin;) {
            for (size_t k = parts[i]->lets.size(); k-- > 0;) {
                s = LetStmt::make(parts[i]->lets[k]->name, parts[i]->lets[k]->value, s);
            }
        }
        return s;
    }

    const LowerContext &ctx_;
    const bool everywhere_;
    Scope<> made_here_;  ///< storage that begins at a multiple of all vectors
};

}  // namespace

Stmt join_stores(const Stmt &s, LowerContext &ctx) {
    return StoreJoiner(ctx, false).mutate(s);
}

Stmt join_all_stores(const For *kernel, const LowerContext &ctx) {
    return StoreJoiner(ctx, true).mutate(Stmt(kernel));
}

}  // namespace calotype::internal
