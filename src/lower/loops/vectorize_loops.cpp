// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/loops/vectorize_loops.h"

#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/mutator.h"
#include "ir/printer.h"
#include "ir/queries.h"
#include "lower/loops/widen.h"
#include "support/scope.h"

namespace calotype {

namespace {

/// Lanes that a vector can have (Type holds 16 bits).
constexpr int64_t max_lanes = 65535;

class Vectorizer : public Mutator {
public:
    explicit Vectorizer(LowerContext &ctx)
        : ctx_(ctx) {
    }

private:
    using Mutator::visit;

    Stmt visit(const For *op) override {
        if (op->for_type != ForType::Vectorized) {
            return Mutator::visit(op);
        }
        const Expr extent = simplify(op->extent);
        const std::optional<int64_t> lanes = as_const_int(extent);
        user_assert(lanes) << "loop " << op->name << " cannot be vectorized: its extent " << extent
                           << " is not constant";
        user_assert(*lanes <= max_lanes) << "loop " << op->name << " cannot be vectorized: its extent is " << *lanes
                                         << ", must be at most " << max_lanes;
        if (*lanes < 1) {
            return Stmt();
        }
        const Stmt body = *lanes == 1 ? LetStmt::make(op->name, op->min, op->body) :
                                        internal::widen(op, int(*lanes), ctx_);
        // Ramps that are whole are easier to widen once more.
        return contains_kind(body, NodeKind::For) ? mutate(simplify(body)) : body;
    }

    LowerContext &ctx_;
};

/// Drops `atomic` round stores that no other thread can meet: outside of parallel loops, or to storage made in an iteration.
class AtomicRemover : public Mutator {
public:
    explicit AtomicRemover(const LowerContext &ctx)
        : ctx_(ctx) {
    }

private:
    using Mutator::visit;

    Stmt visit(const For *op) override {
        const bool parallel = is_unordered_parallel(op->for_type);
        depth_ += parallel;
        const Stmt result = Mutator::visit(op);
        depth_ -= parallel;
        return result;
    }

    Stmt visit(const Fork *op) override {
        depth_++;
        const Stmt result = Mutator::visit(op);
        depth_--;
        return result;
    }

    Stmt visit(const Allocate *op) override {
        internal::ScopedBinding<int> bind(allocated_at_, op->name, depth_);
        return Mutator::visit(op);
    }

    Stmt visit(const Atomic *op) override {
        auto f = ctx_.env.find(op->producer_name);
        const std::string buffer = f == ctx_.env.end() ? op->producer_name : f->second.buffer_name(0);
        const int *allocated_at = allocated_at_.find(buffer);
        return (allocated_at ? *allocated_at : 0) == depth_ ? mutate(op->body) : Mutator::visit(op);
    }

    const LowerContext &ctx_;
    internal::Scope<int> allocated_at_;
    int depth_ = 0;  ///< of parallel loops
};

}  // namespace

Stmt vectorize_loops(const Stmt &s, LowerContext &ctx) {
    Stmt result = Vectorizer(ctx).mutate(s);
    result = AtomicRemover(ctx).mutate(result);
    return simplify(result);
}

}  // namespace calotype
