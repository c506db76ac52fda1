// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/gpu/host/thread_scratch.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <tuple>
#include <utility>

#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "ir/with.h"
#include "lower/buffer_header.h"
#include "lower/checks/error_call.h"
#include "lower/gpu/access/shift_accesses.h"
#include "lower/gpu/host/device_calls.h"
#include "lower/names.h"

namespace calotype::internal {

namespace {

/// Element i of a thread's own goes to i * stride + first of a buffer of all.
class Striper : public GraphMutator {
public:
    Striper(const std::string &own, const std::string &all, const Expr &stride, const Expr &first)
        : own_(own), all_(all), stride_(stride), first_(first) {
    }

private:
    using GraphMutator::visit;

    Expr striped(const Expr &index) const {
        const int lanes = index.type().lanes();
        const auto wide = [&](const Expr &e) {
            return lanes == 1 ? e : Broadcast::make(e, lanes);
        };
        return simplify(index * wide(stride_) + wide(first_));
    }

    Expr visit(const Load *op) override {
        const Expr e = GraphMutator::visit(op);
        op = e.as<Load>();
        return op->name != own_ ? e
                                : Load::make(op->type, all_, striped(op->index), op->predicate,
                                             Alignment(), op->symbol);
    }

    Stmt visit(const Store *op) override {
        const Stmt s = GraphMutator::visit(op);
        op = s.as<Store>();
        return op->name != own_ ? s
                                : Store::make(all_, op->value, striped(op->index), op->predicate,
                                              Alignment(), op->symbol);
    }

    const std::string &own_, &all_;
    const Expr &stride_, &first_;
};

/// The index in a nest of loops, the first of which is innermost, and their number of iterations.
std::pair<Expr, Expr> index_in(const std::vector<KernelLoop> &loops) {
    Expr index = 0, count = 1;
    for (const KernelLoop &loop : loops) {
        index = index + Variable::make(Int(32), loop.name) * count;
        count = count * loop.extent;
    }
    return {simplify(index), simplify(count)};
}

}  // namespace

ThreadScratch::ThreadScratch(const KernelNest &nest, DeviceAPI api, LowerContext &ctx)
    : nest_(nest), api_(api), ctx_(ctx) {
    std::tie(thread_, block_size_) = index_in(nest.threads);
    block_ = index_in(nest.blocks).first;
    for (const std::vector<KernelLoop> *loops : {&nest.threads, &nest.blocks}) {
        for (const KernelLoop &loop : *loops) {
            threads_ = threads_ * cast<int64_t>(loop.extent);
            inside_.push(loop.name);
        }
    }
    threads_ = simplify(threads_);
}

Stmt ThreadScratch::body() {
    std::vector<std::unique_ptr<KnownHere::Inside>> bound;
    for (const std::vector<KernelLoop> *loops : {&nest_.threads, &nest_.blocks}) {
        for (const KernelLoop &loop : *loops) {
            bound.push_back(std::make_unique<KnownHere::Inside>(ranges_, loop.name, loop.extent));
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
    const KnownHere::Inside range(ranges_, op);
    const ScopedBinding<> bind(inside_, op->name);
    return Mutator::visit(op);
}

Stmt ThreadScratch::visit(const For *op) {
    const KnownHere::Inside range(ranges_, op);
    const ScopedBinding<> bind(inside_, op->name);
    return Mutator::visit(op);
}

bool ThreadScratch::is_known_outside(const Expr &e) const {
    return is_pure(e) && !contains_kind(e, NodeKind::Load) && !uses_any_var(e, inside_);
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
        const Interval range = ranges_.interval(extent);
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
    const Stmt body = mutate(op->body);
    if (uses_var(body, op->name)) {
        // Its address is wanted.
        const Expr first = (block_ * block_size_ + thread_) * size;
        return shift_accesses(op->name, name, simplify(first), body);
    }
    // Side by side lies what the threads of a block ask for at once.
    const Expr first = simplify(block_ * (block_size_ * size) + thread_);
    return Striper(op->name, name, block_size_, first).mutate(body);
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
    const Expr header = make_buffer_header(Expr(), scratch.type,
                                           {{0, size, 1}, {0, cast<int32_t>(threads_), size}});
    const Stmt body =
        Block::make({device_free_at_end(scratch.name), device_malloc(scratch.name, api_, ctx_),
                     launch, device_free(scratch.name)});
    const Stmt made = LetStmt::make(names::buffer(scratch.name), header, body);
    return ctx_.target.has_feature(Target::NoAsserts) ? made : Block::make(fits, made);
}

}  // namespace calotype::internal
