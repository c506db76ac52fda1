// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/vectors/flatten_ramps.h"

#include <algorithm>
#include <map>

#include "arith/alignment_analysis.h"
#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "ir/with.h"
#include "lower/gpu/access/known_lanes.h"
#include "lower/let_scope.h"
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

    Expr visit(const Load *op) override {
        const Ramp *ramp = ramp_of_vectors(op->index);
        if (!ramp) {
            const Expr shuffled = in_kernel_ || op->index.as<Ramp>() || !all_true(op->predicate)
                                      ? Expr()
                                      : load_and_shuffle(op);
            return shuffled.defined() ? shuffled : GraphMutator::visit(op);
        }
        const int lanes = ramp->base.type().lanes();
        const Broadcast *base = ramp->base.as<Broadcast>(), *stride = ramp->stride.as<Broadcast>();
        const bool scalar_rows =
            base && base->value.type().is_scalar() && stride && stride->value.type().is_scalar();
        if (scalar_rows && all_true(op->predicate)) {
            const Expr index = Ramp::make(mutate(base->value), mutate(stride->value), ramp->lanes);
            const Expr column =
                with(op, &Load::index, index, &Load::predicate, const_true(ramp->lanes));
            return internal::repeat_lanes(column, lanes);
        }
        const Expr predicate = mutate(op->predicate);
        std::vector<Expr> rows;
        for (int i = 0; i < ramp->lanes; i++) {
            rows.push_back(mutate(Load::make(op->type.with_lanes(lanes), op->name,
                                             row_index(ramp, i), row_predicate(predicate, i, lanes),
                                             i == 0 ? op->alignment : Alignment(), op->symbol,
                                             op->is_streaming)));
        }
        return Shuffle::make_concat(rows);
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
        const auto [first, last] =
            std::minmax_element(groups[0].offsets.begin(), groups[0].offsets.end());
        const int64_t span = *last - *first + 1;
        if (span > (groups.size() <= 2 ? 2 * lanes : lanes)) {
            return Expr();
        }
        // One load, or two of a power of two that overlap.
        int part = 1;
        while (part * 2 <= span) {
            part *= 2;
        }
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
                         return same ? Expr(op) : Let::make(op->name, value, body);
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
            stores.push_back(mutate(
                Store::make(op->name, simplify(row(rows, i, lanes)), row_index(ramp, i),
                            row_predicate(predicate, i, lanes),
                            i == 0 ? op->alignment : Alignment(), op->symbol, op->is_streaming)));
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
    Scope<Alignment> &alignments_;         ///< of lets around
    LetScope &lanes_;                      ///< the same, those that lanes_in() knows
    std::map<std::string, Meaning> seen_;  ///< what names were bound to first
    bool in_atomic_ = false, in_kernel_ = false;
};

}  // namespace

Stmt flatten_ramps(const Stmt &s, LowerContext &ctx) {
    Scope<Alignment> alignments;
    LetScope lanes;
    return RampFlattener(ctx, alignments, lanes).mutate(s);
}

}  // namespace calotype
