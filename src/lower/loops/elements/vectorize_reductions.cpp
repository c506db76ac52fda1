// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/loops/elements/vectorize_reductions.h"

#include <algorithm>
#include <optional>

#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "lower/loops/elements/independent_lanes.h"
#include "lower/loops/widen.h"
#include "lower/names.h"

namespace calotype::internal {

namespace {

/// Lanes of vectors of bytes. With more there are often fewer elements than a vector has lanes.
constexpr int most_lanes = 32;

class VectorizeReductions : public StmtMutator {
public:
    explicit VectorizeReductions(LowerContext &ctx) : ctx_(ctx) {
    }

private:
    using Mutator::visit;

    Stmt visit(const For *op) override {
        if (is_gpu(op->for_type)) {
            return op;
        }
        const bool is_candidate =
            op->for_type == ForType::Serial && op->partition != Partition::Never;
        IndependentLanes lanes(op->name);
        if (!is_candidate || !lanes.has_reductions(op->body)) {
            return Mutator::visit(op);
        }
        const int count =
            std::min(ctx_.target.natural_lanes(std::max(lanes.bits(), 8), true), most_lanes);
        const std::optional<int64_t> extent = as_const_int(op->extent);
        if (count == 1 || extent.value_or(count) < count) {
            return op;
        }
        const bool fits = extent && *extent % count == 0;
        return fits || lanes.updates() ? with_rest(op, count) : with_overlap(op, count);
    }
    Stmt visit(const Atomic *op) override {
        return op;
    }

    /// A loop over vectors, the last of which may begin before the one before it ends.
    Stmt with_overlap(const For *op, int lanes) {
        const Expr last = simplify(op->extent - lanes);
        const Expr first = min(vector_of(op) * lanes, last);
        const Stmt vectors =
            over_vectors(op, lanes, first, simplify((op->extent + (lanes - 1)) / lanes));
        return is_const(op->extent) ? vectors
                                    : IfThenElse::make(op->extent >= lanes, vectors, Stmt(op));
    }

    /// A loop over vectors, and that over what is left.
    Stmt with_rest(const For *op, int lanes) {
        const Expr count = simplify(max(op->extent, 0) / lanes), done = count * lanes;
        const Stmt vectors = over_vectors(op, lanes, vector_of(op) * lanes, count);
        const Expr left = simplify(op->extent - done);
        const Stmt rest = For::make(op->name, simplify(op->min + done), left, op->for_type,
                                    op->partition, op->device_api, op->body);
        if (is_const(op->extent)) {
            return is_const_zero(left) ? vectors : Block::make(vectors, rest);
        }
        return Block::make(IfThenElse::make(op->extent >= lanes, vectors), rest);
    }

    static Expr vector_of(const For *op) {
        return Variable::make(Int(32), names::part(op->name, "vector"));
    }

    /// Vectors of iterations, each of which begins at the given one.
    Stmt over_vectors(const For *op, int lanes, const Expr &first, const Expr &vectors) {
        const Stmt loop = For::make(op->name, simplify(op->min + first), lanes, ForType::Vectorized,
                                    Partition::Auto, op->device_api, op->body);
        const Stmt body = simplify(widen(loop.as<For>(), lanes, ctx_));
        return For::make(names::part(op->name, "vector"), 0, vectors, op->for_type, op->partition,
                         op->device_api, body);
    }

    LowerContext &ctx_;
};

}  // namespace

Stmt vectorize_reductions(const Stmt &s, LowerContext &ctx) {
    return VectorizeReductions(ctx).mutate(s);
}

}  // namespace calotype::internal
