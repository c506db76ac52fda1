// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/gpu/access/join_stores.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "arith/simplify.h"
#include "ir/equality.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "ir/with.h"
#include "lower/gpu/access/wide_access.h"
#include "lower/gpu/host/device_alignment.h"
#include "support/scope.h"

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

void flatten(const Stmt &s, std::vector<Stmt> &result) {
    if (const Block *both = s.as<Block>()) {
        flatten(both->first, result);
        flatten(both->rest, result);
    } else {
        result.push_back(s);
    }
}

class StoreJoiner : public StmtMutator {
public:
    StoreJoiner(const LowerContext &ctx, bool everywhere) : ctx_(ctx), everywhere_(everywhere) {
    }

private:
    using Mutator::visit;

    Stmt visit(const For *op) override {
        const bool kernel = op->for_type == ForType::GPUBlock && !in_kernel_;
        if (kernel && op->device_api != DeviceAPI::CUDA) {
            return op;
        }
        in_kernel_ |= kernel;
        const Stmt s = StmtMutator::visit(op);
        in_kernel_ = in_kernel_ && !kernel;
        return s;
    }

    Stmt visit(const Allocate *op) override {
        const bool own = in_kernel_ && !is_gpu_shared(op->memory_type);
        const ScopedBinding<> is_own(own, own_, op->name);
        const ScopedBinding<> begins(!own && has_runtime_device_memory(op), made_here_, op->name);
        return StmtMutator::visit(op);
    }

    Stmt visit(const Atomic *op) override {
        return op;
    }

    Stmt visit(const Block *op) override {
        if (!in_kernel_) {
            return StmtMutator::visit(op);
        }
        std::vector<Stmt> all, result;
        flatten(op, all);
        for (size_t i = 0; i < all.size();) {
            const std::vector<Part> parts = neighbours(all, i);
            result.push_back(parts.size() > 1 ? joined(parts) : mutate(all[i]));
            i += std::max<size_t>(parts.size(), 1);
        }
        const bool same = result.size() == all.size() &&
                          std::equal(all.begin(), all.end(), result.begin(),
                                     [](const Stmt &a, const Stmt &b) { return a.same_as(b); });
        return same ? Stmt(op) : Block::make(result);
    }

    /// Parts from `begin` on that one access can store.
    std::vector<Part> neighbours(const std::vector<Stmt> &all, size_t begin) const {
        std::vector<Part> parts;
        size_t joined = 0;
        int lanes = 0;
        for (size_t i = begin; i < all.size(); i++) {
            std::optional<Part> part = part_of(all[i]);
            if (!part || !follows(*part, parts, lanes)) {
                break;
            }
            lanes += part->lanes();
            parts.push_back(std::move(*part));
            joined = is_one_access(parts, lanes) ? parts.size() : joined;
        }
        parts.resize(joined);
        return parts;
    }

    bool follows(const Part &part, const std::vector<Part> &before, int lanes) const {
        const Store *store = part.store;
        if (own_.contains(store->name) || reads(part, store->name) ||
            (lanes + part.lanes()) * store->value.type().bytes() > max_access_bytes) {
            return false;
        }
        if (before.empty()) {
            return true;
        }
        const Store *first = before.front().store;
        return store->name == first->name && store->is_streaming == first->is_streaming &&
               store->value.type().element_of() == first->value.type().element_of() &&
               binds_other_names(part, before) &&
               is_const(simplify(part.first - before.front().first), lanes);
    }

    /// Names of lets mean one thing where all lets stand before all stores.
    static bool binds_other_names(const Part &part, const std::vector<Part> &before) {
        for (const LetStmt *let : part.lets) {
            for (const Part &other : before) {
                for (const LetStmt *bound : other.lets) {
                    if (bound->name == let->name || uses_var(let->value, bound->name)) {
                        return false;
                    }
                }
                if (uses_var(Stmt(other.store), let->name)) {
                    return false;
                }
            }
        }
        return std::none_of(before.begin(), before.end(), [&](const Part &other) {
            return std::any_of(other.lets.begin(), other.lets.end(), [&](const LetStmt *bound) {
                return uses_var(Stmt(part.store), bound->name);
            });
        });
    }

    bool is_one_access(const std::vector<Part> &parts, int lanes) const {
        const Store *first = parts.front().store;
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

    static Stmt joined(const std::vector<Part> &parts) {
        std::vector<Expr> values;
        int lanes = 0;
        for (const Part &part : parts) {
            values.push_back(part.store->value);
            lanes += part.lanes();
        }
        const Store *like = parts.front().store;
        const Expr first = first_of_neighbours(like->index);
        Stmt s = with(like, &Store::value, Shuffle::make_concat(values), &Store::index,
                      Ramp::make(first, make_one(first.type()), lanes), &Store::predicate,
                      const_true(lanes));
        for (size_t i = parts.size(); i-- > 0;) {
            for (size_t k = parts[i].lets.size(); k-- > 0;) {
                s = LetStmt::make(parts[i].lets[k]->name, parts[i].lets[k]->value, s);
            }
        }
        return s;
    }

    const LowerContext &ctx_;
    const bool everywhere_;
    bool in_kernel_ = false;
    Scope<> own_;        ///< storage of a thread
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
