// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How the body of a loop over x, of lanes iterations, becomes vector code:
//
// - Expressions are widened bottom up (ExprWidener). What does not depend on x stays as it is, once
//   for all iterations.
// - A condition that depends on x becomes a mask: loads and stores under it get it as predicate.
//   The masked code stands under `if any lane`, so what is the same for all lanes may be evaluated.
//   Where the condition is likely(), code without a mask comes first, under `if all lanes`; if what
//   stands under it is whole vectors of inner loops, the iterations that are left follow one after
//   the other, with a branch each in place of a mask of as many equal lanes as those vectors have.
// - An allocation gets one element a lane where it had one element: a new innermost dimension.
// - A loop whose bounds depend on x runs from 0 as often as any lane needs, under a mask.
// - What has no vector form (calls with effects, locks, tasks) becomes a serial loop over x of its
//   own. Values that the vector code has already computed, and that must not be computed again
//   because memory may have changed, are spilled.
// - An update within `atomic` that adds all iterations, or runs of them, into one element becomes one
//   update by a VectorReduce.
#include "lower/loops/widen.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "arith/simplify.h"
#include "arith/strided.h"
#include "ir/constants.h"
#include "ir/equality.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "ir/visitor.h"
#include "lower/loops/atomic_update.h"
#include "lower/loops/lanes.h"
#include "lower/loops/widen_expr.h"

namespace calotype::internal {

namespace {

/// Addresses each iteration's own copy of private storage in code that runs one iteration at a
/// time.
class PrivateAccess : public Mutator {
public:
    PrivateAccess(const Scope<> &names, const Expr &number, int lanes)
        : names_(names), number_(number), lanes_(lanes) {
    }

private:
    using Mutator::visit;

    Expr index(const Expr &e) const {
        const Type t = e.type();
        return e * make_const(t, lanes_) +
               Broadcast::make(cast(t.element_of(), number_), t.lanes());
    }

    Expr visit(const Load *op) override {
        if (!names_.contains(op->name)) {
            return Mutator::visit(op);
        }
        return Load::make(op->type, op->name, index(mutate(op->index)), mutate(op->predicate),
                          Alignment(), op->symbol, op->is_streaming);
    }

    Stmt visit(const Store *op) override {
        if (!names_.contains(op->name)) {
            return Mutator::visit(op);
        }
        return Store::make(op->name, mutate(op->value), index(mutate(op->index)),
                           mutate(op->predicate), Alignment(), op->symbol, op->is_streaming);
    }

    const Scope<> &names_;
    const Expr number_;
    const int lanes_;
};

bool reads_state(const Expr &e) {
    return !is_pure(e) || contains_kind(e, NodeKind::Load);
}

/// Whether the condition has a constant bound: lanes under it are known where the last iteration of
/// the loop around is a part of its own.
bool has_constant_bound(const Expr &condition) {
    if (const LT *op = condition.as<LT>()) {
        return is_const(op->a) || is_const(op->b);
    }
    const LE *op = condition.as<LE>();
    return op && (is_const(op->a) || is_const(op->b));
}

/// Looks for stores that are not in a vectorised loop of many lanes.
class ShortStores : public Visitor {
public:
    bool found = false;

    using Visitor::operator();
    void operator()(const Expr &) override {
    }

private:
    using Visitor::visit;

    void visit(const Store *) override {
        found = true;
    }
    void visit(const For *op) override {
        constexpr int64_t many_lanes = 8;
        const std::optional<int64_t> lanes = as_const_int(op->extent);
        if (op->for_type != ForType::Vectorized || !lanes || *lanes < many_lanes) {
            (*this)(op->body);
        }
    }
};

/// Whether one iteration is all vectors already.
bool is_whole_vectors(const Stmt &s) {
    ShortStores stores;
    stores(s);
    return !stores.found;
}

class Widener : public ExprWidener {
public:
    Widener(LowerContext &ctx, const For *loop, const Expr &min, int lanes)
        : ExprWidener(ctx, loop->name, min, lanes) {
    }

private:
    using ExprWidener::visit;

    /// A let that varies or a condition, on the way down to where we are: as it was, and for all
    /// lanes.
    struct Frame {
        std::string name;  ///< of the let; empty for a condition
        Expr scalar, wide;
    };

    // Code that runs one iteration after the other.

