// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The body of a kernel is walked in the order in which it runs, with the accesses since the last
// barrier. A statement in which threads go different ways is one step: its accesses are compared
// with those before it, not with each other. A loop is walked twice, the second time with what is
// left of its first end; first by itself, since a barrier before the loop is better than one in
// each iteration.
#include "lower/gpu/shared/insert_barriers.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "arith/cse.h"
#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/conventions/kernels.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "ir/visitor.h"
#include "ir/walk/search.h"
#include "ir/with.h"
#include "lower/gpu/kernel_nest.h"
#include "lower/gpu/shared/shared_access.h"
#include "lower/gpu/uniform.h"
#include "lower/known_here.h"
#include "lower/names.h"
#include "pipeline/parameter.h"
#include "pipeline/schedule.h"
#include "support/scope.h"

namespace calotype::internal {

namespace {

using Accesses = std::vector<SharedAccess>;

/// What is known at a place in a kernel.
struct Place : AccessContext {
    Scope<> private_memory;         ///< storage of a thread
    Scope<> shared_memory;          ///< storage of a block
    std::set<std::string> written;  ///< buffers that the order of stores matters for

    /// e in terms of threads, loops and what is outside of the kernel.
    Expr expand(const Expr &e) const {
        return known.lets().expand_while_small(e);
    }

    ConstantInterval range_of(const Expr &e) const {
        return known.range(expand(e));
    }
};

/// Within the length of a C++ block: each thread has a value of its own for a name, if it `is_own`.
class OwnName {
public:
    OwnName(bool is_own, Place &place, const std::string &name)
        : place_(place), name_(name), is_new_(is_own && place.own.insert(name).second) {
    }
    ~OwnName() {
        if (is_new_) {
            place_.own.erase(name_);
        }
    }
    OwnName(const OwnName &) = delete;
    OwnName &operator=(const OwnName &) = delete;

private:
    Place &place_;
    const std::string name_;
    const bool is_new_;
};

/// The accesses of one step.
class StepAccesses : public Visitor {
public:
    StepAccesses(const Place &place, const LowerContext &ctx) : ctx_(ctx), place_(place) {
    }
    Accesses found;

private:
    using Visitor::visit;

    void access(const std::string &buffer, const Expr &index, bool is_write) {
        if (place_.private_memory.contains(buffer) || !place_.written.count(buffer)) {
            return;
        }
        SharedAccess a;
        a.buffer = buffer;
        a.is_write = is_write;
        if (const auto it = atomic_.find(buffer); it != atomic_.end()) {
            a.atomic = it->second;
        }
        a.index = linear(index, buffer);
        found.push_back(std::move(a));
    }

    LinearIndex linear(const Expr &index, const std::string &buffer) {
        const auto is_stride = [&](const std::string &name) {
            return is_stride_of(buffer, name);
        };
        const Expr expanded = place_.expand(index);
        if (is_repetitive(expanded)) {
            LinearIndex unknown;
            unknown[""].other.push_back({1, place_.range_of(index)});
            return unknown;
        }
        const Expr e = simplify(expanded);
        if (e.type().is_scalar()) {
            return linear_index(e, place_, is_stride);
        }
        const Ramp *ramp = e.as<Ramp>();
        const auto stride = ramp ? as_const_int(ramp->stride) : std::nullopt;
        LinearIndex result;
        if (ramp && ramp->base.type().is_scalar() && stride) {
            result = linear_index(ramp->base, place_, is_stride);
            result[""].other.push_back({*stride, ConstantInterval(0, ramp->lanes - 1)});
        } else {
            result[""].other.push_back({1, place_.range_of(e)});
        }
        return result;
    }

    /// Rows of storage that this pipeline makes are as long as its extents; where a constraint says
    /// something of a stride, it is what is given for it.
    bool is_stride_of(const std::string &buffer, const std::string &name) const {
        constexpr int max_dimensions = 16;
        const Function *f = ctx_.function_of_buffer(buffer);
        for (int d = 0; d < max_dimensions; d++) {
            const std::string stride = names::buffer_stride(buffer, d);
            if (name == stride || name == names::given(stride) ||
                (f && name == names::realized_extent(f->name(), d))) {
                return true;
            }
        }
        return false;
    }

