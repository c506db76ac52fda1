// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/vectors/accumulate_lanes.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "ir/constants.h"
#include "ir/equality.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "ir/walk/search.h"
#include "ir/with.h"
#include "lower/loops/atomic_update.h"
#include "lower/vectors/count_in_bytes.h"

namespace calotype::internal {

namespace {

/// Lanes of one element are kept in at most so many registers.
constexpr int max_registers = 4;

/// An update of an element by lanes that are combined.
struct LaneUpdate {
    AtomicUpdate update;
    const VectorReduce *reduction;
    int lanes;  ///< that are kept
};

/// So many times the bits of its factors has a product; 1 for what is none.
int widening_of(const Expr &e) {
    if (Call::as_intrinsic(e, Intrinsic::widening_mul)) {
        return 2;
    }
    if (const Cast *cast = e.as<Cast>(); cast && !cast->type.is_float()) {
        const int inner = widening_of(cast->value);
        return inner > 1 ? inner * cast->type.bits() / cast->value.type().bits() : 1;
    }
    const Mul *product = e.as<Mul>();
    const Cast *a = product ? product->a.as<Cast>() : nullptr;
    const Cast *b = product ? product->b.as<Cast>() : nullptr;
    return a && b ? std::min(e.type().bits() / a->value.type().bits(),
                             e.type().bits() / b->value.type().bits())
                  : 1;
}

/// So many neighbours of e instructions add up: products of a pair (of four, where the target adds up
/// products of bytes), and eight bytes. 0 for other sums of integers that were only made wider. Conditions are as wide as what
/// they compare: those on bytes are bytes already (count_in_bytes).
int summands_of(const Expr &e, const Target &target) {
    const Cast *cast = e.as<Cast>();
    const int widening = widening_of(e);
    if (widening > 1) {
        const bool adds_four = target.features_any_of({Target::AVXVNNI, Target::AVX512_Zen4});
        return std::min(widening, adds_four ? 4 : 2);
    }
    if (!cast || cast->type.is_float() || cast->type.bits() <= cast->value.type().bits()) {
        return 1;
    }
    const Type from = cast->value.type();
    return from.is_bool()                       ? 1
           : from.is_uint() && from.bits() == 8 ? 8
           : from.is_int() && from.bits() == 16 ? 2
                                                : 0;
}

/// All stores in a loop's body to one element, if nothing else touches its buffer.
class Accumulation {
public:
    /// `strict`: sums of floats keep their order.
    Accumulation(const For *loop, const Store *first, const Target &target, bool strict)
        : loop_(loop), first_(first), target_(target), strict_(strict) {
    }

    std::optional<LaneUpdate> match(const Store *store) const {
        const std::optional<AtomicUpdate> update = match_atomic_update(store);
        const VectorReduce *reduction = update ? update->operand.as<VectorReduce>() : nullptr;
        if (!reduction || reduction->op != update->op || !is_const_one(store->predicate) ||
            reduction->type.is_bool() || store->value.as<Sub>() ||
            (strict_ && reduction->type.is_float())) {
            return std::nullopt;
        }
        const Type t = reduction->value.type();
        const int summands =
            update->op == VectorReduce::Add ? summands_of(reduction->value, target_) : 1;
        const int lanes = summands > 0 && t.lanes() % summands == 0 ? t.lanes() / summands : 0;
        if (lanes <= reduction->type.lanes() || lanes % reduction->type.lanes() != 0 ||
            lanes * t.bits() > max_registers * register_bits()) {
            return std::nullopt;
        }
        return LaneUpdate{*update, reduction, lanes};
    }

    /// Whether the loop does nothing else with the buffer.
    bool holds() const {
        const std::optional<LaneUpdate> first = match(first_);
        if (!first || contains<Load>(first_->index, [](const Load *) { return true; })) {
            return false;
        }
        bool ok = true;
        size_t loads = 0, stores = 0;
        for_each<Store>(loop_->body, [&](const Store *op) {
            if (op->name == first_->name) {
                const std::optional<LaneUpdate> other = match(op);
                stores++;
                ok = ok && other && equal(op->index, first_->index) &&
                     other->lanes == first->lanes && other->update.op == first->update.op;
            }
        });
        for_each<Load>(loop_->body, [&](const Load *op) { loads += op->name == first_->name; });
        return ok && stores > 0 && loads == stores && !is_named_otherwise();
    }

private:
    /// What calls and other statements do with the buffer is not known.
    bool is_named_otherwise() const {
        return contains<Variable>(loop_->body,
                                  [&](const Variable *op) { return op->name == first_->name; }) ||
               contains<Allocate>(loop_->body,
                                  [&](const Allocate *op) { return op->name == first_->name; });
    }

    int register_bits() const {
        return 8 * target_.natural_vector_size(UInt(8));
    }

