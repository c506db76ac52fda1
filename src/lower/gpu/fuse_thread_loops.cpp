// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The body of the block loops is rewritten from the outside in. At each place it is known of which
// dimensions a thread loop stands around it; what such a loop's extent leaves out, and conditions
// that threads decide differently, are collected and put round the outermost statements without
// thread loops in them. So between such statements all threads of the block are in the same place.
#include "lower/gpu/fuse_thread_loops.h"

#include <array>
#include <optional>

#include "arith/bounds.h"
#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/printer.h"
#include "ir/queries.h"
#include "lower/gpu/kernel_nest.h"
#include "lower/gpu/thread_shape.h"
#include "support/error.h"

namespace calotype {

using namespace internal;

namespace {

class ThreadFuser : public Mutator {
public:
    ThreadFuser(const ThreadShape &shape, LowerContext &ctx) : shape_(shape) {
        static const char *const letters[] = {"x", "y", "z"};
        for (int d = 0; d < shape.dims; d++) {
            names_[size_t(d)] = ctx.names.unique(std::string("thread_") + letters[d]);
        }
    }
    using Mutator::mutate;
    Stmt mutate(const Stmt &s) override {
        if (s.defined() && !shape_.with_threads.count(s.get())) {
            return leaf(s);
        }
        return Mutator::mutate(s);
    }
    Expr mutate(const Expr &e) override {
        return e;
    }
    KernelLoop loop(int d) const {
        return {names_[size_t(d)], shape_.size[size_t(d)]};
    }

private:
    using Mutator::visit;

    Expr thread(int d) const {
        return Variable::make(Int(32), names_[size_t(d)]);
    }

    /// What one thread does without the others, for those threads that do it.
    Stmt leaf(const Stmt &s) const {
        Expr condition = all_guards();
        for (int d = shape_.dims; d-- > 0;) {
            if (!inside_[size_t(d)] && !is_const_one(shape_.size[size_t(d)])) {
                const Expr first = thread(d) == 0;
                condition = condition.defined() ? condition && first : first;
            }
        }
        return condition.defined() ? IfThenElse::make(condition, s) : s;
    }

    Expr all_guards() const {
        Expr all;
        for (const Expr &guard : guards_) {
            all = all.defined() ? all && guard : guard;
        }
        return all;
    }

    template<typename F>
    Stmt under_guard(const Expr &guard, F body) {
        guards_.push_back(guard);
        const Stmt s = body();
        guards_.pop_back();
        return s;
    }

    Stmt visit(const For *op) override {
        const auto it = shape_.dim.find(op);
        if (it == shape_.dim.end()) {
            return Mutator::visit(op);
        }
        const size_t d = size_t(it->second);
        const bool around = std::exchange(inside_[d], true);
        const Expr t = thread(int(d));
        decided_by_threads_.push(op->name);
        const Stmt body = can_prove(op->extent >= shape_.size[d])
                              ? mutate(op->body)
                              : under_guard(t < op->extent, [&] { return mutate(op->body); });
        decided_by_threads_.pop(op->name);
        inside_[d] = around;
        return LetStmt::make(op->name, simplify(op->min + t), body);
    }

    /// True if threads of a block may find different values.
    bool differs(const Expr &e) const {
        for (const std::string &name : free_variables(e)) {
            if (decided_by_threads_.contains(name)) {
                return true;
            }
        }
        return false;
    }

    Stmt visit(const LetStmt *op) override {
        const bool is_decided = differs(op->value);
        ScopedBinding<> bind(is_decided, decided_by_threads_, op->name);
        const Stmt body = mutate(op->body);
        const Expr guard = all_guards();
        // Only threads that are meant may read.
        const bool everywhere = !guard.defined() || is_pure(op->value);
        const Expr value = everywhere ? op->value
                                      : Call::make(op->value.type(), Intrinsic::if_then_else,
                                                   {guard, op->value, make_zero(op->value.type())});
        return LetStmt::make(op->name, value, body);
    }

