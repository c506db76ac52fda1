// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/storage/bound_small_allocations.h"

#include <algorithm>
#include <optional>

#include "arith/const_bounds.h"
#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "lower/expand_lets.h"
#include "support/scope.h"

namespace calotype {

using namespace internal;

namespace {

/// Storage that is put on the stack without being told to.
constexpr int64_t max_stack_bytes = 16 * 1024;
/// What is put there when asked for, where the size is not constant and this is a bound. Some
/// bounds are only what the type allows, and no stack could hold that.
constexpr int64_t max_bound_on_stack = 256 * 1024;

class Bounder : public Mutator {
public:
    explicit Bounder(const Target &target) : target_(target) {
    }

private:
    using Mutator::visit;

    Stmt visit(const LetStmt *op) override {
        const Type t = op->value.type();
        const bool integer = t.is_int() && t.is_scalar();
        ScopedBinding<Interval> bind(integer, ranges_, op->name,
                                     integer ? make_interval(constant_bounds(op->value, ranges_), t)
                                             : Interval());
        ScopedBinding<Expr> bind_value(integer, values_, op->name, op->value);
        return Mutator::visit(op);
    }

    Stmt visit(const For *op) override {
        const Type t = op->min.type();
        const ConstantInterval first = constant_bounds(op->min, ranges_);
        const ConstantInterval last = constant_bounds(op->min + op->extent - 1, ranges_);
        ScopedBinding<Interval> bind(ranges_, op->name,
                                     make_interval(ConstantInterval(first.min, last.max), t));
        const bool is_block = op->for_type == ForType::GPUBlock;
        const bool is_thread =
            op->for_type == ForType::GPUThread || op->for_type == ForType::GPULane;
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
        if ((!asked && bytes > max_stack_bytes) || (asked && !fits)) {
            return s;
        }
        const MemoryType where = must ? MemoryType::Register : MemoryType::Stack;
        // In a kernel rows and columns still matter: threads may share them out.
        std::vector<Expr> extents = {Expr(int(*elements))};
        if (in_blocks_ > 0 && op->extents.size() > 1) {
            extents.clear();
            for (const Expr &extent : op->extents) {
                extents.emplace_back(int(*bound_of(extent)));
            }
        }
        return Allocate::make(op->name, op->type, where, extents, op->condition, op->body, Expr(),
                              op->free_function, op->padding);
    }

    /// Where the size is not known, the check is made when the pipeline runs.
    void check_size(const Allocate *op) const {
        std::optional<int64_t> bytes = op->type.bytes();
        for (const Expr &extent : op->extents) {
            const ConstantInterval range = constant_bounds(extent, ranges_);
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
        if (const std::optional<int64_t> constant = as_const_int(extent)) {
            return constant;
        }
        if (const std::optional<int64_t> direct = constant_bounds(extent, ranges_).max) {
            return direct;
        }
        // Differences of lets may cancel.
        const Expr expanded = simplify(expand_lets(extent, values_));
        const Expr bound = find_constant_bound(expanded, Direction::Upper, ranges_);
        return bound.defined() ? as_const_int(bound) : std::nullopt;
    }

    const Target &target_;
    Scope<Interval> ranges_;
    int in_blocks_ = 0, in_threads_ = 0;  ///< GPU block loops, and thread loops, around
    Scope<Expr> values_;
};

}  // namespace

Stmt bound_small_allocations(const Stmt &s, LowerContext &ctx) {
    return Bounder(ctx.target).mutate(s);
}

}  // namespace calotype