    /// The value of a frame in iteration `number`, from memory where the vector code left it.
    Expr spilled(const Frame &frame, const Expr &number,
                 std::vector<std::pair<std::string, Expr>> &spills) const {
        const bool is_bool = frame.wide.type().is_bool();
        const Expr wide =
            is_bool ? cast(UInt(8, frame.wide.type().lanes()), frame.wide) : frame.wide;
        spills.emplace_back(
            ctx_.names.unique((frame.name.empty() ? var_ + ".mask" : frame.name) + ".spill"), wide);
        const int copies = frame.scalar.type().lanes();
        Expr index = Broadcast::make(number, copies);
        if (copies > 1) {
            index = index + Ramp::make(0, lanes_, copies);
        }
        const Type t = wide.type().with_lanes(copies);
        const Expr load =
            Load::make(t, spills.back().first, index, const_true(copies), Alignment());
        return is_bool ? cast(frame.scalar.type(), load) : load;
    }

    Stmt one_by_one(const Stmt &original) {
        const Expr iteration = Variable::make(min_.type(), var_);
        const Expr number = iteration - min_;
        Stmt body = PrivateAccess(private_, number, lanes_).mutate(original);
        std::vector<std::pair<std::string, Expr>> spills;
        const std::vector<std::string> used = free_variables(body);
        std::set<std::string> needed(used.begin(), used.end());
        for (size_t i = frames_.size(); i-- > 0;) {
            const Frame &frame = frames_[i];
            if (!frame.name.empty() && !needed.count(frame.name)) {
                continue;
            }
            Expr value = reads_state(frame.scalar) ? spilled(frame, number, spills) : frame.scalar;
            for (const std::string &name : free_variables(value)) {
                needed.insert(name);
            }
            body = frame.name.empty() ? IfThenElse::make(value, body)
                                      : LetStmt::make(frame.name, value, body);
        }
        body = For::make(var_, min_, make_const(min_.type(), lanes_), ForType::Serial,
                         Partition::Auto, DeviceAPI::None, body);
        for (const auto &[name, wide] : spills) {
            const int n = wide.type().lanes();
            const Stmt store =
                Store::make(name, wide, Ramp::make(0, 1, n), const_true(n), Alignment());
            body = Allocate::make(name, wide.type().element_of(), MemoryType::Stack, {n},
                                  const_true(), Block::make(store, body));
        }
        return body;
    }

    // Statements.

    Stmt visit(const Store *op) override {
        const Expr value = mutate(op->value), index = mutate(op->index),
                   predicate = mutate(op->predicate);
        if (!succeeded()) {
            return one_by_one(op);
        }
        if (in_atomic_ && !private_.contains(op->name)) {
            const Stmt update = atomic_store(op, value, index, predicate);
            atomic_failed_ = atomic_failed_ || !update.defined();
            return update.defined() ? update : Stmt(op);
        }
        if (private_.contains(op->name)) {
            return Store::make(op->name, widen(value, op->value), private_index(index, op->index),
                               masked(predicate, op->predicate), Alignment(), op->symbol,
                               op->is_streaming);
        }
        const bool alike = !varies(value, op->value) && !varies(index, op->index) &&
                           !varies(predicate, op->predicate);
        if (alike && (!mask_.defined() || some_lane_alive_)) {
            return Store::make(op->name, value, index, predicate, op->alignment, op->symbol,
                               op->is_streaming);
        }
        return Store::make(op->name, widen(value, op->value), widen(index, op->index),
                           masked(predicate, op->predicate), Alignment(), op->symbol,
                           op->is_streaming);
    }

    /// A store inside of `atomic`, undefined if iterations may meet at one element in a way that is
    /// not understood.
    Stmt atomic_store(const Store *op, const Expr &value, const Expr &index,
                      const Expr &predicate) {
        if (varies(index, op->index)) {
            return !distinct_elements(op->name, index)
                       ? grouped_store(op, predicate)
                       : Store::make(op->name, widen(value, op->value), index,
                                     masked(predicate, op->predicate), Alignment(), op->symbol,
                                     op->is_streaming);
        }
        if (varies(predicate, op->predicate) || (mask_.defined() && !some_lane_alive_)) {
            return Stmt();
        }
        const std::optional<AtomicUpdate> update = match_atomic_update(op);
        if (!update) {
            return Stmt();
        }
        Expr operand = widen(mutate(update->operand), update->operand);
        if (mask_.defined()) {
            const Expr mask = Broadcast::make(mask_, op->value.type().lanes());
            operand = Select::make(mask, operand, reduction_identity(update->op, operand.type()));
        }
        const Expr reduced = VectorReduce::make(update->op, operand, op->value.type().lanes());
        return Store::make(op->name, update->rebuild(update->old, reduced), index, predicate,
                           op->alignment, op->symbol, op->is_streaming);
    }

