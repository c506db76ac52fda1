// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/gpu/host/check_gpu_loops.h"

#include "ir/mutator.h"
#include "ir/visitor.h"
#include "ir/walk/search.h"
#include "ir/with.h"
#include "lower/buffer_header.h"
#include "lower/effects.h"
#include "lower/gpu/kernel_nest.h"
#include "pipeline/schedule.h"
#include "support/error.h"
#include "support/scope.h"

namespace calotype::internal {

namespace {

/// The first block loop of a statement, or null.
const For *block_loop_in(const Stmt &s) {
    const For *found = nullptr;
    contains<For>(s, [&](const For *op) {
        found = op->for_type == ForType::GPUBlock ? op : nullptr;
        return found != nullptr;
    });
    return found;
}

class GpuLoopChecker : public Visitor {
public:
    explicit GpuLoopChecker(const LowerContext &ctx) : ctx_(ctx) {
    }

private:
    using Visitor::visit;

    std::string func_of(const For *loop) const {
        const auto it = ctx_.loops.find(loop->name);
        return it == ctx_.loops.end() ? loop->name : it->second.func;
    }

    void visit(const For *op) override {
        switch (op->for_type) {
        case ForType::GPUBlock:
            check_block(op);
            break;
        case ForType::GPUThread:
        case ForType::GPULane:
            check_thread(op);
            break;
        case ForType::Serial:
        case ForType::Unrolled:
        case ForType::Vectorized:
            break;
        case ForType::Matrix:
            user_assert(!blocks_.empty())
                << "loop " << op->name
                << " is part of a matrix product of gpu_matrix_multiply, but "
                << "stands inside of no block loop: use gpu_blocks too";
            break;
        case ForType::Parallel:
        case ForType::Extern:
            user_assert(blocks_.empty()) << to_string(op->for_type) << " loop " << op->name
                                         << " stands inside of block loop " << blocks_[0]->name
                                         << ": a kernel has serial, unrolled, vectorized and "
                                         << "thread loops only";
            break;
        }
        std::vector<const For *> &around = op->for_type == ForType::GPUBlock ? blocks_
                                           : is_gpu(op->for_type)            ? threads_
                                                                             : others_;
        if (op->for_type == ForType::GPUBlock && blocks_.empty()) {
            outside_of_blocks_ = others_.size();
        }
        around.push_back(op);
        Visitor::visit(op);
        around.pop_back();
    }

    static void check_outside_of_threads(const For *block, const For *thread) {
        user_error << "block loop " << block->name << " stands inside of thread loop "
                   << thread->name << ": blocks must be outside of threads";
    }

    void check_block(const For *op) const {
        if (!threads_.empty()) {
            check_outside_of_threads(op, threads_[0]);
        }
        user_assert(blocks_.size() < max_gpu_dims)
            << "block loop " << op->name << " stands inside of three others: a kernel has at most "
            << "three dimensions of blocks";
        user_assert(blocks_.empty() || func_of(blocks_[0]) == func_of(op))
            << "func " << func_of(op) << " has block loop " << op->name
            << ", but is computed inside of a kernel, that of " << func_of(blocks_[0])
            << ": give it threads only, or compute it outside of block loop " << blocks_[0]->name;
        for (const For *loop : others_) {
            user_assert(loop->for_type != ForType::Vectorized)
                << "block loop " << op->name << " stands inside of vectorized loop " << loop->name;
        }
        if (!blocks_.empty()) {
            check_directly_inside(op);
        }
    }

    /// A kernel's blocks run at once: nothing comes before some of them.
    void check_directly_inside(const For *op) const {
        const std::string &outer = blocks_.back()->name;
        const size_t around = outside_of_blocks_;
        user_assert(others_.size() == around)
            << "block loop " << op->name << " stands inside of "
            << to_string(others_[around]->for_type) << " loop " << others_[around]->name
            << ", and that inside of block loop " << outer
            << ": the blocks of a kernel are one nest of loops";
        if (beside_.empty()) {
            return;
        }
        const ProducerConsumer *other = beside_[0]->first.as<ProducerConsumer>();
        user_assert(!other) << "func " << other->name << " is computed inside of block loop "
                            << outer << ", but outside of block loop " << op->name
                            << ": compute it inside of the innermost of them, or outside of all";
        user_error << "block loop " << op->name << " is one of several inside of block loop "
                   << outer
                   << ": the blocks of a kernel are one nest of loops, so compute_with needs the "
                   << "innermost of them";
    }

    void visit(const Block *op) override {
        const bool in_kernel = !blocks_.empty();
        if (in_kernel) {
            beside_.push_back(op);
        }
        Visitor::visit(op);
        if (in_kernel) {
            beside_.pop_back();
        }
    }

    void check_thread(const For *op) const {
        const char *const what = op->for_type == ForType::GPULane ? "lane" : "thread";
        if (const For *block = blocks_.empty() ? block_loop_in(op->body) : nullptr) {
            check_outside_of_threads(block, op);
        }
        user_assert(!blocks_.empty()) << what << " loop " << op->name
                                      << " stands inside of no block loop: use gpu_blocks too";
        user_assert(threads_.size() < max_gpu_dims)
            << what << " loop " << op->name << " stands inside of three others: a block has at "
            << "most three dimensions of threads";
        user_assert(threads_.empty() || threads_.back()->for_type != ForType::GPULane)
            << what << " loop " << op->name << " stands inside of lane loop "
            << threads_.back()->name << ": lanes must be innermost";
    }

