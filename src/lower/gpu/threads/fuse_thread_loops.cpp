// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The body of the block loops is rewritten from the outside in. At each place it is known of which
// dimensions a thread loop stands around it; what such a loop's extent leaves out, and conditions
// that threads decide differently, are collected and put around the outermost statements without
// thread loops in them. So between such statements all threads of the block are in the same place.
#include "lower/gpu/threads/fuse_thread_loops.h"

#include <algorithm>
#include <array>
#include <optional>

#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/printer.h"
#include "ir/queries.h"
#include "ir/walk/search.h"
#include "lower/effects.h"
#include "lower/gpu/access/shift_accesses.h"
#include "lower/gpu/inline_lets.h"
#include "lower/gpu/kernel_nest.h"
#include "lower/gpu/shared/shared_access.h"
#include "lower/gpu/threads/thread_shape.h"
#include "lower/gpu/threads/thread_storage.h"
#include "lower/gpu/uniform.h"
#include "lower/known_here.h"
#include "pipeline/schedule.h"
#include "support/error.h"

namespace calotype::internal {

namespace {

bool has_shared_storage(const Stmt &s) {
    return contains<Allocate>(s, [](const Allocate *op) { return is_gpu_shared(op->memory_type); });
}

class ThreadFuser : public StmtMutator {
public:
    ThreadFuser(const ThreadShape &shape, LowerContext &ctx) : shape_(shape), ctx_(ctx) {
        static const char *const letters[] = {"x", "y", "z"};
        for (int d = 0; d < shape.dims; d++) {
            names_[size_t(d)] = ctx.names.unique(std::string("thread_") + letters[d]);
        }
    }
    using StmtMutator::mutate;
    Stmt mutate(const Stmt &s) override {
        const bool is_leaf = s.defined() && !in_leaf_ && !shape_.with_threads.count(s.get());
        return is_leaf ? leaf(s) : Mutator::mutate(s);
    }
    KernelLoop loop(int d) const {
        return {names_[size_t(d)], shape_.size[size_t(d)]};
    }
    SplitStorage split_storage;  ///< a thread's own, but around thread loops

private:
    using Mutator::visit;

    Expr thread(int d) const {
        return Variable::make(Int(32), names_[size_t(d)]);
    }

    /// What a thread does without the others, for those threads that do it.
    Stmt leaf(const Stmt &s) {
        in_leaf_ = true;
        leaf_has_shared_ = has_shared_storage(s);
        Stmt result = Mutator::mutate(s);
        in_leaf_ = false;
        Expr condition;
        auto also = [&](const Expr &e) {
            condition = condition.defined() ? condition && e : e;
        };
        for (int d = 0; d < shape_.dims; d++) {
            if (!inside_[size_t(d)] && !is_const_one(shape_.size[size_t(d)])) {
                also(thread(d) == 0);
            }
        }
        // What reads memory is only asked of threads that hold to the conditions before.
        for (size_t i = guards_.size(); i-- > 0;) {
            if (is_speculatable(guards_[i])) {
                continue;
            }
            result = IfThenElse::make(guards_[i], result);
        }
        for (const Expr &guard : guards_) {
            if (is_speculatable(guard)) {
                also(guard);
            }
        }
        if (condition.defined()) {
            result = IfThenElse::make(condition, result);
        }
        return updates_shared(s) ? make_step(steps_++, result) : result;
    }

    /// True if it updates what threads share: the order of its stores matters, to each thread alone.
    /// What a warp multiplies, or keeps in its lanes, stands under no condition.
    bool updates_shared(const Stmt &s) const {
        const AccessedBuffers all = accessed_buffers(s);
        const auto is_of_lanes = [&](const std::string &name) {
            return ctx_.lane_storage.count(name) > 0;
        };
        if (std::any_of(all.read.begin(), all.read.end(), is_of_lanes) ||
            std::any_of(all.written.begin(), all.written.end(), is_of_lanes) ||
            contains<For>(s, [](const For *op) { return op->for_type == ForType::Matrix; })) {
            return false;
        }
        return std::any_of(all.written.begin(), all.written.end(), [&](const std::string &name) {
            const Function *f = ctx_.function_of_buffer(name);
            return f && f->has_update_definition() && !private_.contains(name) &&
                   !contains<Allocate>(s, [&](const Allocate *op) { return op->name == name; });
        });
    }

    template<typename F>
    Stmt under_guard(const Expr &guard, F body) {
        guards_.push_back(guard);
        const Stmt s = body();
        guards_.pop_back();
        return s;
    }

    /// True if threads of a block may find different values.
    bool differs(const Expr &e) const {
        // Here loads are of memory that all threads of a block share.
        return !is_uniform(
            e, [&](const std::string &name) { return decided_by_threads_.contains(name); },
            [](const Load *) { return true; });
    }