    /// A store in which each run of so many iterations meets at an element, as in f[x / 4] += e:
    /// the runs are combined, and the elements are set at once. Undefined otherwise.
    Stmt grouped_store(const Store *op, const Expr &predicate) {
        const std::optional<AtomicUpdate> update = match_atomic_update(op);
        if (!update || mask_.defined() || op->value.type().is_vector() ||
            !is_const_one(predicate) || uses_any_var(op->index, wide_lets_)) {
            return Stmt();
        }
        std::vector<Expr> places;
        for (int i = 0; i < lanes_; i++) {
            places.push_back(simplify(substitute(var_, min_ + i, op->index)));
        }
        const auto other = std::find_if(places.begin(), places.end(),
                                        [&](const Expr &e) { return !equal(e, places[0]); });
        const int group = int(other - places.begin()), groups = lanes_ / group;
        if (group < 2 || groups < 2 || lanes_ % group != 0) {
            return Stmt();
        }
        const Expr stride = simplify(places[size_t(group)] - places[0]);
        if (!as_const_int(stride) || is_const_zero(stride)) {
            return Stmt();
        }
        for (int i = 0; i < lanes_; i++) {
            if (!is_const_zero(simplify(places[size_t(i)] - places[0] - stride * (i / group)))) {
                return Stmt();
            }
        }
        const Expr index = Ramp::make(places[0], stride, groups);
        const Type t = op->value.type().with_lanes(groups);
        Expr old = Load::make(t, op->name, index, const_true(groups), Alignment(), op->symbol);
        old = update->old.type().is_bool() ? Cast::make(Bool(groups), old) : old;
        const Expr operand = widen(mutate(update->operand), update->operand);
        const Expr reduced = VectorReduce::make(update->op, operand, groups);
        return Store::make(op->name, update->rebuild(old, reduced), index, const_true(groups),
                           Alignment(), op->symbol, op->is_streaming);
    }

    /// Whether no two iterations store to the same element.
    bool distinct_elements(const std::string &buffer, const Expr &index) const {
        const Expr stride = lane_stride_of(index);
        if (stride.defined() && is_const(stride) && !is_const_zero(stride)) {
            return true;
        }
        // Iterations over a pure variable of the stage set different elements by definition.
        const Function *f = ctx_.function_of_buffer(buffer);
        auto loop = ctx_.loops.find(var_);
        if (!f || loop == ctx_.loops.end() || loop->second.func != f->name() ||
            !f->stage(loop->second.stage)) {
            return false;
        }
        for (const Dim &dim : f->stage(loop->second.stage)->schedule.dims) {
            if (dim.var == loop->second.var) {
                return dim.dim_type == DimType::PureVar;
            }
        }
        return false;
    }

    Stmt visit(const Atomic *op) override {
        if (!op->mutex_name.empty()) {
            return one_by_one(op);
        }
        const bool outer_in = std::exchange(in_atomic_, true);
        const bool outer_failed = std::exchange(atomic_failed_, false);
        const Stmt body = mutate(op->body);
        const bool failed = std::exchange(atomic_failed_, outer_failed);
        in_atomic_ = outer_in;
        return failed ? one_by_one(op) : Atomic::make(op->producer_name, op->mutex_name, body);
    }

    Stmt visit(const Evaluate *op) override {
        const Expr value = mutate(op->value);
        return succeeded() ? Evaluate::make(value) : one_by_one(op);
    }

    Stmt visit(const AssertStmt *op) override {
        const Expr condition = mutate(op->condition), message = mutate(op->message);
        const bool ok = succeeded();
        if (!ok || varies(condition, op->condition) || varies(message, op->message)) {
            return one_by_one(op);
        }
        return AssertStmt::make(condition, message);
    }

    Stmt visit(const LetStmt *op) override {
        const Expr value = mutate(op->value);
        if (!succeeded()) {
            return one_by_one(op);
        }
        if (!varies(value, op->value)) {
            return LetStmt::make(op->name, value, mutate(op->body));
        }
        const std::string name = ctx_.names.unique(op->name);
        return LetStmt::make(
            name, value,
            with_let(op->name, op->value, Variable::make(value.type(), name), op->body));
    }

    /// The body of a let that varies.
    Stmt with_let(const std::string &name, const Expr &scalar, const Expr &wide, const Stmt &body) {
        BindLet bind(*this, name, wide);
        frames_.push_back({name, scalar, wide});
        Stmt result = mutate(body);
        frames_.pop_back();
        return result;
    }

    /// `body` for the lanes where the condition holds: under `if any lane`, loads and stores
    /// masked.
    Stmt with_mask(const Expr &scalar, const Expr &wide, const Stmt &body) {
        if (!body.defined()) {
            return body;
        }
        const Expr mask = mask_.defined() ? mask_ && wide : wide;
        BindMask bind(*this, wide, true);
        frames_.push_back({"", scalar, wide});
        Stmt result = mutate(body);
        frames_.pop_back();
        return result.defined() ? IfThenElse::make(any_lane(mask), result) : result;
    }

