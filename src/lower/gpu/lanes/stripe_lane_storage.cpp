// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// All accesses of an allocation are rewritten (lane_accesses.h says how), and where one does not
// fit, the whole is given up. It is done twice, as the least slot is known after the first time.
//
// A statement that shuffles stands where all lanes are. Conditions that lanes decide differently
// are taken off on the way to it (`guard_`), and put around the single stores in the end; what a
// store takes from other lanes is collected in `lets_`, in front of it.
#include "lower/gpu/lanes/stripe_lane_storage.h"

#include <utility>

#include "arith/cse.h"
#include "ir/constants.h"
#include "ir/equality.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "ir/with.h"
#include "lower/effects.h"
#include "lower/gpu/lanes/lane_accesses.h"
#include "lower/gpu/shared/shared_access.h"
#include "support/scope.h"

namespace calotype::internal {

namespace {

/// Elements that a lane may have of storage in MemoryType::Auto.
constexpr int64_t max_auto_slots = 32;

/// One allocation.
class Striper {
public:
    Striper(const Allocate *op, const Warps &warps, LowerContext &ctx, int lanes,
            int64_t first_slot)
        : accesses(op, warps, lanes, first_slot), op_(op), width_(warps.width), ctx_(ctx) {
    }

    /// Undefined where it cannot be.
    Stmt run() {
        const Stmt body = walk(op_->body);
        if (failed_ || !accesses.slots().is_bounded() || !accesses.are_apart()) {
            return Stmt();
        }
        const int64_t extent = *accesses.slots().max - *accesses.slots().min + 1;
        return Allocate::make(op_->name, op_->type, MemoryType::Register, {Expr(int(extent))},
                              op_->condition, body);
    }
    LaneAccesses accesses;

private:
    Stmt guarded(const Stmt &s) const {
        return guard_.defined() && s.defined() ? IfThenElse::make(guard_, s) : s;
    }

    /// Memory is read for those lanes alone that are meant.
    Expr guarded(const Expr &e) const {
        return !guard_.defined() || is_speculatable(e)
                   ? e
                   : Call::make(e.type(), Intrinsic::if_then_else,
                                {guard_, e, make_zero(e.type())});
    }

    /// What the body collects stands in front of it.
    template<typename F>
    Stmt with_lets(F body) {
        auto around = std::exchange(lets_, {});
        const Stmt s = body();
        const Stmt result = wrap_in_lets(lets_, s);
        lets_ = std::move(around);
        return result;
    }

    Stmt walk(const Stmt &s) {
        if (const Block *op = s.as<Block>()) {
            return walk_block(op);
        }
        if (!s.defined() || failed_ || !uses_buffer(s, op_->name)) {
            return guarded(s);
        }
        switch (s.kind()) {
        case NodeKind::ProducerConsumer: {
            const auto *op = s.as<ProducerConsumer>();
            return ProducerConsumer::make(op->name, op->is_producer, walk(op->body));
        }
        case NodeKind::Allocate: {
            const auto *op = s.as<Allocate>();
            failed_ = failed_ || op->new_expr.defined() || !op->constant_size();
            return with(op, &Allocate::body, walk(op->body));
        }
        case NodeKind::LetStmt:
            return walk_let(s.as<LetStmt>());
        case NodeKind::For:
            return walk_loop(s.as<For>());
        case NodeKind::IfThenElse:
            return walk_branch(s.as<IfThenElse>());
        case NodeKind::Store:
            return with_lets([&] { return guarded(store(s.as<Store>())); });
        case NodeKind::Evaluate:
            return with_lets(
                [&] { return guarded(Evaluate::make(value(s.as<Evaluate>()->value))); });
        case NodeKind::Atomic:
            return with_lets([&] { return guarded(atomic(s.as<Atomic>())); });
        default:
            return fail(s);
        }
    }

