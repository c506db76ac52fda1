// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/vectors/flatten_ramps.h"

#include <algorithm>
#include <map>
#include <set>

#include "arith/alignment_analysis.h"
#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/equality.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "ir/with.h"
#include "lower/gpu/access/known_lanes.h"
#include "lower/let_scope.h"
#include "lower/loops/lanes.h"
#include "lower/vectors/bit_lanes.h"
#include "lower/vectors/lane_grid.h"
#include "lower/vectors/lane_of.h"
#include "lower/vectors/reduce_rows.h"

namespace calotype::internal {

namespace {

/// The index if it is a ramp of vectors.
const Ramp *ramp_of_vectors(const Expr &index) {
    const Ramp *ramp = index.as<Ramp>();
    return ramp && ramp->base.type().is_vector() ? ramp : nullptr;
}

/// A ramp of vectors of which each lane is followed by its neighbour in memory.
bool is_dense(const Ramp *ramp) {
    const Broadcast *stride = ramp->stride.as<Broadcast>();
    return stride && is_const_one(stride->value);
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

/// A row of so many bits is worth a load of its own.
constexpr int min_row_bits = 128;

bool has_long_rows(const LaneGrid &grid, const Type &t) {
    return !grid.dims.empty() && is_const_one(grid.dims[0].stride) &&
           grid.dims[0].lanes * t.bits() >= min_row_bits;
}

class RampFlattener : public GraphMutator {
public:
    RampFlattener(LowerContext &ctx, Scope<Alignment> &alignments, LetScope &lanes)
        : ctx_(ctx), alignments_(alignments), lanes_(lanes) {
    }

    // The lets made for a store are its own: a shared statement is rewritten once for each place.
    using GraphMutator::mutate;
    Stmt mutate(const Stmt &s) override {
        return Mutator::mutate(s);
    }

private:
    using GraphMutator::visit;

    /// The dimensions that an index steps through, unless it is a plain ramp.
    std::optional<LaneGrid> grid_of(const Expr &index) const {
        const Ramp *ramp = index.as<Ramp>();
        if (in_kernel_ || index.type().is_scalar() || (ramp && ramp->base.type().is_scalar())) {
            return std::nullopt;
        }
        const Expr expanded = lanes_.expand(index);
        const std::optional<LaneGrid> grid =
            expanded.defined() ? lane_grid(expanded) : std::nullopt;
        return grid && (ramp || grid->has_rows()) ? grid : std::nullopt;
    }

    Expr visit(const Load *op) override {
        if (updated_ && op->name == updated_->name && equal(op->index, updated_->index)) {
            return with(op, &Load::index, updated_index_, &Load::predicate, mutate(op->predicate));
        }
        const Ramp *ramp = ramp_of_vectors(op->index);
        const std::optional<LaneGrid> grid = grid_of(op->index);
        const bool always = all_true(op->predicate);
        if (always && !in_kernel_ && (ramp || !op->index.as<Ramp>()) &&
            !(grid && has_long_rows(*grid, op->type))) {
            const Expr shuffled = load_and_shuffle(op);
            if (shuffled.defined()) {
                return shuffled;
            }
        }
        if (grid) {
            return load_grid(op, *grid, always ? const_true() : mutate(op->predicate));
        }
        return ramp ? load_rows(op, ramp) : GraphMutator::visit(op);
    }

    Expr load_part(const Load *op, const Expr &index, const Expr &predicate) {
        return Load::make(op->type.with_lanes(index.type().lanes()), op->name, mutate(index),
                          predicate, Alignment(), op->symbol, op->is_streaming);
    }

    /// By the rows that it is made of. Where the predicate is a scalar it is true.
    Expr load_grid(const Load *op, const LaneGrid &grid, const Expr &predicate) {
        const bool always = predicate.type().is_scalar();
        if (grid.dims.size() < 2) {
            const bool is_scalar = grid.dims.empty();
            const Expr index = is_scalar
                                   ? grid.base
                                   : Ramp::make(grid.base, grid.dims[0].stride, grid.dims[0].lanes);
            return load_part(op, index, always ? const_true(index.type().lanes()) : predicate);
        }
        if (always && is_const_zero(grid.dims[0].stride)) {
            const LaneGrid rest{grid.base, {grid.dims.begin() + 1, grid.dims.end()}};
            return repeat_lanes(load_grid(op, rest, predicate), grid.dims[0].lanes);
        }
        const LaneGrid::Dim &last = grid.dims.back();
        if (always && is_const_zero(last.stride)) {
            return Broadcast::make(load_grid(op, grid.inner(0), predicate), last.lanes);
        }
        if (grid.ends_dense()) {
            return load_columns(op, grid.row_bases(), last.lanes, predicate);
        }
        std::vector<Expr> rows;
        const int lanes = grid.lanes() / last.lanes;
        for (int i = 0; i < last.lanes; i++) {
            rows.push_back(load_grid(op, grid.inner(i),
                                     always ? predicate : row_predicate(predicate, i, lanes)));
        }
        return Shuffle::make_concat(rows);
    }

    /// What is dense in the slowest dimension is loaded by that dimension, and transposed.
    Expr load_columns(const Load *op, const std::vector<Expr> &bases, int length,
                      const Expr &predicate) {
        std::vector<Expr> columns;
        for (size_t i = 0; i < bases.size(); i++) {
            columns.push_back(
                load_part(op, Ramp::make(bases[i], make_one(bases[i].type()), length),
                          column_predicate(predicate, int(i), int(bases.size()), length)));
        }
        return Shuffle::make_interleave(columns);
    }

    /// Of a ramp of vectors.
    Expr load_rows(const Load *op, const Ramp *ramp) {
        const int lanes = ramp->base.type().lanes();
        const Broadcast *base = ramp->base.as<Broadcast>(), *stride = ramp->stride.as<Broadcast>();
        const bool scalar_rows =
            base && base->value.type().is_scalar() && stride && stride->value.type().is_scalar();
        if (scalar_rows && all_true(op->predicate)) {
            const Expr index = Ramp::make(mutate(base->value), mutate(stride->value), ramp->lanes);
            const Expr column =
                with(op, &Load::index, index, &Load::predicate, const_true(ramp->lanes));
            return repeat_lanes(column, lanes);
        }
        const Expr predicate = mutate(op->predicate);
        if (!in_kernel_ && is_dense(ramp)) {
            std::vector<Expr> bases;
            for (int i = 0; i < lanes; i++) {
                bases.push_back(lane_of(ramp->base, i));
            }
            return load_columns(op, bases, ramp->lanes, predicate);
        }
        std::vector<Expr> rows;
        for (int i = 0; i < ramp->lanes; i++) {
            rows.push_back(mutate(Load::make(op->type.with_lanes(lanes), op->name,
                                             row_index(ramp, i), row_predicate(predicate, i, lanes),
                                             i == 0 ? op->alignment : Alignment(), op->symbol,
                                             op->is_streaming)));
        }
        return Shuffle::make_concat(rows);
    }

    Expr visit(const VectorReduce *op) override {
        const Expr value = mutate(op->value);
        return in_kernel_ ? VectorReduce::make(op->op, value, op->type.lanes())
                          : reduce_rows(op->op, value, op->type.lanes());
    }

    Expr visit(const Call *op) override {
        const Expr e = GraphMutator::visit(op);
        const Call *call = Call::as_intrinsic(e, Intrinsic::extract_bits);
        if (!call || !call->args[0].as<Shuffle>()) {
            return e;
        }
        const Cast *cast = call->args[1].as<Cast>();
        const Expr begin = lanes_.expand(cast ? cast->value : call->args[1]);
        const std::optional<KnownLanes> lanes =
            begin.defined() ? known_lanes(begin, alignments_) : std::nullopt;
        const Expr whole = lanes && is_const_zero(lanes->base)
                               ? bits_in_turn(call, call->args[0], lanes->offsets)
                               : Expr();
        return whole.defined() ? whole : e;
    }

    /// Lanes that are constants apart, and near each other, are taken out of what lies from the
    /// first to the last of them: undefined if there are others, or if the index says so already.
    Expr load_and_shuffle(const Load *op) {
        const int lanes = op->type.lanes();
        if (lanes < 4 || op->index.as<Broadcast>()) {
            return Expr();
        }
        const Expr index = lanes_.expand(op->index);
        const std::vector<LaneGroup> groups =
            index.defined() ? lane_groups(index, alignments_) : std::vector<LaneGroup>();
        if (groups.empty()) {
            return Expr();
        }
        // What lies between them may be loaded for others: load_densely finds that.
        if (std::all_of(groups.begin(), groups.end(), leaves_gaps)) {
            if (const Expr steps = load_steps(op, groups); steps.defined()) {
                return steps;
            }
        }
        const auto [first, last] =
            std::minmax_element(groups[0].offsets.begin(), groups[0].offsets.end());
        const int64_t span = *last - *first + 1;
        if (span > (groups.size() <= 2 ? 2 * lanes : lanes)) {
            return load_steps(op, groups);
        }
        // One load of all lanes, or two of a power of two that overlap.
        int part = 1;
        while (part * 2 <= span) {
            part *= 2;
        }
        part = span == lanes ? lanes : part;
        std::vector<Expr> parts;
        std::vector<int> indices(size_t(lanes), 0);
        for (const LaneGroup &group : groups) {
            const auto [low, high] =
                std::minmax_element(group.offsets.begin(), group.offsets.end());
            if (*high - *low + 1 != span) {
                return Expr();
            }
            const int place = int(parts.size()) * part;
            for (const int64_t begin : {int64_t(0), span - part}) {
                parts.push_back(load_dense(op, group.base + int(*low + begin), part));
                if (part == span) {
                    break;
                }
            }
            for (size_t i = 0; i < group.lanes.size(); i++) {
                const int64_t at = group.offsets[i] - *low;
                indices[size_t(group.lanes[i])] =
                    place + int(at < part ? at : part + at - (span - part));
            }
        }
        return Shuffle::make(parts, indices);
    }

    /// Whether no two lanes of a group are of neighbours.
    static bool leaves_gaps(const LaneGroup &group) {
        const std::set<int64_t> places(group.offsets.begin(), group.offsets.end());
        return places.size() > 1 && std::none_of(places.begin(), places.end(), [&](int64_t at) {
                   return places.count(at + 1) > 0;
               });
    }

    /// Lanes further apart, each group by a load of as many steps as it has: undefined if the groups have others between
    /// them, or if these are more elements than lanes. Elements that a machine may gather have to repeat.
    static Expr load_steps(const Load *op, const std::vector<LaneGroup> &groups) {
        const int lanes = op->type.lanes();
        std::vector<Expr> parts;
        std::vector<int> indices(size_t(lanes), 0);
        int loaded = 0;
        for (const LaneGroup &group : groups) {
            const std::set<int64_t> places(group.offsets.begin(), group.offsets.end());
            const int64_t first = *places.begin(), span = *places.rbegin() - first;
            const int count = int(places.size());
            const int64_t step = count > 1 ? span / (count - 1) : 0;
            for (size_t i = 0; i < group.lanes.size(); i++) {
                const int64_t at = group.offsets[i] - first;
                if (step == 0 || at % step != 0) {
                    return Expr();
                }
                indices[size_t(group.lanes[i])] = loaded + int(at / step);
            }
            if (span != step * (count - 1)) {
                return Expr();
            }
            const Expr base = simplify(group.base + int(first));
            parts.push_back(Load::make(op->type.with_lanes(count), op->name,
                                       Ramp::make(base, int(step), count), const_true(count),
                                       Alignment(), op->symbol, op->is_streaming));
            loaded += count;
        }
        const bool is_gathered = op->type.bits() >= 32;
        return (is_gathered ? 2 * loaded : loaded) <= lanes ? Shuffle::make(parts, indices)
                                                            : Expr();
    }

    static Expr load_dense(const Load *op, const Expr &first, int lanes) {
        const Expr base = simplify(first);
        return Load::make(op->type.with_lanes(lanes), op->name,
                          lanes == 1 ? base : Ramp::make(base, 1, lanes), const_true(lanes),
                          Alignment(), op->symbol, op->is_streaming);
    }

    /// Where a name is bound. Copies of a loop's body bind it to several values, and what was seen
    /// with one is not to be taken for what it is with another.
    template<typename Visit>
    auto bound(const std::string &name, const Alignment &known, const Expr &value, Visit &&visit) {
        const ScopedBinding<Alignment> bind(alignments_, name, known);
        if (value.defined()) {
            lanes_.push(name, value);
        }
        auto result = inside(name, Meaning{known, value}, visit);
        if (value.defined()) {
            lanes_.pop();
        }
        return result;
    }

    struct Meaning {
        Alignment alignment;
        Expr value;  ///< of lets that lanes_in() knows
    };

    template<typename Visit>
    auto inside(const std::string &name, const Meaning &meaning, Visit &&visit) {
        const Meaning &first = seen_.insert({name, meaning}).first->second;
        if (first.alignment == meaning.alignment && first.value.same_as(meaning.value)) {
            return visit(*this);
        }
        RampFlattener anew(ctx_, alignments_, lanes_);
        anew.in_kernel_ = in_kernel_;
        anew.in_atomic_ = in_atomic_;
        return visit(anew);
    }

    /// The value of a let, where it says what lanes an index has.
    static Expr lanes_in(const Expr &value) {
        return value.type().is_vector() && value.type().element_of() == Int(32) && is_pure(value) &&
                       !contains_kind(value, NodeKind::Load)
                   ? value
                   : Expr();
    }

    Expr visit(const Let *op) override {
        const Expr value = mutate(op->value);
        return bound(op->name, alignment(op->value), lanes_in(op->value),
                     [&](RampFlattener &flattener) {
                         const Expr body = flattener.mutate(op->body);
                         const bool same = value.same_as(op->value) && body.same_as(op->body);
                         return same                       ? Expr(op)
                                : value.type().is_scalar() ? Let::make(op->name, value, body)
                                                           : let_of_lanes(op->name, value, body);
                     });
    }

    Stmt visit(const LetStmt *op) override {
        const Expr value = mutate(op->value);
        return bound(op->name, alignment(op->value), lanes_in(op->value),
                     [&](RampFlattener &flattener) {
                         const Stmt body = flattener.mutate(op->body);
                         const bool same = value.same_as(op->value) && body.same_as(op->body);
                         return same ? Stmt(op) : LetStmt::make(op->name, value, body);
                     });
    }

    Stmt visit(const For *op) override {
        const bool outer = in_kernel_;
        in_kernel_ = in_kernel_ || is_gpu(op->for_type);
        const Stmt result = bound(op->name, Alignment(), Expr(), [&](RampFlattener &flattener) {
            return flattener.GraphMutator::visit(op);
        });
        in_kernel_ = outer;
        return result;
    }

    Alignment alignment(const Expr &value) const {
        return value.type() == Int(32) ? alignment_of(value, alignments_) : Alignment();
    }

    static Expr row_predicate(const Expr &predicate, int i, int lanes) {
        return all_true(predicate) ? const_true(lanes) : simplify(row(predicate, i, lanes));
    }

    /// Of a vector of columns, the elements in column i of each row.
    static Expr column_predicate(const Expr &predicate, int i, int columns, int rows) {
        return all_true(predicate) ? const_true(rows)
                                   : simplify(Shuffle::make_slice(predicate, i, columns, rows));
    }

    /// The index as a plain ramp, if that is what its lanes are; undefined otherwise.
    Expr as_ramp(const Expr &index) const {
        const bool may_be = index.type().is_vector() && !index.as<Ramp>() && !in_kernel_;
        const Expr expanded = may_be ? lanes_.expand(index) : Expr();
        const std::optional<KnownLanes> known =
            expanded.defined() ? known_lanes(expanded, alignments_) : std::nullopt;
        if (!known) {
            return Expr();
        }
        const std::vector<int64_t> &offsets = known->offsets;
        const int64_t step = offsets[1] - offsets[0];
        for (size_t i = 1; i < offsets.size(); i++) {
            if (offsets[i] - offsets[i - 1] != step || step == 0) {
                return Expr();
            }
        }
        const Type t = known->base.type();
        return Ramp::make(simplify(known->base + make_const(t, offsets[0])), make_const(t, step),
                          int(offsets.size()));
    }

    Stmt visit(const Store *op) override {
        const Ramp *ramp = ramp_of_vectors(op->index);
        if (in_atomic_) {
            return update(op);
        }
        if (const Expr plain = as_ramp(op->index); plain.defined()) {
            return with(op, &Store::value, mutate(op->value), &Store::index, mutate(plain),
                        &Store::predicate, mutate(op->predicate));
        }
        const std::optional<LaneGrid> grid = grid_of(op->index);
        const bool overlaps =
            grid && std::any_of(grid->dims.begin(), grid->dims.end(),
                                [](const LaneGrid::Dim &d) { return is_const_zero(d.stride); });
        if (!grid || overlaps) {
            return ramp ? store_rows(op, ramp) : GraphMutator::visit(op);
        }
        const Expr value = mutate(op->value);
        const std::string name = ctx_.names.unique(op->name + ".rows");
        const Expr rows = is_const(value) ? value : Variable::make(value.type(), name);
        const Expr predicate = all_true(op->predicate) ? const_true() : mutate(op->predicate);
        const Stmt result = store_grid(op, *grid, rows, predicate);
        return is_const(value) ? result : LetStmt::make(name, value, result);
    }

    /// By the rows that it is made of. Where the predicate is a scalar it is true.
    Stmt store_grid(const Store *op, const LaneGrid &grid, const Expr &value,
                    const Expr &predicate) {
        const bool always = predicate.type().is_scalar();
        if (grid.dims.size() < 2) {
            const int lanes = value.type().lanes();
            const Expr index =
                grid.dims.empty() ? grid.base : Ramp::make(grid.base, grid.dims[0].stride, lanes);
            return Store::make(op->name, simplify(value), mutate(index),
                               always ? const_true(lanes) : predicate, Alignment(), op->symbol,
                               op->is_streaming);
        }
        if (grid.ends_dense()) {
            return store_columns(op, grid, value, predicate);
        }
        std::vector<Stmt> stores;
        const int count = grid.dims.back().lanes, lanes = value.type().lanes() / count;
        for (int i = 0; i < count; i++) {
            stores.push_back(store_grid(op, grid.inner(i), row(value, i, lanes),
                                        always ? predicate : row_predicate(predicate, i, lanes)));
        }
        return Block::make(stores);
    }

    /// What is dense in the slowest dimension is transposed, and stored by that dimension.
    Stmt store_columns(const Store *op, const LaneGrid &grid, const Expr &value,
                       const Expr &predicate) {
        const int length = grid.dims.back().lanes;
        const std::vector<Expr> bases = grid.row_bases();
        const int columns = int(bases.size());
        const std::string name = ctx_.names.unique(op->name + ".columns");
        std::vector<Expr> rows;
        for (int i = 0; i < length; i++) {
            rows.push_back(simplify(row(value, i, columns)));
        }
        const Expr transposed = is_const(value) ? value : Shuffle::make_interleave(rows);
        const Expr whole = is_const(value) ? value : Variable::make(transposed.type(), name);
        std::vector<Stmt> stores;
        for (int i = 0; i < columns; i++) {
            const Expr base = mutate(bases[size_t(i)]);
            stores.push_back(Store::make(op->name, simplify(row(whole, i, length)),
                                         Ramp::make(base, make_one(base.type()), length),
                                         column_predicate(predicate, i, columns, length),
                                         Alignment(), op->symbol, op->is_streaming));
        }
        const Stmt result = Block::make(stores);
        return is_const(value) ? result : LetStmt::make(name, transposed, result);
    }

    /// Of a ramp of vectors.
    Stmt store_rows(const Store *op, const Ramp *ramp) {
        const int lanes = ramp->base.type().lanes();
        const Expr value = mutate(op->value), predicate = mutate(op->predicate);
        const std::string name = ctx_.names.unique(op->name + ".rows");
        const Expr rows = is_const(value) ? value : Variable::make(value.type(), name);
        std::vector<Stmt> stores;
        for (int i = 0; i < ramp->lanes; i++) {
            stores.push_back(mutate(
                Store::make(op->name, simplify(row(rows, i, lanes)), row_index(ramp, i),
                            row_predicate(predicate, i, lanes),
                            i == 0 ? op->alignment : Alignment(), op->symbol, op->is_streaming)));
        }
        const Stmt result = Block::make(stores);
        return is_const(value) ? result : LetStmt::make(name, value, result);
    }

    /// An atomic update is known by its form: it loads what it stores to.
    Stmt update(const Store *op) {
        updated_index_ = mutate(op->index);
        updated_ = op;
        const Stmt result = with(op, &Store::value, mutate(op->value), &Store::index,
                                 updated_index_, &Store::predicate, mutate(op->predicate));
        updated_ = nullptr;
        return result;
    }

    Stmt visit(const Atomic *op) override {
        const bool outer = std::exchange(in_atomic_, true);
        const Stmt result = GraphMutator::visit(op);
        in_atomic_ = outer;
        return result;
    }

    LowerContext &ctx_;
    Scope<Alignment> &alignments_;         ///< of lets around
    LetScope &lanes_;                      ///< the same, those that lanes_in() knows
    std::map<std::string, Meaning> seen_;  ///< what names were bound to first
    bool in_atomic_ = false, in_kernel_ = false;
    const Store *updated_ = nullptr;  ///< in an atomic update, where that stores
    Expr updated_index_;
};

}  // namespace

Stmt flatten_ramps(const Stmt &s, LowerContext &ctx) {
    Scope<Alignment> alignments;
    LetScope lanes;
    return RampFlattener(ctx, alignments, lanes).mutate(s);
}

}  // namespace calotype::internal