    void visit(const Load *op) override {
        access(op->name, op->index, false);
        Visitor::visit(op);
    }
    void visit(const Store *op) override {
        access(op->name, op->index, true);
        Visitor::visit(op);
    }
    void visit(const Atomic *op) override {
        const auto around = std::exchange(atomic_, {});
        for (const std::string &buffer : accessed_buffers(op->body).written) {
            atomic_[buffer] = update_kind(op, buffer);
        }
        Visitor::visit(op);
        atomic_ = around;
    }
    void visit(const Call *op) override {
        if (op->is_intrinsic(Intrinsic::gpu_async_copy)) {
            const Expr last = op->args[4] - 1;
            access_range(op->args[0], op->args[1], last, true);
            access_range(op->args[2], op->args[3], last, false);
        }
        // It brings what any thread of the warp asks for.
        if (op->is_intrinsic({Intrinsic::gpu_load_matrix, Intrinsic::gpu_warpgroup_multiply_add})) {
            access_anywhere(op->args[0]);
        }
        if (op->is_intrinsic(Intrinsic::gpu_warpgroup_multiply_add)) {
            access_anywhere(op->args[2]);
        }
        Visitor::visit(op);
    }
    void access_anywhere(const Expr &handle) {
        const size_t before = found.size();
        access(handle.as<Variable>()->name, 0, false);
        if (found.size() > before) {
            found.back().index[""].other.push_back({1, {}});
        }
    }
    void access_range(const Expr &handle, const Expr &first, const Expr &last, bool is_write) {
        const size_t before = found.size();
        access(handle.as<Variable>()->name, first, is_write);
        if (found.size() > before) {
            found.back().index[""].other.push_back({1, {0, place_.range_of(last).max}});
        }
    }
    template<typename T>
    void visit_let(const T *op) {
        (*this)(op->value);
        const KnownHere::Inside inside(place_.known, op);
        const OwnName own(!is_pure(op->value), place_, op->name);
        (*this)(op->body);
    }
    void visit(const LetStmt *op) override {
        visit_let(op);
    }
    void visit(const Let *op) override {
        visit_let(op);
    }
    void visit(const For *op) override {
        (*this)(op->min);
        (*this)(op->extent);
        const KnownHere::Inside inside(place_.known, op);
        const OwnName own(true, place_, op->name);
        (*this)(op->body);
    }
    void visit(const IfThenElse *op) override {
        (*this)(op->condition);
        visit_where(op->condition, op->then_case);
        visit_where(!op->condition, op->else_case);
    }
    void visit_where(const Expr &condition, const Stmt &s) {
        const KnownHere::Inside inside(place_.known, condition);
        (*this)(s);
    }
    void visit(const Allocate *op) override {
        const bool is_private = op->memory_type != MemoryType::GPUShared;
        const ScopedBinding<> bind(is_private, place_.private_memory, op->name);
        (*this)(op->body);
    }

    const LowerContext &ctx_;
    Place place_;
    std::map<std::string, UpdateKind> atomic_;  ///< what is updated atomically here
};

/// True if products of warpgroups read what threads write: what copies of tiles bring comes the
/// same way as it is read.
bool warpgroups_read_stores(const Stmt &s) {
    std::set<std::string> operands, stored;
    for_each<Store>(s, [&](const Store *op) { stored.insert(op->name); });
    for_each<Call>(s, [&](const Call *op) {
        if (op->is_intrinsic(Intrinsic::gpu_async_copy)) {
            stored.insert(op->args[0].as<Variable>()->name);
        } else if (op->is_intrinsic(Intrinsic::gpu_warpgroup_multiply_add)) {
            operands.insert(op->args[0].as<Variable>()->name);
            operands.insert(op->args[2].as<Variable>()->name);
        }
    });
    return std::any_of(operands.begin(), operands.end(),
                       [&](const std::string &name) { return stored.count(name) > 0; });
}

class BarrierInserter {
public:
    BarrierInserter(const KernelNest &nest, const LowerContext &ctx) : ctx_(ctx) {
        for (const KernelLoop &loop : nest.threads) {
            const auto n = as_const_int(loop.extent);
            threads_[loop.name] = n.value_or(0);
            place_.own.insert(loop.name);
            place_.known.given(
                loop.name, ConstantInterval(0, n ? std::optional<int64_t>(*n - 1) : std::nullopt));
        }
        for (const auto &[name, value] : nest.lets) {
            place_.known.given(name, value);
        }
    }