    Stmt visit(const IfThenElse *op) override {
        const Expr condition = mutate(op->condition);
        if (!succeeded()) {
            return one_by_one(op);
        }
        if (!varies(condition, op->condition)) {
            return IfThenElse::make(condition, mutate(op->then_case), mutate(op->else_case));
        }
        const Expr wide = remove_likelies(condition);
        if (!reads_state(wide)) {
            return masked_branches(op, wide);
        }
        // Evaluate it once: what follows may change the memory that it reads.
        const std::string name = ctx_.names.unique(var_ + ".mask");
        return LetStmt::make(name, wide, masked_branches(op, Variable::make(wide.type(), name)));
    }

    Stmt masked_branches(const IfThenElse *op, const Expr &wide) {
        const Expr scalar = remove_likelies(op->condition);
        const bool all_first = !scalar.same_as(op->condition) && !mask_.defined();
        const bool in_turn = all_first && !reads_state(scalar) && private_.empty() &&
                             !has_constant_bound(scalar) && is_whole_vectors(op->then_case);
        const Stmt some = in_turn
                              ? one_by_one(IfThenElse::make(scalar, op->then_case, op->else_case))
                              : Block::make(with_mask(scalar, wide, op->then_case),
                                            with_mask(!scalar, !wide, op->else_case));
        const Stmt all = all_first ? mutate(op->then_case) : Stmt();
        return all.defined() ? IfThenElse::make(tag_likely(all_lanes(wide)), all, some) : some;
    }

    static Expr tag_likely(const Expr &e) {
        return Call::make(e.type(), Intrinsic::likely, {e});
    }

    Stmt visit(const For *op) override {
        const Expr min = mutate(op->min), extent = mutate(op->extent);
        const bool differs = varies(min, op->min) || varies(extent, op->extent);
        const bool of_threads = is_gpu(op->for_type);
        if (!succeeded() || (of_threads && differs)) {
            return one_by_one(op);
        }
        if (!differs) {
            return For::make(op->name, min, extent, op->for_type, op->partition, op->device_api,
                             mutate(op->body));
        }
        const Expr zero = make_zero(min.type().element_of());
        const std::string name = ctx_.names.unique(op->name + ".iteration");
        auto info = ctx_.loops.find(op->name);
        if (info != ctx_.loops.end()) {
            ctx_.loops.emplace(name, info->second);
        }
        const Expr counter = Variable::make(zero.type(), name);
        Stmt body = op->body;
        Expr count = extent;
        if (varies(extent, op->extent)) {
            body = IfThenElse::make(tag_likely(counter < op->extent), body);
            count = largest_lane(extent);
        }
        const Expr iteration = repeat_lanes(counter, min.type().lanes()) + min;
        body = varies(min, op->min) ? with_let(op->name, counter + op->min, iteration, body)
                                    : LetStmt::make(op->name, counter + min, mutate(body));
        return For::make(name, zero, count, op->for_type, op->partition, op->device_api, body);
    }

    Stmt visit(const Allocate *op) override {
        std::vector<Expr> extents = mutate(op->extents);
        Expr condition = mutate(op->condition);
        if (!succeeded() || op->new_expr.defined()) {
            return one_by_one(op);
        }
        for (Expr &e : extents) {
            e = largest_lane(e);
        }
        extents.insert(extents.begin(),
                       make_const(extents.empty() ? Int(32) : extents[0].type(), lanes_));
        condition = any_lane(condition);
        ScopedBinding<> bind(private_, op->name);
        return Allocate::make(op->name, op->type, op->memory_type, extents, condition,
                              mutate(op->body), Expr(), op->free_function, op->padding * lanes_);
    }

    Stmt visit(const Acquire *op) override {
        return one_by_one(op);
    }

    Stmt visit(const Fork *op) override {
        return one_by_one(op);
    }

    std::vector<Frame> frames_;
    bool in_atomic_ = false, atomic_failed_ = false;
};

}  // namespace

Stmt widen(const For *loop, int lanes, LowerContext &ctx) {
    if (is_const(loop->min)) {
        return Widener(ctx, loop, loop->min, lanes).mutate(loop->body);
    }
    const std::string name = ctx.names.unique(loop->name + ".base");
    const Stmt body =
        Widener(ctx, loop, Variable::make(loop->min.type(), name), lanes).mutate(loop->body);
    return LetStmt::make(name, loop->min, body);
}

}  // namespace calotype::internal
