// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/storage/bound_small_allocations.h"

#include <algorithm>
#include <optional>

#include "ir/constants.h"
#include "ir/conventions/stack_storage.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/with.h"
#include "lower/gpu/kernel_nest.h"
#include "lower/known_here.h"
#include "lower/storage/constant_indices.h"
#include "support/error.h"

namespace calotype::internal {

namespace {

/// What is put there when asked for: a stack has a few megabytes, and some bounds are only what the
/// type allows.
constexpr int64_t max_bound_on_stack = 256 * 1024;

class Bounder : public Mutator {
public:
    explicit Bounder(const LowerContext &ctx)
        : target_(ctx.target), known_(ctx.ranges_of_parameters()) {
    }

private:
    using Mutator::visit;

    Stmt visit(const LetStmt *op) override {
        const KnownHere::Inside inside(known_, op);
        return Mutator::visit(op);
    }

    Stmt visit(const IfThenElse *op) override {
        return rewrite_branches(op, known_, [&](const Stmt &s) { return mutate(s); });
    }

    Stmt visit(const For *op) override {
        const KnownHere::Inside inside(known_, op);
        const bool is_block = op->for_type == ForType::GPUBlock;
        const bool is_thread = is_thread_loop(op);
        in_blocks_ += is_block;
        in_threads_ += is_thread;
        const Stmt s = Mutator::visit(op);
        in_threads_ -= is_thread;
        in_blocks_ -= is_block;
        return s;
    }

    Stmt visit(const Allocate *op) override {
        const Stmt s = Mutator::visit(op);
        op = s.as<Allocate>();
        check_size(op);
        const bool must = op->memory_type == MemoryType::Register;
        const bool is_of_thread = op->memory_type == MemoryType::Heap && in_blocks_ > 0;
        const bool may = must || is_of_thread || op->memory_type == MemoryType::Stack ||
                         op->memory_type == MemoryType::Auto;
        if (!may || op->new_expr.defined()) {
            return s;
        }
        const std::optional<int64_t> elements = bound_elements(op);
        user_assert(elements || !must) << "storage of " << op->name
                                       << " cannot be in registers: its size has no constant bound";
        if (!elements) {
            return s;
        }
        const int64_t bytes = *elements * op->type.bytes();
        const bool asked = op->memory_type != MemoryType::Auto;
        const bool fits = is_constant_size(op) || bytes <= max_bound_on_stack;
        user_assert(fits || !must || in_threads_ == 0)
            << "storage of " << op->name << " is a thread's own and takes up to " << bytes
            << " bytes, must take at most " << max_bound_on_stack << " where its size is not "
            << "constant; compute it outside of the thread loops, or store it in GPUShared or in "
            << "Heap";
        if ((!asked && bytes > max_automatic_stack_bytes) || (asked && !fits)) {
            return s;
        }
        if (in_blocks_ == 0 && bytes > max_bound_on_stack) {
            return with(op, &Allocate::memory_type, MemoryType::Heap);
        }
        const MemoryType where = must ? MemoryType::Register : MemoryType::Stack;
        // In a kernel rows and columns still matter: threads may share them out.
        std::vector<Expr> extents;
        for (const Expr &extent : op->extents) {
            extents.emplace_back(int(*bound_of(extent)));
        }
        return Allocate::make(op->name, op->type, where, extents, op->condition, op->body, Expr(),
                              op->free_function, op->padding);
    }

    /// Where the size is not known, the check is made when the pipeline runs.
    void check_size(const Allocate *op) const {
        std::optional<int64_t> bytes = op->type.bytes();
        for (const Expr &extent : op->extents) {
            const ConstantInterval range = known_.range(extent);
            if (!range.min || range.min != range.max) {
                return;
            }
            bytes = bytes ? checked_mul(*bytes, std::max<int64_t>(0, *range.min)) : bytes;
        }
        const int64_t limit = target_.maximum_buffer_size();
        user_assert(bytes && *bytes <= limit)
            << "storage of " << op->name << " takes "
            << (bytes ? std::to_string(*bytes) : "more than " + std::to_string(INT64_MAX))
            << " bytes, must take at most " << limit
            << (target_.has_large_buffers() ? "" : " where the target lacks large_buffers");
    }

    static bool is_constant_size(const Allocate *op) {
        return std::all_of(op->extents.begin(), op->extents.end(),
                           [](const Expr &e) { return is_const(e); });
    }

    std::optional<int64_t> bound_elements(const Allocate *op) const {
        int64_t product = 1;
        for (const Expr &extent : op->extents) {
            const std::optional<int64_t> bound = bound_of(extent);
            if (!bound || *bound < 0) {
                return std::nullopt;
            }
            const std::optional<int64_t> next = checked_mul(product, *bound);
            if (!next || *next > std::numeric_limits<int32_t>::max()) {
                return std::nullopt;
            }
            product = *next;
        }
        return product;
    }

    std::optional<int64_t> bound_of(const Expr &extent) const {
        const std::optional<int64_t> constant = as_const_int(extent);
        return constant ? constant : known_.upper_bound(extent);
    }

    const Target &target_;
    KnownHere known_;
    int in_blocks_ = 0, in_threads_ = 0;  ///< GPU block loops, and thread loops, around
};

}  // namespace

Stmt bound_small_allocations(const Stmt &s, LowerContext &ctx) {
    return make_indices_constant(Bounder(ctx).mutate(s));
}

}  // namespace calotype::internal