    Stmt run(const Stmt &s) {
        has_warpgroups_ = warpgroups_read_stores(s);
        const AccessedBuffers all = accessed_buffers(s);
        for (const std::string &name : all.written) {
            if (all.read.count(name) || !has_one_value(name)) {
                place_.written.insert(name);
            }
        }
        return walk(s);
    }

private:
    bool is_uniform(const Expr &e) const {
        return internal::is_uniform(
            place_.expand(e), [&](const std::string &name) { return place_.own.count(name) > 0; },
            [&](const Load *load) { return !place_.private_memory.contains(load->name); });
    }

    /// True if something pending and something of the step need a barrier between them.
    bool conflicts(const Accesses &step) const {
        for (const SharedAccess &now : step) {
            for (const SharedAccess &before : pending_) {
                if (now.buffer == before.buffer && order_matters(before, now) &&
                    may_conflict(before, now, threads_)) {
                    return true;
                }
            }
        }
        return false;
    }

    bool order_matters(const SharedAccess &a, const SharedAccess &b) const {
        if (a.atomic && a.atomic == b.atomic) {
            return false;
        }
        return a.is_write && b.is_write ? !has_one_value(a.buffer) : a.is_write || b.is_write;
    }

    /// True if all stores to the same element store the same value: there are no updates.
    bool has_one_value(const std::string &buffer) const {
        const Function *f = ctx_.function_of_buffer(buffer);
        return f && !f->has_update_definition() && !f->has_extern_definition();
    }

    /// With a fence for all that is pending.
    Stmt barrier(int fence = 0) {
        for (const SharedAccess &a : pending_) {
            fence |= place_.shared_memory.contains(a.buffer) ? fence_shared : fence_device;
        }
        pending_.clear();
        barriers_++;
        fence |= has_warpgroups_ ? fence_warpgroups : 0;
        return Evaluate::make(Call::make(Int(32), Intrinsic::gpu_thread_barrier, {Expr(fence)}));
    }

    /// Takes note of a step's accesses; gives the barrier that must stand before it, if any.
    Stmt before(Accesses step) {
        const Stmt first = conflicts(step) ? barrier() : Stmt();
        for (SharedAccess &a : step) {
            pending_.push_back(std::move(a));
        }
        return first;
    }

    Accesses accesses_of(const Expr &e) const {
        StepAccesses accesses(place_, ctx_);
        accesses(e);
        return std::move(accesses.found);
    }

    Stmt walk(const Stmt &s) {
        if (const Block *op = s.as<Block>()) {
            const Stmt first = walk(op->first);
            return Block::make(first, walk(op->rest));
        }
        if (const ProducerConsumer *op = s.as<ProducerConsumer>()) {
            return ProducerConsumer::make(op->name, op->is_producer, walk(op->body));
        }
        if (const LetStmt *op = s.as<LetStmt>()) {
            return walk_let(op);
        }
        if (const Allocate *op = s.as<Allocate>()) {
            // What is copied asynchronously has its barriers already.
            const bool is_shared = op->memory_type == MemoryType::GPUShared;
            const ScopedBinding<> bind(is_shared ? place_.shared_memory : place_.private_memory,
                                       op->name);
            return with(op, &Allocate::body, walk(op->body));
        }
        const For *loop = s.as<For>();
        if (loop && is_uniform(loop->min) && is_uniform(loop->extent)) {
            return walk_loop(loop);
        }
        const IfThenElse *branch = s.as<IfThenElse>();
        if (branch && is_uniform(branch->condition)) {
            return walk_branch(branch);
        }
        return walk_step(s);
    }

    Stmt walk_step(const Stmt &s) {
        const Evaluate *op = s.as<Evaluate>();
        const Call *call = op ? op->value.as<Call>() : nullptr;
        if (call && call->is_intrinsic(Intrinsic::gpu_thread_barrier)) {
            return barrier(int(as_const_int(call->args[0]).value_or(fence_device | fence_shared)));
        }
        StepAccesses accesses(place_, ctx_);
        accesses(s);
        return Block::make(before(std::move(accesses.found)), s);
    }

    Stmt walk_let(const LetStmt *op) {
        const Stmt first = before(accesses_of(op->value));
        const bool is_own = !is_pure(op->value) && !is_uniform(op->value);
        const KnownHere::Inside inside(place_.known, op);
        const OwnName own(is_own, place_, op->name);
        const Stmt body = walk(op->body);
        return Block::make(first, LetStmt::make(op->name, op->value, body));
    }

