// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/loops/vectorize_loops.h"

#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/mutator.h"
#include "ir/printer.h"
#include "ir/queries.h"
#include "lower/loops/widen.h"

namespace calotype {

using namespace internal;

namespace {

/// Lanes that a vector can have (Type holds 16 bits).
constexpr int64_t max_lanes = 65535;

class Vectorizer : public Mutator {
public:
    explicit Vectorizer(LowerContext &ctx) : ctx_(ctx) {
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
                           << " is not constant and has no constant bound";
        user_assert(*lanes <= max_lanes)
            << "loop " << op->name << " cannot be vectorized: its extent is " << *lanes
            << ", must be at most " << max_lanes;
        if (*lanes < 1) {
            return Stmt();
        }
        const Stmt body = *lanes == 1 ? LetStmt::make(op->name, op->min, op->body)
                                      : internal::widen(op, int(*lanes), ctx_);
        // Ramps that are whole are easier to widen once more.
        return contains_kind(body, NodeKind::For) ? mutate(simplify(body)) : body;
    }

    LowerContext &ctx_;
};

}  // namespace

Stmt vectorize_loops(const Stmt &s, LowerContext &ctx) {
    return simplify(Vectorizer(ctx).mutate(s));
}

}  // namespace calotype