    const For *const loop_;
    const Store *const first_;
    const Target &target_;
    const bool strict_;
};

/// The stores of a body that is a list of stores with lets around them, and no more.
bool collect_stores(const Stmt &s, std::vector<std::string> *lets,
                    std::vector<const Store *> *all) {
    if (const Block *block = s.as<Block>()) {
        return collect_stores(block->first, lets, all) && collect_stores(block->rest, lets, all);
    }
    if (const LetStmt *let = s.as<LetStmt>()) {
        lets->push_back(let->name);
        return collect_stores(let->body, lets, all);
    }
    if (const Store *store = s.as<Store>()) {
        all->push_back(store);
        return true;
    }
    return false;
}

/// Stores of the loop's body with the lanes in place of the element.
class KeepLanes : public StmtMutator {
public:
    KeepLanes(const Accumulation &accumulation, const std::string &buffer, const std::string &lanes)
        : accumulation_(accumulation), buffer_(buffer), lanes_(lanes) {
    }

    static Expr lanes_of(const std::string &name, const Type &t) {
        return Load::make(t, name, Ramp::make(0, 1, t.lanes()), const_true(t.lanes()), Alignment());
    }

private:
    using Mutator::visit;

    Stmt visit(const Store *op) override {
        if (op->name != buffer_) {
            return op;
        }
        const LaneUpdate u = *accumulation_.match(op);
        const Expr &value = u.reduction->value;
        const Type t = value.type().with_lanes(u.lanes);
        const Expr operand =
            value.type() == t ? value : VectorReduce::make(u.update.op, value, u.lanes);
        return Store::make(lanes_, u.update.rebuild(lanes_of(lanes_, t), operand),
                           Ramp::make(0, 1, u.lanes), const_true(u.lanes), Alignment());
    }

    const Accumulation &accumulation_;
    const std::string &buffer_;
    const std::string &lanes_;
};

class AccumulateLanes : public StmtMutator {
public:
    AccumulateLanes(LowerContext &ctx, bool strict) : ctx_(ctx), strict_(strict) {
    }

private:
    using Mutator::visit;

    Stmt visit(const For *op) override {
        if (is_gpu(op->for_type)) {
            return op;
        }
        std::vector<std::string> lets = {op->name};
        std::vector<const Store *> stores;
        if (op->for_type != ForType::Serial || !collect_stores(op->body, &lets, &stores)) {
            return Mutator::visit(op);
        }
        Stmt loop = op;
        for (const Store *store : stores) {
            const For *now = loop_in(loop);
            const Accumulation accumulation(now, store, ctx_.target, strict_);
            if (!uses_any_var(store->index, lets) && accumulation.holds()) {
                loop = kept(loop, now, store, accumulation);
            }
        }
        return loop;
    }

    /// The loop in what was made around it.
    static const For *loop_in(const Stmt &s) {
        const For *result = nullptr;
        for_each<For>(s, [&](const For *op) { result = op; });
        return result;
    }

    Stmt kept(const Stmt &around, const For *loop, const Store *store,
              const Accumulation &accumulation) {
        const LaneUpdate u = *accumulation.match(store);
        const Type t = u.reduction->value.type().with_lanes(u.lanes);
        const std::string name = ctx_.names.unique(store->name + ".lanes");
        const Stmt body = KeepLanes(accumulation, store->name, name).mutate(loop->body);
        const Stmt first = Store::make(name, reduction_identity(u.update.op, t),
                                       Ramp::make(0, 1, u.lanes), const_true(u.lanes), Alignment());
        const Expr all = VectorReduce::make(u.update.op, KeepLanes::lanes_of(name, t),
                                            u.reduction->type.lanes());
        Stmt last =
            Store::make(store->name, u.update.rebuild(u.update.old, all), store->index,
                        store->predicate, store->alignment, store->symbol, store->is_streaming);
        if (!is_positive_const(loop->extent)) {
            last = IfThenElse::make(0 < loop->extent, last);
        }
        const Stmt inside = Block::make({first, with(loop, &For::body, body), last});
        return substitute_loop(around, loop,
                               Allocate::make(name, t.element_of(), MemoryType::Stack, {u.lanes},
                                              const_true(), inside));
    }

    static Stmt substitute_loop(const Stmt &s, const For *loop, const Stmt &by) {
        if (s.get() == loop) {
            return by;
        }
        if (const Allocate *op = s.as<Allocate>()) {
            return with(op, &Allocate::body, substitute_loop(op->body, loop, by));
        }
        const Block *block = s.as<Block>();
        return block ? Block::make(substitute_loop(block->first, loop, by),
                                   substitute_loop(block->rest, loop, by))
                     : s;
    }

    LowerContext &ctx_;
    const bool strict_;
};

}  // namespace

Stmt accumulate_lanes(const Stmt &s, LowerContext &ctx) {
    const bool strict =
        ctx.target.has_feature(Target::StrictFloat) || contains<Call>(s, [](const Call *op) {
            return Call::as_intrinsic(op, Intrinsic::strict_float) != nullptr;
        });
    return AccumulateLanes(ctx, strict).mutate(count_in_bytes(s));
}

}  // namespace calotype::internal