    Stmt visit(const For *op) override {
        if (in_leaf_) {
            std::optional<KnownHere::Inside> bind_range;
            if (leaf_has_shared_) {
                bind_range.emplace(ranges_, op);
            }
            return Mutator::visit(op);
        }
        const auto it = shape_.dim.find(op);
        if (it == shape_.dim.end()) {
            return differs(op->min) || differs(op->extent) ? in_step(op) : Mutator::visit(op);
        }
        const size_t d = size_t(it->second);
        const bool around = std::exchange(inside_[d], true);
        const Expr t = thread(int(d));
        const KnownHere::Inside bind_range(ranges_, op);
        const ScopedBinding<> bind(decided_by_threads_, op->name);
        const Stmt body = can_prove(op->extent >= shape_.size[d])
                              ? mutate(op->body)
                              : under_guard(t < op->extent, [&] { return mutate(op->body); });
        inside_[d] = around;
        return LetStmt::make(op->name, simplify(op->min + t), body);
    }

    /// A loop around thread loops of which threads have different numbers of iterations: all threads
    /// go as often as any.
    Stmt in_step(const For *op) {
        const Interval extent = ranges_.interval(op->extent);
        user_assert(extent.has_upper_bound())
            << "the extent of loop " << op->name << ", " << op->extent
            << ", has no bound that is the same for all threads, but thread loops stand inside";
        const std::string name = ctx_.names.unique(op->name + ".in_step");
        const Expr i = Variable::make(Int(32), name);
        const KnownHere::Inside bind_range(ranges_, op);
        const ScopedBinding<> bind(decided_by_threads_, op->name);
        const Stmt body = under_guard(i < op->extent, [&] { return mutate(op->body); });
        return For::make(name, 0, extent.max, op->for_type, Partition::Never, op->device_api,
                         LetStmt::make(op->name, op->min + i, body));
    }

    Stmt visit(const LetStmt *op) override {
        if (in_leaf_) {
            std::optional<KnownHere::Inside> bind_range;
            if (leaf_has_shared_) {
                bind_range.emplace(ranges_, op);
            }
            return Mutator::visit(op);
        }
        const bool is_decided = differs(op->value);
        const ScopedBinding<> bind(is_decided, decided_by_threads_, op->name);
        std::optional<KnownHere::Inside> bind_range;
        if (is_decided) {
            bind_range.emplace(ranges_, op);
        }
        return LetStmt::make(op->name, where_guards_hold(op->value), mutate(op->body));
    }

    /// Only threads that are meant may read.
    Expr where_guards_hold(Expr value) const {
        if (is_speculatable(value)) {
            return value;
        }
        for (size_t i = guards_.size(); i-- > 0;) {
            value = Call::make(value.type(), Intrinsic::if_then_else,
                               {guards_[i], value, make_zero(value.type())});
        }
        return value;
    }

    Stmt visit(const IfThenElse *op) override {
        if (in_leaf_ || !differs(op->condition)) {
            return Mutator::visit(op);
        }
        const Stmt then_case = under_guard(op->condition, [&] { return mutate(op->then_case); });
        const Stmt else_case = under_guard(!op->condition, [&] { return mutate(op->else_case); });
        return Block::make(then_case, else_case);
    }

    Stmt visit(const Allocate *op) override {
        const bool around = std::any_of(inside_.begin(), inside_.end(), [](bool b) { return b; });
        if (op->memory_type == MemoryType::Auto && !around) {
            return with_extents(op, MemoryType::GPUShared, op->extents, mutate(op->body));
        }
        if (!is_gpu_shared(op->memory_type)) {
            const ScopedBinding<> bind(private_, op->name);
            if (!in_leaf_ && shape_.with_threads.count(op->body.get())) {
                note_split_storage(op);
                return Mutator::visit(op);
            }
            return Mutator::visit(op);
        }
        return around ? with_copies(op) : Mutator::visit(op);
    }

    void note_split_storage(const Allocate *op) {
        std::vector<KernelLoop> &loops = split_storage[op->name];
        for (int d = 0; d < shape_.dims; d++) {
            if (!inside_[size_t(d)]) {
                loops.push_back(loop(d));
            }
        }
    }

    static Stmt with_extents(const Allocate *op, MemoryType where, const std::vector<Expr> &extents,
                             const Stmt &body) {
        return Allocate::make(op->name, op->type, where, extents, op->condition, body, op->new_expr,
                              op->free_function, op->padding);
    }

