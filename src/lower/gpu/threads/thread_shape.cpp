// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/gpu/threads/thread_shape.h"

#include <algorithm>

#include "arith/const_bounds.h"
#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/operators.h"
#include "ir/printer.h"
#include "ir/visitor.h"
#include "lower/gpu/host/guarded_tails.h"
#include "support/error.h"

namespace calotype::internal {

namespace {

class ShapeFinder : public Visitor {
public:
    ShapeFinder(const PlaceInKernel &outside, LargestOfBlocks &largest, const LowerContext &ctx)
        : place_(outside), largest_(largest), ctx_(ctx) {
    }
    using Visitor::operator();
    void operator()(const Stmt &s) override {
        if (!s.defined()) {
            return;
        }
        const int before = loops_;
        Visitor::operator()(s);
        if (loops_ > before) {
            shape.with_threads.insert(s.get());
        }
    }
    void operator()(const Expr &) override {
    }
    ThreadShape shape;

private:
    using Visitor::visit;

    void visit(const LetStmt *op) override {
        const PlaceInKernel::Inside inside(place_, op);
        (*this)(op->body);
    }

    void visit(const For *op) override {
        if (!is_thread_loop(op)) {
            const PlaceInKernel::Inside inside(place_, op);
            (*this)(op->body);
            return;
        }
        const Expr extent = largest_extent(op);
        const PlaceInKernel::Inside inside(place_, op);
        loops_++;
        const int around = std::exchange(depth_, 0);
        (*this)(op->body);
        const int dim = depth_;
        depth_ = std::max(around, dim + 1);
        user_assert(dim < max_gpu_dims)
            << "thread loop " << op->name << " has three thread loops inside: a block of threads "
            << "has at most three dimensions";
        user_assert(extent.defined()) << "the extent of thread loop " << op->name << ", "
                                      << op->extent << ", has no bound outside of the kernel";
        check_lanes(op, extent);
        check_extent(op, extent, dim);
        shape.dim[op] = dim;
        shape.dims = std::max(shape.dims, dim + 1);
        Expr &size = shape.size[size_t(dim)];
        size = simplify(size.defined() ? max(size, extent) : extent);
    }

    /// In any block; undefined if it has no bound.
    Expr largest_extent(const For *op) {
        if (op->for_type != ForType::GPULane) {
            return largest_.of(op->name, op->extent, place_);
        }
        // Lanes that have nothing to do wait.
        const Interval extent = place_.of_kernel().interval(op->extent);
        if (!extent.has_upper_bound()) {
            return Expr();
        }
        const Expr bound = find_constant_bound(extent.max, Direction::Upper);
        return bound.defined() ? bound : extent.max;
    }

    void check_lanes(const For *op, const Expr &extent) const {
        const auto lanes = as_const_int(extent);
        user_assert(op->for_type != ForType::GPULane || (lanes && *lanes <= warp_size))
            << "lane loop " << op->name << " has extent " << extent
            << ", must be a constant of at most " << warp_size
            << (lanes ? "" : hint_of_loop(op->name));
    }

    std::string hint_of_loop(const std::string &loop) const {
        const auto info = ctx_.loops.find(loop);
        const auto f = info == ctx_.loops.end() ? ctx_.env.end() : ctx_.env.find(info->second.func);
        return hint_at_guarded_tail(f == ctx_.env.end() ? nullptr : &f->second, ctx_);
    }

    static void check_extent(const For *op, const Expr &extent, int dim) {
        const auto threads = as_const_int(extent);
        const int64_t most = max_cuda_block_size[size_t(dim)];
        user_assert(op->device_api != DeviceAPI::CUDA || !threads || *threads <= most)
            << "thread loop " << op->name << " has extent " << *threads << ", but a block has at "
            << "most " << most << " threads in dimension "
            << "xyz"[dim];
    }

    PlaceInKernel place_;
    LargestOfBlocks &largest_;
    const LowerContext &ctx_;
    int loops_ = 0;  ///< thread loops met
    int depth_ = 0;  ///< thread loops inside of each other, below this place
};

/// In which dimensions a statement stands outside of all thread loops.
class OutsideOfLoops : public Visitor {
public:
    explicit OutsideOfLoops(const ThreadShape &shape) : shape_(shape) {
    }
    using Visitor::operator();
    void operator()(const Stmt &s) override {
        if (!s.defined()) {
            return;
        }
        if (shape_.with_threads.count(s.get())) {
            Visitor::operator()(s);
            return;
        }
        for (size_t d = 0; d < max_gpu_dims; d++) {
            found[d] = found[d] || inside_[d] == 0;
        }
    }
    void operator()(const Expr &) override {
    }
    std::array<bool, max_gpu_dims> found = {};

private:
    using Visitor::visit;
    void visit(const For *op) override {
        const auto it = shape_.dim.find(op);
        if (it == shape_.dim.end()) {
            (*this)(op->body);
            return;
        }
        int &inside = inside_[size_t(it->second)];
        inside++;
        (*this)(op->body);
        inside--;
    }

    const ThreadShape &shape_;
    std::array<int, max_gpu_dims> inside_ = {};
};

}  // namespace

ThreadShape find_thread_shape(const Stmt &body, const PlaceInKernel &outside,
                              const std::string &kernel, LargestOfBlocks &largest,
                              const LowerContext &ctx) {
    ShapeFinder finder(outside, largest, ctx);
    finder(body);
    ThreadShape &shape = finder.shape;
    OutsideOfLoops outside_of_loops(shape);
    outside_of_loops(body);
    int64_t threads = 1;
    for (size_t d = 0; d < max_gpu_dims; d++) {
        Expr &size = shape.size[d];
        size = size.defined() ? size : Expr(1);
        // Where the loops have no iterations, one thread does the rest.
        size = outside_of_loops.found[d] ? simplify(max(size, 1)) : size;
        threads *= std::clamp<int64_t>(as_const_int(size).value_or(1), 1, max_block_threads + 1);
    }
    user_assert(threads <= max_block_threads)
        << "the kernel of " << kernel << " has blocks of " << shape.size[0] << " x "
        << shape.size[1] << " x " << shape.size[2] << " threads, more than " << max_block_threads;
    return std::move(finder.shape);
}

}  // namespace calotype::internal