    /// What the first statement takes from other lanes is there for the rest, as long as it is what
    /// they have.
    Stmt walk_block(const Block *op) {
        const auto around = taken_;
        Stmt first = walk(op->first);
        std::vector<std::pair<std::string, Expr>> lets;
        for (const LetStmt *let = first.as<LetStmt>();
             let && Call::as_intrinsic(let->value, Intrinsic::warp_shuffle);
             let = first.as<LetStmt>()) {
            lets.emplace_back(let->name, let->value);
            first = Stmt(let->body);
        }
        if (accessed_buffers(op->first).written.count(op_->name)) {
            taken_.clear();
        } else {
            taken_.insert(taken_.end(), lets.begin(), lets.end());
        }
        const Stmt rest = walk(op->rest);
        taken_ = around;
        return wrap_in_lets(lets, Block::make(first, rest));
    }

    template<typename T>
    T fail(const T &instead) {
        failed_ = true;
        return instead;
    }

    Stmt store(const Store *op) {
        const Expr stored = value(op->value), predicate = value(op->predicate);
        if (op->name != op_->name) {
            return with(op, &Store::value, stored, &Store::index, value(op->index),
                        &Store::predicate, predicate);
        }
        const Expr index = is_const_one(op->predicate) ? accesses.stored(op->index) : Expr();
        return index.defined() ? Store::make(op->name, stored, index, predicate, Alignment())
                               : fail(Stmt(op));
    }

    Stmt atomic(const Atomic *op) {
        const Store *inside = op->body.as<Store>();
        if (!inside || inside->name == op_->name) {
            return fail(Stmt(op));
        }
        return Atomic::make(op->producer_name, op->mutex_name, store(inside));
    }

    Stmt walk_let(const LetStmt *op) {
        return with_lets([&] {
            const Expr e = guarded(value(op->value));
            const LaneAccesses::Inside inside(accesses, op, !accesses.is_uniform(e));
            return LetStmt::make(op->name, e, walk(op->body));
        });
    }

    Stmt walk_loop(const For *op) {
        if (accesses.is_uniform(op->min) && accesses.is_uniform(op->extent)) {
            return loop(op, false);
        }
        return apart([&] { return loop(op, true); });
    }

    Stmt loop(const For *op, bool is_own) {
        const Expr min = value(op->min), extent = value(op->extent);
        const LaneAccesses::Inside inside(accesses, op, is_own);
        const auto around = taken_;
        if (accessed_buffers(op->body).written.count(op_->name)) {
            taken_.clear();
        }
        const Stmt body = walk(op->body);
        taken_ = around;
        return For::make(op->name, min, extent, op->for_type, op->partition, op->device_api, body);
    }

    Stmt walk_branch(const IfThenElse *op) {
        if (accesses.is_uniform(op->condition)) {
            return branch(op);
        }
        const Stmt as_it_is = apart([&] { return branch(op); });
        if (!failed_ || !is_together_) {
            return as_it_is;
        }
        failed_ = false;
        return with_lets([&] {
            Expr condition = guarded(value(op->condition));
            condition = is_speculatable(condition) ? condition : named(condition);
            const Stmt then_case = walk_where(op->condition, condition, op->then_case);
            return Block::make(then_case, walk_where(!op->condition, !condition, op->else_case));
        });
    }

    /// With one more condition to be put around stores; `known` is what it was.
    Stmt walk_where(const Expr &known, const Expr &condition, const Stmt &s) {
        const LaneAccesses::Inside inside(accesses, known);
        const Expr guard = guard_;
        guard_ = guard.defined() ? guard && condition : condition;
        const Stmt result = accesses.is_reachable() ? walk(s) : Stmt();
        guard_ = guard;
        return result;
    }

    /// With the conditions in their place.
    Stmt branch(const IfThenElse *op) {
        const Expr condition = value(op->condition);
        const auto walk_in = [&](const Expr &known, const Stmt &s) {
            const LaneAccesses::Inside inside(accesses, known);
            return accesses.is_reachable() ? walk(s) : Stmt();
        };
        const Stmt then_case = walk_in(op->condition, op->then_case);
        const Stmt else_case = walk_in(!op->condition, op->else_case);
        if (then_case.defined()) {
            return IfThenElse::make(condition, then_case, else_case);
        }
        return else_case.defined() ? IfThenElse::make(!condition, else_case) : Stmt();
    }

