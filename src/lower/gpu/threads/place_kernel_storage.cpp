// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/gpu/threads/place_kernel_storage.h"

#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/conventions/names.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/printer.h"
#include "ir/visitor.h"
#include "ir/with.h"
#include "lower/buffer_header.h"
#include "lower/gpu/access/shift_accesses.h"
#include "lower/gpu/largest_of_blocks.h"
#include "lower/gpu/threads/thread_shape.h"
#include "pipeline/parameter.h"
#include "pipeline/schedule.h"
#include "support/error.h"

namespace calotype::internal {

namespace {

/// The kinds of thread loops in a statement.
class ThreadLoops : public Visitor {
public:
    bool threads = false, lanes = false;
    explicit ThreadLoops(const Stmt &s) {
        (*this)(s);
    }
    using Visitor::operator();
    void operator()(const Expr &) override {
    }

private:
    using Visitor::visit;
    void visit(const For *op) override {
        threads = threads || op->for_type == ForType::GPUThread;
        lanes = lanes || op->for_type == ForType::GPULane;
        Visitor::visit(op);
    }
};

class StoragePlacer : public StmtMutator {
public:
    explicit StoragePlacer(LowerContext &ctx) : ctx_(ctx), largest_(ctx) {
    }

private:
    using Mutator::visit;

    /// Storage that the host makes for all blocks.
    struct Scratch {
        std::string name;
        Type type;
        std::vector<Expr> extents;  ///< the last are those of the blocks
        int padding;
    };

    Stmt visit(const LetStmt *op) override {
        if (blocks_.empty()) {
            return Mutator::visit(op);
        }
        const PlaceInKernel::Inside inside(place_, op);
        return Mutator::visit(op);
    }

    Stmt visit(const For *op) override {
        const bool is_block = op->for_type == ForType::GPUBlock;
        if (!is_block && blocks_.empty()) {
            return Mutator::visit(op);
        }
        const bool is_thread = is_thread_loop(op);
        const bool is_of_pieces = is_block || is_thread || op->for_type == ForType::Vectorized;
        const Interval extent = is_of_pieces ? place_.of_kernel().interval(op->extent) : Interval();
        const PlaceInKernel::Inside inside(place_, op);
        if (!is_of_pieces) {
            return Mutator::visit(op);
        }
        if (!is_block) {
            // Lanes do at once what is inside: each has a piece of its own, as a thread has.
            in_threads_ += is_thread;
            blocks_.push_back({Variable::make(Int(32), op->name) - op->min, extent.max});
            const Stmt s = Mutator::visit(op);
            blocks_.pop_back();
            in_threads_ -= is_thread;
            return s;
        }
        blocks_.push_back({Variable::make(Int(32), op->name) - op->min, extent.max});
        Stmt s = Mutator::visit(op);
        blocks_.pop_back();
        return blocks_.empty() ? largest_.around(with_scratch(s)) : s;
    }

    static Stmt with_header(const Scratch &f, const Stmt &s) {
        std::vector<HeaderDimension> shape;
        Expr stride = 1;
        for (const Expr &extent : f.extents) {
            shape.push_back({0, extent, simplify(stride)});
            stride = stride * extent;
        }
        const Expr host = Variable::make(Handle(), f.name);
        return LetStmt::make(names::buffer(f.name), make_buffer_header(host, f.type, shape), s);
    }

    Stmt with_scratch(Stmt s) {
        for (size_t i = scratch_.size(); i-- > 0;) {
            const Scratch &f = scratch_[i];
            s = Allocate::make(f.name, f.type, MemoryType::Heap, f.extents, const_true(),
                               with_header(f, s), Expr(), "", f.padding);
        }
        scratch_.clear();
        return s;
    }

    Stmt visit(const Allocate *op) override {
        if (blocks_.empty() || op->new_expr.defined()) {
            return Mutator::visit(op);
        }
        const ThreadLoops inside(op->body);
        const bool is_shared = inside.threads || inside.lanes;
        user_assert(op->memory_type != MemoryType::GPUTexture)
            << "storage of " << op->name << " cannot be a texture: it is made inside of a kernel";
        if (op->memory_type == MemoryType::Heap && (is_shared || in_threads_ == 0)) {
            return lifted(op);
        }
        const bool own =
            op->memory_type == MemoryType::Stack || op->memory_type == MemoryType::Register;
        MemoryType where = op->memory_type;
        // What lanes share, stripe_lane_storage may bring back into registers. Of a thread's own
        // storage around thread loops each keeps its part (fuse_thread_loops).
        if (is_shared && ((own && !inside.threads) || where == MemoryType::Auto)) {
            if (!inside.threads) {
                ctx_.lane_storage[op->name] = where;
            }
            where = MemoryType::GPUShared;
        } else if (where == MemoryType::Auto && in_threads_ > 0) {
            where = MemoryType::Stack;
        }
        return with(op, &Allocate::memory_type, where, &Allocate::body, mutate(op->body));
    }

    Stmt lifted(const Allocate *op) {
        Scratch scratch{op->name, op->type, {}, op->padding};
        Expr size = 1, offset = 0;
        for (const Expr &extent : op->extents) {
            const Expr most = largest_.of(op->name, extent, place_);
            user_assert(most.defined())
                << "storage of " << op->name << " cannot be in device memory: its extent " << extent
                << " has no bound outside of the kernel";
            scratch.extents.push_back(most);
            size = size * scratch.extents.back();
        }
        for (const auto &block : blocks_) {
            user_assert(block.second.defined())
                << "storage of " << op->name << " cannot be in device memory: the number of blocks "
                << "has no bound outside of the kernel";
            scratch.extents.push_back(block.second);
            offset = offset * block.second + block.first;
        }
        scratch_.push_back(scratch);
        return shift_accesses(op->name, op->name, simplify(offset * size), mutate(op->body));
    }

    LowerContext &ctx_;
    /// Of the block loops around, and of the loops of threads and lanes in them: the index, counted
    /// from 0, and the extent.
    std::vector<std::pair<Expr, Expr>> blocks_;
    std::vector<Scratch> scratch_;
    PlaceInKernel place_;
    LargestOfBlocks largest_;
    int in_threads_ = 0;
};

}  // namespace

Stmt place_kernel_storage(const Stmt &s, LowerContext &ctx) {
    return StoragePlacer(ctx).mutate(s);
}

}  // namespace calotype::internal
