// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/vectors/rewrite_interleaving.h"

#include <algorithm>
#include <optional>
#include <set>

#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/equality.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "ir/visitor.h"
#include "ir/walk/search.h"
#include "ir/with.h"
#include "lower/effects.h"

namespace calotype {

using namespace internal;

namespace {

/// Of vectors that are put together from lanes: larger strides waste more than they save.
constexpr int64_t max_stride = 8;
/// Of stores that become copies of rows.
constexpr int64_t max_row = 64;
constexpr int min_row_bits = 128;

/// A plain ramp of constant stride greater than one, its base as a sum with a constant.
struct StridedIndex {
    Expr base;
    int64_t offset, stride;
    int lanes;
};

bool is_always(const Expr &predicate) {
    const Broadcast *all = predicate.as<Broadcast>();
    return is_const_one(all ? all->value : predicate);
}

std::optional<StridedIndex> strided_index(const Expr &index, const Expr &predicate,
                                          int64_t largest = max_stride) {
    const Ramp *ramp = index.as<Ramp>();
    if (!ramp || ramp->base.type().is_vector() || !is_always(predicate)) {
        return std::nullopt;
    }
    const std::optional<int64_t> stride = as_const_int(ramp->stride);
    if (!stride || *stride < 2 || *stride > largest) {
        return std::nullopt;
    }
    Expr base = ramp->base;
    int64_t offset = 0;
    if (const Add *sum = base.as<Add>()) {
        if (const std::optional<int64_t> c = as_const_int(sum->b)) {
            base = sum->a;
            offset = *c;
        }
    } else if (const std::optional<int64_t> c = as_const_int(base)) {
        base = make_zero(base.type());
        offset = *c;
    }
    return StridedIndex{base, offset, *stride, ramp->lanes};
}

Expr dense_index(const Expr &base, int64_t offset, int64_t lanes) {
    const Type t = base.type();
    return Ramp::make(simplify(base + make_const(t, offset)), make_one(t), int(lanes));
}

// Stores.

/// A strided store with the lets around it.
struct StridedStore {
    std::vector<std::pair<std::string, Expr>> lets;
    const Store *store = nullptr;
    StridedIndex index;
};

/// True if e reads the buffer anywhere but at `index`.
bool reads_elsewhere(const Expr &e, const std::string &buffer, const Expr &index) {
    return contains<Load>(
        e, [&](const Load *op) { return op->name == buffer && !equal(op->index, index); });
}

std::optional<StridedStore> as_strided_store(const Stmt &s) {
    StridedStore result;
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
    const Store *store = result.store;
    const std::optional<StridedIndex> index =
        strided_index(store->index, store->predicate, max_row);
    if (!index || reads_elsewhere(store->value, store->name, store->index)) {
        return std::nullopt;
    }
    for (const auto &let : result.lets) {
        if (uses_var(index->base, let.first) ||
            reads_elsewhere(let.second, store->name, store->index)) {
            return std::nullopt;
        }
    }
    result.index = *index;
    return result;
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

    Stmt visit(const Block *op) override {
        std::vector<Stmt> statements;
        Stmt rest = op;
        while (const Block *block = rest.as<Block>()) {
            statements.push_back(mutate(block->first));
            rest = block->rest;
        }
        statements.push_back(mutate(rest));
        std::vector<Stmt> result;
        for (size_t i = 0; i < statements.size();) {
            const Stmt merged = merge_from(statements, i);
            if (merged.defined()) {
                result.push_back(merged);
                i += group_size_;
            } else {
                result.push_back(statements[i++]);
            }
        }
        return Block::make(result);
    }

    /// One store in place of the `group_size_` statements from number `first` on; undefined if they
    /// do not fit together.
    Stmt merge_from(const std::vector<Stmt> &statements, size_t first) {
        const std::optional<StridedStore> head = as_strided_store(statements[first]);
        if (!head || first + size_t(head->index.stride) > statements.size() ||
            (head->index.stride > max_stride && !head->store->value.as<Load>())) {
            return Stmt();
        }
        group_size_ = size_t(head->index.stride);
        std::vector<StridedStore> group = {*head};
        for (size_t i = 1; i < group_size_; i++) {
            const std::optional<StridedStore> next = as_strided_store(statements[first + i]);
            if (!next || !same_group(*head, *next)) {
                return Stmt();
            }
            group.push_back(*next);
        }
        std::vector<const StridedStore *> sorted;
        for (const StridedStore &s : group) {
            sorted.push_back(&s);
        }
        std::sort(sorted.begin(), sorted.end(),
                  [](auto *a, auto *b) { return a->index.offset < b->index.offset; });
        for (size_t i = 1; i < sorted.size(); i++) {
            if (sorted[i]->index.offset != sorted[0]->index.offset + int64_t(i)) {
                return Stmt();
            }
        }
        return merge(sorted);
    }

    /// `sorted` by offset.
    Stmt merge(const std::vector<const StridedStore *> &sorted) {
        const Stmt rows = copy_of_rows(sorted);
        if (rows.defined() || sorted[0]->index.stride > max_stride) {
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
        Stmt result = Store::make(head->store->name, Shuffle::make_interleave(values), index,
                                  const_true(lanes), Alignment(), head->store->symbol,
                                  head->store->is_streaming);
        for (size_t i = lets.size(); i-- > 0;) {
            result = LetStmt::make(lets[i].first, lets[i].second, result);
        }
        return result;
    }

    LowerContext &ctx_;
    size_t group_size_ = 0;
};

// Loads.

/// What loads must share to be parts of one dense load.
struct LoadGroup {
    std::string name;
    Type type;
    int64_t stride;
    Expr base;

    bool operator<(const LoadGroup &o) const {
        if (std::tie(name, type, stride) != std::tie(o.name, o.type, o.stride)) {
            return std::tie(name, type, stride) < std::tie(o.name, o.type, o.stride);
        }
        return compare(base, o.base) < 0;
    }
};

std::optional<std::pair<LoadGroup, int64_t>> as_strided_load(const Load *op) {
    const std::optional<StridedIndex> index = strided_index(op->index, op->predicate);
    if (!index) {
        return std::nullopt;
    }
    return std::make_pair(LoadGroup{op->name, op->type, index->stride, index->base}, index->offset);
}

/// Offsets of the strided loads that an expression makes in any case.
class FindStridedLoads : public GraphVisitor {
public:
    std::map<LoadGroup, std::set<int64_t>> offsets;

private:
    using GraphVisitor::visit;
    void visit(const Load *op) override {
        if (const auto load = as_strided_load(op)) {
            offsets[load->first].insert(load->second);
        }
        GraphVisitor::visit(op);
    }
    void visit(const Call *op) override {
        if (op->is_intrinsic(Intrinsic::if_then_else)) {
            (*this)(op->args[0]);
        } else {
            GraphVisitor::visit(op);
        }
    }
};

class SliceDenseLoads : public GraphMutator {
public:
    explicit SliceDenseLoads(const std::map<LoadGroup, std::set<int64_t>> &offsets) {
        for (const auto &[group, found] : offsets) {
            for (auto it = found.begin(); it != found.end(); ++it) {
                // From the first to the last element all are read by one of the loads, if the last
                // is there.
                const int64_t last = *it + group.stride - 1;
                if (found.count(last) && !starts_[group].count(*it)) {
                    for (int64_t offset = *it; offset <= last; offset++) {
                        starts_[group].emplace(offset, *it);
                    }
                }
            }
        }
    }

private:
    using GraphMutator::visit;
    Expr visit(const Load *op) override {
        const auto load = as_strided_load(op);
        if (!load) {
            return GraphMutator::visit(op);
        }
        auto group = starts_.find(load->first);
        if (group == starts_.end() || !group->second.count(load->second)) {
            return GraphMutator::visit(op);
        }
        const int64_t start = group->second.at(load->second), stride = load->first.stride;
        const int lanes = op->type.lanes() * int(stride);
        const Expr dense = Load::make(op->type.with_lanes(lanes), op->name,
                                      dense_index(mutate(load->first.base), start, lanes),
                                      const_true(lanes), Alignment(), op->symbol, op->is_streaming);
        return Shuffle::make_slice(dense, int(load->second - start), int(stride), op->type.lanes());
    }

    std::map<LoadGroup, std::map<int64_t, int64_t>>
        starts_;  ///< from a load's offset to that of the dense load
};

class DeinterleaveLoads : public Mutator {
private:
    using Mutator::visit;

    Stmt visit(const Store *op) override {
        return with(op, &Store::value, load_densely(op->value));
    }

    Stmt visit(const LetStmt *op) override {
        return LetStmt::make(op->name, load_densely(op->value), mutate(op->body));
    }
};

}  // namespace

Expr load_densely(const Expr &e) {
    FindStridedLoads finder;
    finder(e);
    const bool several = std::any_of(finder.offsets.begin(), finder.offsets.end(),
                                     [](const auto &entry) { return entry.second.size() > 1; });
    return several ? SliceDenseLoads(finder.offsets).mutate(e) : e;
}

Stmt rewrite_interleaving(const Stmt &s, LowerContext &ctx) {
    return DeinterleaveLoads().mutate(InterleaveStores(ctx).mutate(s));
}

}  // namespace calotype