    Stmt visit(const IfThenElse *op) override {
        if (!differs(op->condition)) {
            return Mutator::visit(op);
        }
        const Stmt then_case = under_guard(op->condition, [&] { return mutate(op->then_case); });
        const Stmt else_case = under_guard(!op->condition, [&] { return mutate(op->else_case); });
        return Block::make(then_case, else_case);
    }

    Stmt visit(const Allocate *op) override {
        Expr copies = 1, copy = 0;
        for (int d = 0; d < shape_.dims; d++) {
            if (inside_[size_t(d)]) {
                copy = copy + thread(d) * copies;
                copies = copies * shape_.size[size_t(d)];
            }
        }
        const Stmt body = mutate(op->body);
        return Allocate::make(op->name, op->type, op->memory_type, op->extents, op->condition, body,
                              op->new_expr, op->free_function, op->padding);
    }

    const ThreadShape &shape_;
    std::array<std::string, max_gpu_dims> names_;
    std::array<bool, max_gpu_dims> inside_ = {false, false, false};
    std::vector<Expr> guards_;
    Scope<> decided_by_threads_;
};

/// The block loops, taken off from the outside in.
class BlockLoops {
public:
    explicit BlockLoops(LowerContext &ctx) : ctx_(ctx) {
    }

    Stmt fuse(const For *outermost) {
        nest_.api = outermost->device_api;
        const Stmt body = peel(outermost);
        std::reverse(nest_.blocks.begin(), nest_.blocks.end());
        const ThreadShape shape = find_thread_shape(body, ranges_);
        ThreadFuser fuser(shape, ctx_);
        nest_.body = fuser.mutate(body);
        for (int d = 0; d < shape.dims; d++) {
            nest_.threads.push_back(fuser.loop(d));
        }
        return nest_.to_stmt();
    }

private:
    /// What stands inside of the block loops; conditions between them go with it.
    Stmt peel(const Stmt &s) {
        if (const LetStmt *op = s.as<LetStmt>()) {
            const Type t = op->value.type();
            if (t.is_scalar() && (t.is_int() || t.is_uint())) {
                ranges_.push(op->name, bounds_of_expr(op->value, ranges_));
            }
            return LetStmt::make(op->name, op->value, peel(op->body));
        }
        if (const ProducerConsumer *op = s.as<ProducerConsumer>()) {
            return ProducerConsumer::make(op->name, op->is_producer, peel(op->body));
        }
        if (const IfThenElse *op = s.as<IfThenElse>(); op && !op->else_case.defined()) {
            return IfThenElse::make(op->condition, peel(op->then_case));
        }
        const For *op = s.as<For>();
        return op && op->for_type == ForType::GPUBlock ? peel_loop(op) : s;
    }

    Stmt peel_loop(const For *op) {
        const Interval size = bounds_of_expr(op->extent, ranges_);
        user_assert(size.has_upper_bound()) << "the extent of block loop " << op->name << ", "
                                            << op->extent << ", has no bound outside of the kernel";
        user_assert(nest_.blocks.size() < max_gpu_dims)
            << "block loop " << op->name << " stands inside of three others: a kernel has at most "
            << "three dimensions of blocks";
        const bool from_zero = is_const_zero(op->min);
        const std::string name = from_zero ? op->name : ctx_.names.unique(op->name + ".from_zero");
        const Expr extent = simplify(size.max);
        nest_.blocks.push_back({name, extent});
        const Expr index = Variable::make(Int(32), name);
        ranges_.push(name, Interval(0, simplify(extent - 1)));
        if (!from_zero) {
            const Interval first = bounds_of_expr(op->min, ranges_);
            ranges_.push(op->name, bounds_of_expr(op->min + index, ranges_));
        }
        Stmt body = peel(op->body);
        if (!can_prove(op->extent >= extent)) {
            body = IfThenElse::make(index < op->extent, body);
        }
        return from_zero ? body : LetStmt::make(op->name, op->min + index, body);
    }

    LowerContext &ctx_;
    KernelNest nest_;
    Scope<Interval> ranges_;
};

}  // namespace

Stmt fuse_thread_loops(const Stmt &s, LowerContext &ctx) {
    return rewrite_kernels(s, [&](const For *op) { return BlockLoops(ctx).fuse(op); });
}

}  // namespace calotype