    void visit(const ProducerConsumer *op) override {
        const auto f = ctx_.env.find(op->name);
        if (op->is_producer && !blocks_.empty() && f != ctx_.env.end()) {
            check_computed_in_kernel(f->second);
        }
        Visitor::visit(op);
    }

    void check_computed_in_kernel(const Function &f) const {
        const FuncSchedule &schedule = f.schedule();
        auto refuse = [&](bool is_so, const char *what) {
            user_assert(!is_so) << "func " << f.name() << " is " << what
                                << ", but computed inside of block loop " << blocks_[0]->name
                                << ": kernels cannot do that";
        };
        refuse(f->copy_to.has_value(), "a copy between host and device");
        refuse(f.has_extern_definition(), "an extern stage");
        refuse(!f->debug_file.empty(), "written to a file by debug_to_file");
        refuse(schedule.async, "async");
        refuse(schedule.memoized, "memoized");
        refuse(schedule.trace_loads || schedule.trace_stores || schedule.trace_realizations,
               "traced");
    }

    void visit(const Realize *op) override {
        user_assert(op->memory_type != MemoryType::GPUSharedAsync || !blocks_.empty())
            << "func " << op->name << " is stored in " << to_string(op->memory_type)
            << ", but outside of all block loops: what is shared is shared by the threads of a "
            << "block";
        const ScopedBinding<> bind(op->memory_type == MemoryType::AMXTile, tiles_, op->name);
        Visitor::visit(op);
    }

    // What a Func holds for a kernel has a header, or is laid out in shared memory as if it had.
    void check_memory(const std::string &func, const Type &t) const {
        if (!blocks_.empty()) {
            check_element_size("func " + func + ", which is used inside of block loop " +
                                   blocks_[0]->name + ",",
                               t.element_of());
            user_assert(!tiles_.contains(func))
                << "func " << func << " is stored in " << to_string(MemoryType::AMXTile)
                << ", which kernels do not have";
        }
    }

    void visit(const Provide *op) override {
        for (const Expr &value : op->values) {
            check_memory(op->name, value.type());
        }
        Visitor::visit(op);
    }

    void visit(const Call *op) override {
        if (op->call_type == CallKind::Func) {
            check_memory(op->name, op->type);
        }
        if (!blocks_.empty()) {
            const bool prints =
                op->is_intrinsic(Intrinsic::print) || op->is_intrinsic(Intrinsic::print_when);
            const bool is_host_function =
                op->call_type == CallKind::Extern || op->call_type == CallKind::ExternCPlusPlus;
            user_assert(!prints) << "print is used inside of block loop " << blocks_[0]->name
                                 << ": kernels cannot print";
            user_assert(!is_host_function || is_linked(op))
                << "function " << op->name << " of the host is called inside of block loop "
                << blocks_[0]->name;
            user_assert(!op->is_intrinsic(Intrinsic::require))
                << "require is used inside of block loop " << blocks_[0]->name
                << ": kernels cannot report errors";
        }
        Visitor::visit(op);
    }

    void visit(const Variable *op) override {
        const bool is_parameter = op->symbol && op->symbol->kind == SymbolKind::Parameter;
        user_assert(blocks_.empty() || !is_parameter || !op->type.is_handle() ||
                    Parameter(op->symbol).is_buffer())
            << "parameter " << op->name << ", an address, is used inside of block loop "
            << blocks_[0]->name << ": kernels take numbers and buffers only";
    }

    const LowerContext &ctx_;
    // The loops around this place, outermost first.
    std::vector<const For *> blocks_, threads_, others_;
    size_t outside_of_blocks_ = 0;       ///< of the others
    Scope<> tiles_;                      ///< Funcs in memory for tiles around this place
    std::vector<const Block *> beside_;  ///< sequences of a kernel that this place is part of
};

/// Storage in GPUShared outside of kernels is as if nothing was said of it.
class UnsharedStorage : public Mutator {
    using Mutator::visit;

    Stmt visit(const For *op) override {
        return op->for_type == ForType::GPUBlock ? op : Mutator::visit(op);
    }

    Stmt visit(const Realize *op) override {
        const Stmt body = mutate(op->body);
        if (op->memory_type != MemoryType::GPUShared) {
            return with(op, &Realize::body, body);
        }
        user_warning << "func " << op->name << " is stored in gpu_shared, but outside of all block "
                     << "loops: it is stored as if that was not said";
        return with(op, &Realize::memory_type, MemoryType::Auto, &Realize::body, body);
    }
};

}  // namespace

Stmt check_gpu_loops(const Stmt &s, LowerContext &ctx) {
    GpuLoopChecker checker(ctx);
    checker(s);
    return UnsharedStorage()(s);
}

}  // namespace calotype::internal
