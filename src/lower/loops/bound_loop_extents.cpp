// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/loops/bound_loop_extents.h"

#include <optional>
#include <utility>

#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "ir/with.h"
#include "lower/known_here.h"

namespace calotype::internal {

namespace {

constexpr int64_t max_copies = 1 << 16, max_bounded_lanes = 1024;

class BoundExtents : public StmtMutator {
public:
    explicit BoundExtents(const LowerContext &ctx) : known_(ctx.ranges_of_parameters()) {
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
        const Stmt body = inside_of(op);
        const Expr extent = simplify(op->extent);
        const bool copied =
            op->for_type == ForType::Unrolled || op->for_type == ForType::Vectorized;
        if (!is_const(extent) && copied) {
            return run_to_bound(op, extent, body);
        }
        if (!is_const(extent) && may_be_condition(op) && at_most_one(extent)) {
            return IfThenElse::make(simplify(extent > 0), LetStmt::make(op->name, op->min, body));
        }
        return body.same_as(op->body) ? Stmt(op) : with(op, &For::body, body);
    }

    Stmt run_to_bound(const For *op, const Expr &extent, const Stmt &body) const {
        const int64_t most = op->for_type == ForType::Vectorized ? max_bounded_lanes : max_copies;
        const std::optional<int64_t> bound = bound_of(extent, most);
        if (!bound || *bound > most) {
            return body.same_as(op->body) ? Stmt(op) : with(op, &For::body, body);
        }
        const Type t = op->min.type();
        const Expr inside = Variable::make(t, op->name) < op->min + op->extent;
        const Expr guard = Call::make(Bool(), Intrinsic::likely, {inside});
        return with(op, &For::extent, make_const(t, std::max<int64_t>(*bound, 0)), &For::body,
                    IfThenElse::make(guard, body));
    }

    /// Loops of kernels may hold barriers, which conditions must not.
    bool may_be_condition(const For *op) const {
        return op->for_type == ForType::Serial && op->partition != Partition::Always && !kernel_;
    }

    bool at_most_one(const Expr &extent) const {
        const std::optional<int64_t> bound = bound_of(extent, 1);
        return bound && *bound <= 1;
    }

    Stmt inside_of(const For *op) {
        const KnownHere::Inside inside(known_, op);
        const bool outer = std::exchange(kernel_, kernel_ || is_gpu(op->for_type));
        const Stmt body = mutate(op->body);
        kernel_ = outer;
        return body;
    }

    /// Right as far as it is not above `most`.
    std::optional<int64_t> bound_of(const Expr &extent, int64_t most) const {
        const std::optional<int64_t> bound = known_.upper_bound(extent);
        if (bound) {
            return bound;
        }
        const Expr expanded = known_.lets().expand_while_small(extent, {.keeps_calls = true});
        return known_.upper_bound_in_all_cases(simplify(remove_likelies(expanded)), most);
    }

    KnownHere known_;
    bool kernel_ = false;
};

}  // namespace

Stmt bound_loop_extents(const Stmt &s, LowerContext &ctx) {
    return BoundExtents(ctx).mutate(s);
}

}  // namespace calotype::internal
