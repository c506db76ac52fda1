// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/vectors/rewrite_interleaving.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/equality.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "ir/walk/search.h"
#include "ir/with.h"
#include "lower/effects.h"
#include "lower/statements_of.h"
#include "lower/vectors/strided_index.h"

namespace calotype::internal {

namespace {

/// Of vectors that meet in one store.
constexpr int64_t max_stride = 64;
constexpr int64_t max_lanes = 1024;
constexpr int64_t max_kernel_stride = 8;
/// So many statements for each store of a group are looked at.
constexpr size_t max_distance = 8;
constexpr int min_row_bits = 128;

/// A store with the lets around it.
struct PlainStore {
    Stmt statement;
    std::vector<std::pair<std::string, Expr>> lets;
    const Store *store = nullptr;
};

struct StridedStore : PlainStore {
    StridedIndex index;
};

/// True if e reads the buffer anywhere but at `index`.
bool reads_elsewhere(const Expr &e, const std::string &buffer, const Expr &index) {
    return contains<Load>(
        e, [&](const Load *op) { return op->name == buffer && !equal(op->index, index); });
}

/// Undefined if it is anything else, or has other effects.
std::optional<PlainStore> as_plain_store(const Stmt &s) {
    PlainStore result;
    result.statement = s;
    const StmtNode *inner = s.get();
    while (const LetStmt *let = Stmt(inner).as<LetStmt>()) {
        if (has_effects(let->value)) {
            return std::nullopt;
        }
        result.lets.emplace_back(let->name, let->value);
        inner = let->body.get();
    }
    result.store = inner ? Stmt(inner).as<Store>() : nullptr;
    if (!result.store || has_effects(result.store->value)) {
        return std::nullopt;
    }
    return result;
}

/// The index with the lets around the store in place of their names; undefined if they read memory.
Expr index_outside(const PlainStore &plain) {
    Expr index = plain.store->index;
    bool expanded = false;
    for (auto let = plain.lets.rbegin(); let != plain.lets.rend(); ++let) {
        if (uses_var(index, let->first)) {
            if (!is_speculatable(let->second)) {
                return Expr();
            }
            index = substitute(let->first, let->second, index);
            expanded = true;
        }
    }
    return expanded ? simplify(index) : index;
}

std::optional<StridedStore> as_strided_store(const Stmt &s, int64_t largest_stride) {
    const std::optional<PlainStore> plain = as_plain_store(s);
    if (!plain || !plain->store->index.as<Ramp>()) {
        return std::nullopt;
    }
    const Store *store = plain->store;
    const Expr outside = index_outside(*plain);
    const std::optional<StridedIndex> index =
        outside.defined() ? strided_index(outside, store->predicate, largest_stride) : std::nullopt;
    if (!index || reads_elsewhere(store->value, store->name, store->index)) {
        return std::nullopt;
    }
    for (const auto &let : plain->lets) {
        if (reads_elsewhere(let.second, store->name, store->index)) {
            return std::nullopt;
        }
    }
    return StridedStore{*plain, *index};
}

bool same_group(const StridedStore &a, const StridedStore &b) {
    return a.store->name == b.store->name && a.index.stride == b.index.stride &&
           a.index.lanes == b.index.lanes && a.store->value.type() == b.store->value.type() &&
           equal(a.index.base, b.index.base);
}

/// Stores that each copy a column become stores that each copy a row. `sorted` by offset; undefined
/// if what they store is not that.
Stmt copy_of_rows(const std::vector<const StridedStore *> &sorted) {
    const StridedStore &head = *sorted[0];
    const Load *first = head.store->value.as<Load>();
    const Ramp *columns = first ? first->index.as<Ramp>() : nullptr;
    const int width = int(sorted.size());
    if (!columns || first->type.bits() * width < min_row_bits || first->name == head.store->name) {
        return Stmt();
    }
    for (int i = 0; i < width; i++) {
        const Load *load = sorted[i]->store->value.as<Load>();
        const Ramp *ramp = load ? load->index.as<Ramp>() : nullptr;
        if (!sorted[i]->lets.empty() || !ramp || load->name != first->name ||
            !is_always(load->predicate) || ramp->base.type().is_vector() ||
            !equal(ramp->stride, columns->stride) ||
            !is_const(simplify(ramp->base - columns->base), i)) {
            return Stmt();
        }
    }
    std::vector<Stmt> rows;
    for (int row = 0; row < columns->lanes; row++) {
        const Expr from = simplify(columns->base + columns->stride * row);
        const Expr value =
            Load::make(first->type.with_lanes(width), first->name, dense_index(from, 0, width),
                       const_true(width), Alignment(), first->symbol, first->is_streaming);
        const Expr to =
            dense_index(head.index.base, head.index.offset + head.index.stride * row, width);
        rows.push_back(Store::make(head.store->name, value, to, const_true(width), Alignment(),
                                   head.store->symbol, head.store->is_streaming));
    }
    return Block::make(rows);
}

class InterleaveStores : public Mutator {
public:
    explicit InterleaveStores(LowerContext &ctx) : ctx_(ctx) {
    }

private:
    using Mutator::visit;

