// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lets are mutated after their bodies: only then is it known whether their values end up in a
// coordinate.
#include "lower/bounds/clamp_unsafe_accesses.h"

#include <map>
#include <set>
#include <utility>

#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/equality.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "ir/walk/search.h"
#include "lower/bounds/expression_memo.h"
#include "lower/let_scope.h"

namespace calotype::internal {

namespace {

/// The ends that restrict more than the type of the values does. Of a float both or none: what was
/// never written may be infinite.
Interval restricting(const Interval &values, const Type &t) {
    if (t.is_float()) {
        return values.is_bounded() ? values : Interval::everything();
    }
    if (!t.is_int_or_uint()) {
        return Interval::everything();
    }
    Interval result = values;
    const Interval all = bounds_of_type(t);
    if (all.has_lower_bound() && values.has_lower_bound() && can_prove(values.min <= all.min)) {
        result.min = Expr();
    }
    if (all.has_upper_bound() && values.has_upper_bound() && can_prove(values.max >= all.max)) {
        result.max = Expr();
    }
    return result;
}

class ClampUnsafeAccesses : public Mutator {
public:
    explicit ClampUnsafeAccesses(const LowerContext &ctx) {
        for (const auto &[value, range] : ctx.func_bounds) {
            const Function &f = ctx.env.at(value.first);
            const Interval ends = restricting(range, f.output_types()[size_t(value.second)]);
            if (!ends.is_everything() && !ctx.is_inlined(f)) {
                ranges_[value] = ends;
            }
        }
        relied_on_ = ctx.func_bounds;
    }

    bool has_work() const {
        return !ranges_.empty();
    }

    using Mutator::mutate;
    /// Shared nodes are rewritten once where they are in a coordinate, and once where they are not.
    Expr mutate(const Expr &e) override {
        if (!e.defined()) {
            return e;
        }
        return memo_.of(e, in_coordinate_, [&] { return Mutator::mutate(e); });
    }

private:
    using Mutator::visit;

    const Interval *range_of(const Call *op) const {
        const auto it = op->call_type == CallKind::Func ? ranges_.find({op->name, op->value_index})
                                                        : ranges_.end();
        return it == ranges_.end() ? nullptr : &it->second;
    }

    /// Whether the value depends on a Func whose range matters, also by way of lets.
    bool reads_ranged(const Expr &e) const {
        return contains<Call>(e, [&](const Call *op) { return range_of(op) != nullptr; }) ||
               uses_any_var(e, ranged_);
    }

    /// Whether the range of the coordinate is the same where nothing is known of the Funcs.
    bool is_safe(const Expr &coordinate) const {
        const Expr e = lets_.expand(coordinate);
        if (!e.defined()) {
            return false;
        }
        const Interval any = bounds_of_expr(e, Scope<Interval>());
        if (!any.is_bounded()) {
            return false;
        }
        const Interval relied_on = bounds_of_expr(e, Scope<Interval>(), relied_on_);
        return equal(simplify(any.min), simplify(relied_on.min)) &&
               equal(simplify(any.max), simplify(relied_on.max));
    }

    Expr mutate_coordinate(const Expr &e) {
        if (!e.defined()) {
            return e;
        }
        const bool unsafe = in_coordinate_ || (reads_ranged(e) && !is_safe(e));
        const bool outer = std::exchange(in_coordinate_, unsafe);
        const Expr result = mutate(e);
        in_coordinate_ = outer;
        return result;
    }

    std::vector<Expr> mutate_coordinates(const std::vector<Expr> &v) {
        std::vector<Expr> result;
        for (const Expr &e : v) {
            result.push_back(mutate_coordinate(e));
        }
        return result;
    }

    Expr visit(const Call *op) override {
        if (op->call_type != CallKind::Func && op->call_type != CallKind::Image) {
            return Mutator::visit(op);
        }
        const std::vector<Expr> args = mutate_coordinates(op->args);
        Expr result =
            Call::make(op->type, op->name, args, op->call_type, op->value_index, op->symbol);
        const Interval *range = in_coordinate_ ? range_of(op) : nullptr;
        // Of an unordered comparison, min and max take the second operand.
        if (range && range->has_upper_bound()) {
            result = min(result, range->max);
        }
        if (range && range->has_lower_bound()) {
            result = max(result, range->min);
        }
        return result;
    }

    Expr visit(const Variable *op) override {
        if (in_coordinate_) {
            coordinates_.insert(op->name);
        }
        return op;
    }

    // Whatever is compared, the result is a choice between values that are safe.
    template<typename T>
    Expr visit_comparison(const T *op) {
        const bool outer = std::exchange(in_coordinate_, false);
        Expr result = Mutator::visit(op);
        in_coordinate_ = outer;
        return result;
    }
#define COMPARE(Name, symbol)                                                                      \
    Expr visit(const Name *op) override {                                                          \
        return visit_comparison(op);                                                               \
    }
#include "ir/nodes.def"

    template<typename T>
    auto visit_let(const T *op) -> decltype(op->body) {
        const bool ranged = reads_ranged(op->value);
        const bool outer_use = coordinates_.erase(op->name) > 0;
        auto body = op->body;
        {
            const LetScope::Inside inside(lets_, op->name, ranged ? op->value : Expr());
            const ScopedBinding<> bind(ranged, ranged_, op->name);
            body = memo_.apart([&] { return mutate(op->body); });
        }
        const bool is_coordinate = coordinates_.erase(op->name) > 0;
        if (outer_use) {
            coordinates_.insert(op->name);
        }
        const bool outer = std::exchange(in_coordinate_, is_coordinate);
        const Expr value = mutate(op->value);
        in_coordinate_ = outer;
        return T::make(op->name, value, body);
    }

    Expr visit(const Let *op) override {
        return visit_let(op);
    }
    Stmt visit(const LetStmt *op) override {
        return visit_let(op);
    }

    Stmt visit(const Provide *op) override {
        const std::vector<Expr> args = mutate_coordinates(op->args);
        return Provide::make(op->name, mutate(op->values), args, mutate(op->predicate));
    }

    std::map<std::pair<std::string, int>, Interval> ranges_;  ///< those that can be exceeded
    FuncValueBounds relied_on_;
    bool in_coordinate_ = false;
    ExpressionMemo memo_;
    std::set<std::string> coordinates_;  ///< lets that coordinates use
    Scope<> ranged_;                     ///< lets that read such a Func
    LetScope lets_;                      ///< the values of these
};

}  // namespace

Stmt clamp_unsafe_accesses(const Stmt &s, LowerContext &ctx) {
    ClampUnsafeAccesses pass(ctx);
    return pass.has_work() ? pass.mutate(s) : s;
}

}  // namespace calotype::internal