    /// Room for each value of the thread loops around.
    Stmt with_copies(const Allocate *op) {
        std::vector<Expr> extents;
        Expr size = 1, copies = 1, copy = 0;
        for (const Expr &e : op->extents) {
            const Interval range = ranges_.interval(e);
            user_assert(range.has_upper_bound())
                << "storage of " << op->name << " cannot be in shared memory: its extent " << e
                << " has no bound that is the same for all threads";
            extents.push_back(range.max);
            size = size * range.max;
        }
        for (int d = 0; d < shape_.dims; d++) {
            if (inside_[size_t(d)]) {
                copy = copy + thread(d) * copies;
                copies = copies * shape_.size[size_t(d)];
            }
        }
        extents.push_back(simplify(copies));
        const Stmt body =
            shift_accesses(op->name, op->name, simplify(copy * size), mutate(op->body));
        return with_extents(op, op->memory_type, extents, body);
    }

    const ThreadShape &shape_;
    LowerContext &ctx_;
    std::array<std::string, max_gpu_dims> names_;
    std::array<bool, max_gpu_dims> inside_ = {false, false, false};
    bool in_leaf_ = false;
    bool leaf_has_shared_ = false;  ///< and then it matters what its loops and lets may be
    std::vector<Expr> guards_;      ///< outermost first
    Scope<> private_;               ///< storage of a thread's own
    int steps_ = 0;
    Scope<> decided_by_threads_;  ///< variables of which each thread has its own value
    KnownHere ranges_;            ///< of these
};

/// The block loops, taken off from the outside in.
class BlockLoops {
public:
    explicit BlockLoops(LowerContext &ctx) : ctx_(ctx), largest_(ctx) {
    }

    Stmt fuse(const For *outermost) {
        nest_.api = outermost->device_api;
        nest_.body = peel(outermost);
        SimplifyContext context;
        for (const KernelLoop &loop : nest_.threads) {
            if (const auto size = as_const_int(loop.extent)) {
                context.bound(loop.name, 0, *size - 1);
            }
        }
        nest_.body = inline_integer_lets(nest_.body, context);
        nest_.body = keep_parts_of_threads(nest_.body, split_storage_, ctx_);
        std::reverse(nest_.blocks.begin(), nest_.blocks.end());
        return largest_.around(nest_.to_stmt());
    }

private:
    /// What stands inside of the block loops; lets and conditions between them go with it.
    Stmt peel(const Stmt &s) {
        if (const LetStmt *op = s.as<LetStmt>()) {
            const PlaceInKernel::Inside inside(place_, op);
            return LetStmt::make(op->name, op->value, peel(op->body));
        }
        if (const ProducerConsumer *op = s.as<ProducerConsumer>()) {
            return ProducerConsumer::make(op->name, op->is_producer, peel(op->body));
        }
        if (const IfThenElse *op = s.as<IfThenElse>(); op && !op->else_case.defined()) {
            return IfThenElse::make(op->condition, peel(op->then_case));
        }
        const For *op = s.as<For>();
        return op && op->for_type == ForType::GPUBlock ? peel_loop(op) : threads(s);
    }

    Stmt peel_loop(const For *op) {
        const Interval size = place_.of_kernel().interval(op->extent);
        user_assert(size.has_upper_bound()) << "the extent of block loop " << op->name << ", "
                                            << op->extent << ", has no bound outside of the kernel";
        user_assert(nest_.blocks.size() < max_gpu_dims)
            << "block loop " << op->name << " stands inside of three others: a kernel has at most "
            << "three dimensions of blocks";
        const bool from_zero = is_const_zero(op->min);
        const std::string name = from_zero ? op->name : ctx_.names.unique(op->name + ".from_zero");
        const Expr index = Variable::make(Int(32), name);
        nest_.blocks.push_back({name, size.max});
        const PlaceInKernel::Inside inside(place_, op);
        Stmt body = peel(op->body);
        if (!can_prove(op->extent >= size.max)) {
            body = IfThenElse::make(index < op->extent, body);
        }
        return from_zero ? body : LetStmt::make(op->name, op->min + index, body);
    }

    Stmt threads(const Stmt &s) {
        const ThreadShape shape =
            find_thread_shape(s, place_, nest_.blocks[0].name, largest_, ctx_);
        ThreadFuser fuser(shape, ctx_);
        const Stmt body = fuser.mutate(s);
        for (int d = 0; d < shape.dims; d++) {
            nest_.threads.push_back(fuser.loop(d));
        }
        split_storage_ = std::move(fuser.split_storage);
        return body;
    }

    LowerContext &ctx_;
    KernelNest nest_;
    SplitStorage split_storage_;
    PlaceInKernel place_;
    LargestOfBlocks largest_;
};

}  // namespace

Stmt fuse_thread_loops(const Stmt &s, LowerContext &ctx) {
    return rewrite_kernels(s, [&](const For *op) { return BlockLoops(ctx).fuse(op); });
}

}  // namespace calotype::internal