    Stmt visit(const Atomic *op) override {
        return op;
    }

    Stmt visit(const For *op) override {
        const bool outer = std::exchange(in_kernel_, in_kernel_ || is_gpu(op->for_type));
        const Stmt result = Mutator::visit(op);
        in_kernel_ = outer;
        return result;
    }

    Stmt visit(const Block *op) override {
        std::vector<Stmt> statements = statements_of(op);
        for (Stmt &s : statements) {
            s = mutate(s);
        }
        for (size_t i = 0; i < statements.size(); i++) {
            merge_from(statements, i);
        }
        statements.erase(std::remove_if(statements.begin(), statements.end(),
                                        [](const Stmt &s) { return !s.defined(); }),
                         statements.end());
        return Block::make(statements);
    }

    /// By offset: numbers of statements, and the stores that they are.
    using Group = std::map<int64_t, std::pair<size_t, StridedStore>>;

    /// Puts one store in place of the last of those that make a group with number `first`, whose
    /// places are left empty then.
    void merge_from(std::vector<Stmt> &statements, size_t first) {
        const std::optional<StridedStore> head = as_strided_store(statements[first], max_stride);
        if (!head || head->index.stride * head->index.lanes > max_lanes) {
            return;
        }
        Group group = {{head->index.offset, {first, *head}}};
        const size_t wanted = size_t(head->index.stride);
        const size_t end = std::min(statements.size(), first + wanted * max_distance);
        for (size_t i = first + 1; i < end && group.size() < wanted; i++) {
            if (!statements[i].defined()) {
                continue;
            }
            const std::optional<StridedStore> next =
                as_strided_store(statements[i], head->index.stride);
            if (next && same_group(*head, *next) && fits(group, next->index)) {
                group.insert({next->index.offset, {i, *next}});
            } else if (!can_move_past(group, statements[i])) {
                return;
            }
        }
        std::vector<const StridedStore *> sorted;
        size_t last = first;
        for (const auto &[offset, member] : group) {
            sorted.push_back(&member.second);
            last = std::max(last, member.first);
        }
        const Stmt merged = group.size() == wanted ? merge(sorted) : Stmt();
        if (merged.defined()) {
            for (const auto &[offset, member] : group) {
                statements[member.first] = Stmt();
            }
            statements[last] = merged;
        }
    }

    /// Whether the offset is new, and all are within one stride still.
    static bool fits(const Group &group, const StridedIndex &index) {
        const int64_t low = std::min(group.begin()->first, index.offset);
        const int64_t high = std::max(group.rbegin()->first, index.offset);
        return high - low < index.stride && group.count(index.offset) == 0;
    }

    /// Whether the stores of the group may as well come after the statement.
    static bool can_move_past(const Group &group, const Stmt &s) {
        const std::optional<PlainStore> other = as_plain_store(s);
        const std::string &buffer = group.begin()->second.second.store->name;
        return other && !uses_buffer(s, buffer) &&
               std::none_of(group.begin(), group.end(), [&](const auto &member) {
                   const StridedStore &store = member.second.second;
                   return uses_buffer(store.statement, other->store->name);
               });
    }

    /// `sorted` by offset.
    Stmt merge(const std::vector<const StridedStore *> &sorted) {
        const Stmt rows = copy_of_rows(sorted);
        if (rows.defined() || (in_kernel_ && sorted[0]->index.stride > max_kernel_stride)) {
            return rows;
        }
        std::vector<std::pair<std::string, Expr>> lets;
        std::vector<Expr> values;
        for (const StridedStore *s : sorted) {
            std::map<std::string, Expr> renamed;
            for (const auto &let : s->lets) {
                lets.emplace_back(ctx_.names.unique(let.first), substitute(renamed, let.second));
                renamed[let.first] = Variable::make(let.second.type(), lets.back().first);
            }
            values.push_back(substitute(renamed, s->store->value));
        }
        const StridedStore *head = sorted[0];
        const int lanes = head->index.lanes * int(sorted.size());
        const Expr index = dense_index(head->index.base, head->index.offset, lanes);
        const Stmt result = Store::make(head->store->name, Shuffle::make_interleave(values), index,
                                        const_true(lanes), Alignment(), head->store->symbol,
                                        head->store->is_streaming);
        return wrap_in_lets(lets, result);
    }

    LowerContext &ctx_;
    bool in_kernel_ = false;
};

}  // namespace

Stmt rewrite_interleaving(const Stmt &s, LowerContext &ctx) {
    return InterleaveStores(ctx).mutate(s);
}

}  // namespace calotype::internal
