// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/gpu/host/thread_scratch.h"

#include <algorithm>
#include <limits>
#include <memory>

#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "lower/buffer_header.h"
#include "lower/checks/error_call.h"
#include "lower/gpu/access/shift_accesses.h"
#include "lower/gpu/host/device_calls.h"
#include "lower/names.h"

namespace calotype::internal {

ThreadScratch::ThreadScratch(const KernelNest &nest, DeviceAPI api, LowerContext &ctx)
    : nest_(nest), api_(api), ctx_(ctx) {
    Expr count = 1;
    for (const std::vector<KernelLoop> *loops : {&nest.threads, &nest.blocks}) {
        for (const KernelLoop &loop : *loops) {
            thread_ = thread_ + Variable::make(Int(32), loop.name) * count;
            count = count * loop.extent;
            threads_ = threads_ * cast<int64_t>(loop.extent);
            inside_.push(loop.name);
        }
    }
    thread_ = simplify(thread_);
    threads_ = simplify(threads_);
}

Stmt ThreadScratch::body() {
    std::vector<std::unique_ptr<InnerRanges::Binding>> bound;
    for (const std::vector<KernelLoop> *loops : {&nest_.threads, &nest_.blocks}) {
        for (const KernelLoop &loop : *loops) {
            bound.push_back(
                std::make_unique<InnerRanges::Binding>(ranges_, loop.name, loop.extent));
        }
    }
    // The lets of the nest stand around its body.
    const Stmt result = mutate(wrap_in_lets(nest_.lets, nest_.body));
    while (!bound.empty()) {
        bound.pop_back();
    }
    return result;
}

bool ThreadScratch::is_made(const std::string &buffer) const {
    return std::any_of(made_.begin(), made_.end(),
                       [&](const Scratch &scratch) { return scratch.name == buffer; });
}

Stmt ThreadScratch::around_launch(Stmt launch) const {
    for (const Scratch &scratch : made_) {
        launch = with_buffer(scratch, launch);
    }
    return launch;
}

Stmt ThreadScratch::visit(const LetStmt *op) {
    const InnerRanges::Binding range(ranges_, op);
    const ScopedBinding<> bind(inside_, op->name);
    return Mutator::visit(op);
}

Stmt ThreadScratch::visit(const For *op) {
    const InnerRanges::Binding range(ranges_, op);
    const ScopedBinding<> bind(inside_, op->name);
    return Mutator::visit(op);
}

bool ThreadScratch::is_known_outside(const Expr &e) const {
    for (const std::string &name : free_variables(e)) {
        if (inside_.contains(name)) {
            return false;
        }
    }
    return is_pure(e) && !contains_kind(e, NodeKind::Load);
}

Stmt ThreadScratch::visit(const Allocate *op) {
    const bool own = op->memory_type == MemoryType::Stack ||
                     (op->memory_type == MemoryType::Heap && api_ != DeviceAPI::CUDA);
    if (!own || op->constant_size() > 0 || op->new_expr.defined()) {
        return Mutator::visit(op);
    }
    std::vector<Expr> extents;
    Expr size = op->padding;
    for (const Expr &extent : op->extents) {
        const Interval range = ranges_.of(extent);
        if (!range.has_upper_bound() || !is_known_outside(range.max)) {
            return Allocate::make(op->name, op->type, MemoryType::Heap, op->extents, op->condition,
                                  mutate(op->body), Expr(), "", op->padding);
        }
        extents.push_back(max(range.max, 1));
    }
    Expr elements = 1;
    for (const Expr &extent : extents) {
        elements = elements * extent;
    }
    size = simplify(elements + size);
    const std::string name = ctx_.names.unique(op->name + ".scratch");
    made_.push_back({name, op->name, op->type, {size}});
    const ScopedBinding<> moved(moved_, op->name);
    return shift_accesses(op->name, name, simplify(thread_ * size), mutate(op->body));
}

Stmt ThreadScratch::visit(const Free *op) {
    return moved_.contains(op->name) ? Evaluate::make(0) : Mutator::visit(op);
}

/// Indices are of 32 bits, so there cannot be more elements.
Stmt ThreadScratch::with_buffer(const Scratch &scratch, const Stmt &launch) const {
    const Expr size = scratch.extents[0];
    const Expr elements = simplify(cast<int64_t>(size) * threads_);
    const Expr most = make_const(Int(64), std::numeric_limits<int32_t>::max());
    const Stmt fits = check(elements <= most, "buffer_extents_too_large",
                            {StringImm::make(scratch.func), elements, most});
    const Expr header = make_buffer_header(
        Expr(), scratch.type, {{0, size, 1}, {0, cast<int32_t>(threads_), size}});
    const Stmt body = Block::make({device_free_at_end(scratch.name),
                                   device_malloc(scratch.name, api_, ctx_), launch,
                                   device_free(scratch.name)});
    const Stmt made = LetStmt::make(names::buffer(scratch.name), header, body);
    return ctx_.target.has_feature(Target::NoAsserts) ? made : Block::make(fits, made);
}

}  // namespace calotype::internal
