// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/loops/vectorize_loops.h"

#include <algorithm>
#include <utility>

#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/printer.h"
#include "ir/queries.h"
#include "ir/walk/search.h"
#include "ir/with.h"
#include "lower/loop_guards.h"
#include "lower/loops/widen.h"

namespace calotype::internal {

namespace {

/// Lanes that a vector can have (Type holds 16 bits).
constexpr int64_t max_lanes = 65535;

/// The smallest number by which the variable is divided, in quotients or remainders; 0: by none.
int64_t smallest_divisor(const Stmt &s, const std::string &var) {
    int64_t divisor = 0;
    const auto note = [&](const auto *op) {
        const Variable *v = op->a.template as<Variable>();
        const std::optional<int64_t> by = as_const_int(op->b);
        if (v && v->name == var && by && *by > 1) {
            divisor = divisor == 0 ? *by : std::min(divisor, *by);
        }
    };
    for_each<Div>(s, note);
    for_each<Mod>(s, note);
    return divisor;
}

/// A loop of `lanes` iterations that was made of two by fuse(), as these two, if it updates in
/// lanes that share a place; else undefined.
Stmt as_two_loops(const For *op, int64_t lanes) {
    if (!is_const_zero(op->min) || !contains_kind(op->body, NodeKind::Atomic)) {
        return Stmt();
    }
    const int64_t inner = smallest_divisor(op->body, op->name);
    if (inner == 0 || inner >= lanes || lanes % inner != 0) {
        return Stmt();
    }
    const Type t = op->min.type();
    const std::string quotient = op->name + "$quotient", remainder = op->name + "$remainder";
    const Expr whole =
        Variable::make(t, quotient) * make_const(t, inner) + Variable::make(t, remainder);
    const auto loop = [&](const std::string &name, int64_t extent, const Stmt &body) {
        return For::make(name, make_zero(t), make_const(t, extent), op->for_type, op->partition,
                         op->device_api, body);
    };
    return simplify(loop(quotient, lanes / inner,
                         loop(remainder, inner, substitute(op->name, whole, op->body))));
}

/// The loop without the iterations that a condition around all of its body leaves out, where it then has at most half as
/// many lanes; else undefined.
Stmt without_idle_lanes(const For *op, int64_t lanes, const LowerContext &ctx) {
    const std::optional<int64_t> min = as_const_int(op->min);
    if (!min) {
        return Stmt();
    }
    const LoopGuards guards = find_guards(op, false, !ctx.target.has_feature(Target::StrictFloat));
    const std::optional<int64_t> last =
        guards.range.has_upper_bound() ? as_const_int(simplify(guards.range.max)) : std::nullopt;
    const int64_t used = last ? *last - *min + 1 : lanes;
    if (used < 1 || used > lanes / 2 || !guards.fixed.empty() || guards.range.has_lower_bound()) {
        return Stmt();
    }
    return with(op, &For::extent, make_const(op->min.type(), used), &For::body, guards.body);
}

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
        user_assert(*lanes * lanes_around_ <= max_lanes)
            << "loop " << op->name << " cannot be vectorized: with the vectorized loops around it, "
            << "values have " << *lanes * lanes_around_ << " lanes, must be at most " << max_lanes;
        if (*lanes < 1) {
            return Stmt();
        }
        if (const Stmt shorter = without_idle_lanes(op, *lanes, ctx_); shorter.defined()) {
            return mutate(shorter);
        }
        if (const Stmt two = as_two_loops(op, *lanes); two.defined()) {
            return mutate(two);
        }
        const Stmt body =
            *lanes == 1 ? LetStmt::make(op->name, op->min, op->body) : widen(op, int(*lanes), ctx_);
        if (!contains_kind(body, NodeKind::For)) {
            return body;
        }
        const int64_t around = std::exchange(lanes_around_, lanes_around_ * *lanes);
        // Ramps that are whole are easier to widen once more.
        const Stmt result = mutate(simplify(body));
        lanes_around_ = around;
        return result;
    }

    LowerContext &ctx_;
    int64_t lanes_around_ = 1;  ///< of the values in the loop that is looked at
};

}  // namespace

Stmt vectorize_loops(const Stmt &s, LowerContext &ctx) {
    return simplify(Vectorizer(ctx).mutate(s));
}

}  // namespace calotype::internal