    /// Lanes are in different places there: no shuffles.
    template<typename F>
    Stmt apart(F body) {
        const bool were_together = std::exchange(is_together_, false);
        const Expr guard = std::exchange(guard_, Expr());
        const Stmt s = with_lets(body);
        guard_ = guard;
        is_together_ = were_together;
        return guarded(s);
    }

    /// Each shared node once: what is known is the same for a whole expression.
    class LoadRewriter : public GraphMutator {
    public:
        explicit LoadRewriter(Striper &striper) : striper_(striper) {
        }

    private:
        using Mutator::visit;
        Expr visit(const Load *op) override {
            return op->name == striper_.op_->name ? striper_.load(op, mutate(op->index))
                                                  : Mutator::visit(op);
        }
        Striper &striper_;
    };

    Expr value(Expr e) {
        if (!uses_buffer(e, op_->name)) {
            return e;
        }
        if (contains_kind(e, NodeKind::Let)) {
            e = substitute_in_all_lets(e);
        }
        is_conditional_ = contains_intrinsic(e, Intrinsic::if_then_else);
        return name_repeated(LoadRewriter(*this).mutate(e));
    }

    /// A variable in front of the statement.
    Expr named(const Expr &e) {
        return named(e, accesses.range_of(e));
    }

    Expr named(const Expr &e, const ConstRange &range) {
        for (const auto *known : {&lets_, &taken_}) {
            for (const auto &let : *known) {
                if (equal(let.second, e)) {
                    return Variable::make(e.type(), let.first);
                }
            }
        }
        lets_.emplace_back(ctx_.names.unique(op_->name + ".of_lane"), e);
        accesses.bind_own(lets_.back().first, range);
        return Variable::make(e.type(), lets_.back().first);
    }

    Expr load(const Load *op, Expr index) {
        // What is read to find the index, is read for those lanes that are meant.
        const bool has_name =
            !is_speculatable(index) && index.type().is_scalar() && !is_conditional_;
        index = has_name ? named(guarded(index), accesses.range_of(index)) : index;
        const auto sources =
            is_const_one(op->predicate) ? accesses.loaded(index) : std::vector<LaneSource>();
        if (failed_ || sources.empty()) {
            return fail(Expr(op));
        }
        return loaded(op->type, sources);
    }

    /// The values of a vector at once where they stand beside each other in one lane.
    Expr loaded(Type t, const std::vector<LaneSource> &sources) {
        std::vector<Expr> slots;
        bool is_one = true;
        for (const LaneSource &s : sources) {
            is_one = is_one && s.slots.size() == 1 && s.mode == sources[0].mode &&
                     equal(s.lane, sources[0].lane);
            slots.push_back(s.slots[0].second);
        }
        const Expr ramp = is_one ? as_ramp(slots) : Expr();
        if (ramp.defined()) {
            return shuffled(sources[0], at(t, ramp));
        }
        std::vector<Expr> values;
        for (const LaneSource &s : sources) {
            values.push_back(chosen(t.element_of(), s));
        }
        return Shuffle::make_concat(values);
    }

    Expr chosen(Type t, const LaneSource &source) {
        Expr result;
        for (size_t i = source.slots.size(); i-- > 0;) {
            Expr v = at(t, source.slots[i].second);
            v = source.choose_after ? shuffled(source, v) : v;
            const Expr &condition = source.slots[i].first;
            result = condition.defined() ? Select::make(condition, v, result) : v;
        }
        return source.choose_after ? result : shuffled(source, result);
    }

    Expr shuffled(const LaneSource &source, const Expr &v) {
        if (source.mode == ShuffleMode::Own) {
            return v;
        }
        if (!is_together_) {
            return fail(v);
        }
        std::vector<Expr> args = {v, source.lane, Expr(int(source.mode))};
        if (width_ < warp_size) {
            args.emplace_back(width_);
        }
        return named(Call::make(v.type(), Intrinsic::warp_shuffle, args));
    }