    Stmt walk_branch(const IfThenElse *op) {
        const Stmt first = before(accesses_of(op->condition));
        const Accesses at_condition = pending_;
        const int barriers = barriers_;
        const Stmt then_case = walk_where(op->condition, op->then_case);
        const Accesses after_then = std::exchange(pending_, at_condition);
        const Stmt else_case =
            op->else_case.defined() ? walk_where(!op->condition, op->else_case) : Stmt();
        // What was before the condition counts once.
        const size_t known = barriers_ != barriers ? 0 : at_condition.size();
        still_pending(Accesses(after_then.begin() + long(known), after_then.end()));
        return Block::make(first, IfThenElse::make(op->condition, then_case, else_case));
    }

    Stmt walk_where(const Expr &condition, const Stmt &s) {
        const KnownHere::Inside inside(place_.known, condition);
        return walk(s);
    }

    Stmt walk_loop(const For *op) {
        Accesses of_range = accesses_of(op->min), of_extent = accesses_of(op->extent);
        of_range.insert(of_range.end(), of_extent.begin(), of_extent.end());
        const Stmt first = before(std::move(of_range));
        const KnownHere::Inside inside(place_.known, op);
        Stmt rest = walk_loop_without_barriers(op);
        rest = rest.defined() ? rest : walk_loop_with_barriers(op);
        return Block::make(first, rest);
    }

    /// What other ways through the code leave as well. Each is kept once, or loops around loops and in a row would
    /// multiply what is pending.
    void still_pending(const Accesses &others) {
        for (const SharedAccess &a : others) {
            const auto covers = [&](const SharedAccess &known) {
                return known.covers(a);
            };
            if (std::none_of(pending_.begin(), pending_.end(), covers)) {
                pending_.push_back(a);
            }
        }
    }

    void age_pending(const For *loop) {
        for (SharedAccess &a : pending_) {
            a.stale.insert(loop->name);
        }
    }

    /// Where iterations need no barrier for each other's sake, one for the sake of what was before
    /// stands before the loop. Undefined where they need some.
    Stmt walk_loop_without_barriers(const For *op) {
        if (with_barriers_.count(op)) {
            return Stmt();
        }
        const Accesses at_begin = std::exchange(pending_, {});
        const int barriers = barriers_;
        walk(op->body);
        const Accesses of_body = pending_;
        age_pending(op);
        const Accesses aged = pending_;
        if (barriers_ == barriers) {
            walk(op->body);
        }
        pending_ = at_begin;
        if (std::exchange(barriers_, barriers) != barriers) {
            with_barriers_.insert(op);
            return Stmt();
        }
        const Stmt wait = conflicts(of_body) ? barrier() : Stmt();
        still_pending(aged);
        return Block::make(wait, op);
    }

    Stmt walk_loop_with_barriers(const For *op) {
        const Accesses at_begin = pending_;
        const int before = barriers_;
        walk(op->body);
        // Once more, after an iteration.
        age_pending(op);
        if (barriers_ != before) {
            still_pending(at_begin);
        }
        const int barriers = barriers_;
        const Stmt body = walk(op->body);
        // What was before the loop is still pending if its body has no barrier, or may not run.
        if (barriers_ != barriers && !can_prove(op->extent > 0)) {
            still_pending(at_begin);
        }
        return with(op, &For::body, body);
    }

    const LowerContext &ctx_;
    Place place_;
    std::map<std::string, int64_t> threads_;
    Accesses pending_;                     ///< since the last barrier
    std::set<const For *> with_barriers_;  ///< loops whose iterations wait for each other
    int barriers_ = 0;
    bool has_warpgroups_ = false;
};

/// True if a block has one thread.
bool is_alone(const KernelNest &nest) {
    for (const KernelLoop &loop : nest.threads) {
        if (!is_const_one(loop.extent)) {
            return false;
        }
    }
    return true;
}

}  // namespace

Stmt insert_barriers(const Stmt &s, LowerContext &ctx) {
    return rewrite_kernels(s, [&](const For *op) {
        KernelNest nest = match_kernel(op);
        if (is_alone(nest)) {
            return drop_steps(op);
        }
        nest.body = drop_steps(BarrierInserter(nest, ctx).run(nest.body));
        return nest.to_stmt();
    });
}

}  // namespace calotype::internal