    Expr at(Type t, const Expr &slot) {
        const Expr index = accesses.place(slot);
        return index.defined() ? Load::make(t, op_->name, index, const_true(t.lanes()), Alignment())
                               : fail(make_zero(t));
    }

    const Allocate *op_;
    const int width_;
    LowerContext &ctx_;
    bool failed_ = false;
    bool is_together_ = true;      ///< all lanes run what stands here
    bool is_conditional_ = false;  ///< of the expression at hand, parts are evaluated if needed
    Expr guard_;                   ///< conditions taken off, if any
    std::vector<std::pair<std::string, Expr>> lets_;
    std::vector<std::pair<std::string, Expr>> taken_;  ///< by statements before, still the same
};

/// The allocations of a kernel that stand where all threads are.
class KernelStriper : public StmtMutator {
public:
    KernelStriper(const KernelNest &nest, LowerContext &ctx) : warps_(nest), ctx_(ctx) {
        for (const auto &let : nest.lets) {
            note(let.first, let.second);
        }
    }

private:
    using Mutator::visit;

    void note(const std::string &name, const Expr &value) {
        if (!is_uniform_in(value, warps_.own)) {
            warps_.own.insert(name);
        }
    }

    Stmt visit(const LetStmt *op) override {
        note(op->name, op->value);
        return Mutator::visit(op);
    }
    Stmt visit(const For *op) override {
        const bool is_same =
            is_uniform_in(op->min, warps_.own) && is_uniform_in(op->extent, warps_.own);
        return is_same ? Mutator::visit(op) : op;
    }
    Stmt visit(const IfThenElse *op) override {
        return is_uniform_in(op->condition, warps_.own) ? Mutator::visit(op) : op;
    }
    Stmt visit(const Allocate *op) override {
        const auto it = ctx_.lane_storage.find(op->name);
        const bool may_be = it != ctx_.lane_storage.end() && warps_.lanes > 0 &&
                            op->memory_type == MemoryType::GPUShared && !op->type.is_handle() &&
                            !uses_var(op->body, op->name);
        const Stmt striped = may_be ? stripe(op, it->second == MemoryType::Auto) : Stmt();
        return Mutator::visit(striped.defined() ? striped.as<Allocate>() : op);
    }

    /// To all lanes, or to those that make the first store; undefined where neither can be.
    Stmt stripe(const Allocate *op, bool is_auto) {
        Striper to_all(op, warps_, ctx_, warps_.lanes, 0);
        Stmt s = checked(op, to_all, warps_.lanes, is_auto);
        const int stored = to_all.accesses.stored_lanes();
        if (s.defined() || stored == 0 || stored >= warps_.lanes) {
            return s;
        }
        Striper to_some(op, warps_, ctx_, stored, 0);
        return checked(op, to_some, stored, is_auto);
    }

    Stmt checked(const Allocate *op, Striper &striper, int lanes, bool is_auto) {
        const Stmt s = striper.run();
        const ConstRange &slots = striper.accesses.slots();
        if (!s.defined() || (is_auto && (*slots.max - *slots.min >= max_auto_slots ||
                                         !striper.accesses.has_constant_places()))) {
            return Stmt();
        }
        return *slots.min == 0 ? s : Striper(op, warps_, ctx_, lanes, *slots.min).run();
    }

    Warps warps_;
    LowerContext &ctx_;
};

}  // namespace

Stmt stripe_lane_storage(const Stmt &s, LowerContext &ctx) {
    return rewrite_kernels(s, [&](const For *op) {
        KernelNest nest = match_kernel(op);
        if (nest.api == DeviceAPI::CUDA) {
            nest.body = KernelStriper(nest, ctx).mutate(nest.body);
            return nest.to_stmt();
        }
        return Stmt(op);
    });
}

}  // namespace calotype::internal
