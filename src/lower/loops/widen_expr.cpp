// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/loops/widen_expr.h"

#include <utility>

#include "ir/constants.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "ir/with.h"
#include "lower/effects.h"
#include "lower/loops/lanes.h"

namespace calotype::internal {

ExprWidener::ExprWidener(LowerContext &ctx, const std::string &var, const Expr &min, int lanes)
    : ctx_(ctx), var_(var), min_(min), lanes_(lanes) {
}

ExprWidener::BindLet::BindLet(ExprWidener &w, const std::string &name, const Expr &value)
    : w_(w), name_(name) {
    w_.wide_lets_.push(name, value);
    w_.memo_.clear();
}

ExprWidener::BindLet::~BindLet() {
    w_.wide_lets_.pop(name_);
    w_.memo_.clear();
}

ExprWidener::BindMask::BindMask(ExprWidener &w, const Expr &mask, bool some_lane)
    : w_(w), outer_(w.mask_), outer_some_lane_(w.some_lane_alive_) {
    w_.mask_ = outer_.defined() ? outer_ && mask : mask;
    w_.some_lane_alive_ = some_lane;
    w_.memo_.clear();
}

ExprWidener::BindMask::~BindMask() {
    w_.mask_ = outer_;
    w_.some_lane_alive_ = outer_some_lane_;
    w_.memo_.clear();
}

Expr ExprWidener::mutate(const Expr &e) {
    if (!e.defined()) {
        return e;
    }
    auto it = memo_.find(e.get());
    if (it != memo_.end()) {
        return it->second;
    }
    Expr result = Mutator::mutate(e);
    memo_.emplace(e.get(), result);
    return result;
}

bool ExprWidener::succeeded() {
    const bool ok = !std::exchange(failed_, false);
    if (!ok) {
        memo_.clear();  // other statements may hold the same expressions: they must fail as well
    }
    return ok;
}

Expr ExprWidener::widen(const Expr &widened, const Expr &original) const {
    return varies(widened, original) ? widened : repeat_lanes(widened, lanes_);
}

Expr ExprWidener::iteration_numbers(int copies) const {
    return Broadcast::make(Ramp::make(make_zero(min_.type()), make_one(min_.type()), lanes_),
                           copies);
}

Expr ExprWidener::private_index(const Expr &widened, const Expr &original) const {
    const Expr index = widen(widened, original);
    const Expr number = cast(index.type(), iteration_numbers(original.type().lanes()));
    return index * make_const(index.type(), lanes_) + number;
}

Expr ExprWidener::masked(const Expr &widened, const Expr &original) const {
    const Expr predicate = widen(widened, original);
    if (!mask_.defined()) {
        return predicate;
    }
    const Expr mask = Broadcast::make(mask_, original.type().lanes());
    return is_trivially_true(predicate) ? mask : predicate && mask;
}

template<typename T>
Expr ExprWidener::visit_binary(const T *op) {
    const Expr a = mutate(op->a), b = mutate(op->b);
    if (!varies(a, op->a) && !varies(b, op->b)) {
        return a.same_as(op->a) && b.same_as(op->b) ? Expr(op) : T::make(a, b);
    }
    return T::make(widen(a, op->a), widen(b, op->b));
}

#define ARITH(Name, symbol)                                                                        \
    Expr ExprWidener::visit(const Name *op) {                                                      \
        return visit_binary(op);                                                                   \
    }
#define COMPARE(Name, symbol) ARITH(Name, symbol)
#define LOGIC(Name, symbol) ARITH(Name, symbol)
#include "ir/nodes.def"

Expr ExprWidener::visit(const Variable *op) {
    if (op->name == var_) {
        return Ramp::make(min_, make_one(min_.type()), lanes_);
    }
    const Expr *wide = wide_lets_.find(op->name);
    return wide ? *wide : Expr(op);
}

Expr ExprWidener::visit(const Broadcast *op) {
    const Expr value = mutate(op->value);
    return value.same_as(op->value) ? Expr(op) : Broadcast::make(value, op->lanes);
}

Expr ExprWidener::visit(const Ramp *op) {
    const Expr base = mutate(op->base), stride = mutate(op->stride);
    if (!varies(base, op->base) && !varies(stride, op->stride)) {
        return Ramp::make(base, stride, op->lanes);
    }
    return Ramp::make(widen(base, op->base), widen(stride, op->stride), op->lanes);
}

Expr ExprWidener::visit(const Cast *op) {
    const Expr value = mutate(op->value);
    return value.same_as(op->value) ? Expr(op)
                                    : Cast::make(op->type.with_lanes(value.type().lanes()), value);
}

Expr ExprWidener::visit(const Reinterpret *op) {
    const Expr value = mutate(op->value);
    if (!varies(value, op->value)) {
        return Reinterpret::make(op->type, value);
    }
    if (op->type.lanes() != op->value.type().lanes()) {
        // Lanes are joined or split: there is no order of lanes in which that stays
        // adjacent.
        failed_ = true;
        return repeat_lanes(op, lanes_);
    }
    return Reinterpret::make(op->type.with_lanes(value.type().lanes()), value);
}

Expr ExprWidener::visit(const Not *op) {
    return Not::make(mutate(op->a));
}

Expr ExprWidener::visit(const Select *op) {
    Expr condition = mutate(op->condition);
    Expr t = mutate(op->true_value), f = mutate(op->false_value);
    const bool condition_varies = varies(condition, op->condition);
    if (!condition_varies && !varies(t, op->true_value) && !varies(f, op->false_value)) {
        return Select::make(condition, t, f);
    }
    if (op->condition.type().is_scalar()) {
        condition = condition_varies ? Broadcast::make(condition, op->type.lanes()) : condition;
    } else {
        condition = widen(condition, op->condition);
    }
    return Select::make(condition, widen(t, op->true_value), widen(f, op->false_value));
}

Expr ExprWidener::visit(const Load *op) {
    const Expr index = mutate(op->index), predicate = mutate(op->predicate);
    const Type wide = op->type.with_lanes(op->type.lanes() * lanes_);
    if (private_.contains(op->name)) {
        return Load::make(wide, op->name, private_index(index, op->index),
                          masked(predicate, op->predicate), Alignment(), op->symbol,
                          op->is_streaming);
    }
    const bool alike = !varies(index, op->index) && !varies(predicate, op->predicate);
    if (alike && (!mask_.defined() || some_lane_alive_)) {
        return with(op, &Load::index, index, &Load::predicate, predicate);
    }
    return Load::make(wide, op->name, widen(index, op->index), masked(predicate, op->predicate),
                      Alignment(), op->symbol, op->is_streaming);
}

// All lanes choose the same, and the other value is not evaluated.
Expr ExprWidener::same_choice(const Call *op, const Expr &condition) {
    std::vector<Expr> values;
    bool any = false;
    for (size_t i = 1; i < op->args.size(); i++) {
        values.push_back(mutate(op->args[i]));
        any = any || varies(values.back(), op->args[i]);
    }
    std::vector<Expr> args = {condition};
    for (size_t i = 0; i < values.size(); i++) {
        args.push_back(any ? widen(values[i], op->args[i + 1]) : values[i]);
    }
    return Call::make(args[1].type(), Intrinsic::if_then_else, args);
}

Expr ExprWidener::visit_if_then_else(const Call *op) {
    const Expr condition = mutate(op->args[0]);
    if (!varies(condition, op->args[0])) {
        return op->args[0].type().is_scalar() ? same_choice(op, condition) : Expr();
    }
    // Both branches are evaluated, each with its loads masked.
    const bool scalar_condition = op->args[0].type().is_scalar();
    if (op->args.size() < 3 || !scalar_condition) {
        failed_ = true;
        return repeat_lanes(op, lanes_);
    }
    const Expr plain = remove_likelies(condition);
    Expr t, f;
    {
        BindMask mask(*this, plain, false);
        t = widen(mutate(op->args[1]), op->args[1]);
    }
    {
        BindMask mask(*this, !plain, false);
        f = widen(mutate(op->args[2]), op->args[2]);
    }
    return Select::make(Broadcast::make(condition, op->type.lanes()), t, f);
}

// The requirement holds if it does in all lanes that are alive. What is reported is one error for
// all of them; if it tells lanes apart, mutating it has failed.
Expr ExprWidener::visit_require(const Call *op) {
    Expr condition = mutate(op->args[0]);
    const Expr value = mutate(op->args[1]), report = mutate(op->args[2]);
    if (mask_.defined() && (varies(condition, op->args[0]) || !some_lane_alive_)) {
        condition =
            widen(condition, op->args[0]) || !Broadcast::make(mask_, op->args[0].type().lanes());
    }
    return Call::make(value.type(), Intrinsic::require, {all_lanes(condition), value, report});
}

// An access of all lanes is one event, with the lanes of each coordinate side by side. Undefined if
// the event is not such an access, or some lanes may be off.
Expr ExprWidener::visit_trace(const Call *op) {
    constexpr size_t value = 1, coordinates = 2, lanes = 5, dimensions = 9;
    // Members of a struct are without gaps if they have a power of two of lanes.
    if (mask_.defined() || (lanes_ & (lanes_ - 1)) != 0) {
        return Expr();
    }
    std::vector<Expr> args = op->args;
    bool any = false;
    for (size_t i = 0; i < args.size(); i++) {
        const Call *members = Call::as_intrinsic(args[i], Intrinsic::make_struct);
        if (members && (i == value || i == coordinates)) {
            std::vector<Expr> wide;
            for (const Expr &e : members->args) {
                wide.push_back(widen(mutate(e), e));
                any = true;
            }
            args[i] = Call::make(members->type, Intrinsic::make_struct, wide);
        } else if (varies(mutate(args[i]), args[i]) || i == value) {
            return Expr();
        }
    }
    const auto times_lanes = [&](const Expr &e) {
        return Expr(int(*as_const_int(e)) * lanes_);
    };
    args[lanes] = times_lanes(args[lanes]);
    args[dimensions] = times_lanes(args[dimensions]);
    return any && !failed_ ? Call::make(op->type, op->intrinsic, args) : Expr();
}

Expr ExprWidener::visit(const Call *op) {
    if (op->is_intrinsic(Intrinsic::require)) {
        return visit_require(op);
    }
    if (op->is_intrinsic(Intrinsic::trace)) {
        const Expr event = visit_trace(op);
        if (event.defined()) {
            return event;
        }
    }
    if (op->is_intrinsic(Intrinsic::if_then_else)) {
        const Expr chosen = visit_if_then_else(op);
        if (chosen.defined()) {
            return chosen;
        }
    }
    std::vector<Expr> args;
    bool any = false, changed = false;
    for (const Expr &e : op->args) {
        args.push_back(mutate(e));
        any = any || varies(args.back(), e);
        changed = changed || !args.back().same_as(e);
    }
    auto make = [&](const Type &t) {
        return op->is_intrinsic()
                   ? Call::make(t, op->intrinsic, args)
                   : Call::make(t, op->name, args, op->call_type, op->value_index, op->symbol);
    };
    // One call a lane, also where the lanes do not differ.
    any = any || (is_linked(op) && !op->is_pure());
    if (!any) {
        // Under a mask an effect must not happen for lanes that are off.
        failed_ = failed_ || (!op->is_pure() && mask_.defined() && !some_lane_alive_);
        return changed ? make(op->type) : Expr(op);
    }
    if (!op->is_pure()) {
        failed_ = true;
        return repeat_lanes(op, lanes_);
    }
    for (size_t i = 0; i < args.size(); i++) {
        // Strings and other handles are about the call, not about the lanes.
        if (!op->args[i].type().is_handle()) {
            args[i] = widen(args[i], op->args[i]);
        }
    }
    return make(op->type.with_lanes(op->type.lanes() * lanes_));
}

Expr ExprWidener::visit(const Let *op) {
    const Expr value = mutate(op->value);
    if (!varies(value, op->value)) {
        const Expr body = mutate(op->body);
        return Let::make(op->name, value, body);
    }
    const std::string name = ctx_.names.unique(op->name);
    BindLet bind(*this, op->name, Variable::make(value.type(), name));
    const Expr body = mutate(op->body);
    return Let::make(name, value, body);
}

Expr ExprWidener::visit(const Shuffle *op) {
    std::vector<Expr> vectors = mutate(op->vectors);
    bool any = false;
    for (size_t i = 0; i < vectors.size(); i++) {
        any = any || varies(vectors[i], op->vectors[i]);
    }
    if (!any) {
        return Shuffle::make(vectors, op->indices);
    }
    for (size_t i = 0; i < vectors.size(); i++) {
        vectors[i] = widen(vectors[i], op->vectors[i]);
    }
    std::vector<int> indices;
    for (int i : op->indices) {
        for (int k = 0; k < lanes_; k++) {
            indices.push_back(i * lanes_ + k);
        }
    }
    return Shuffle::make(vectors, indices);
}

Expr ExprWidener::visit(const VectorReduce *op) {
    const Expr value = mutate(op->value);
    if (!varies(value, op->value)) {
        return VectorReduce::make(op->op, value, op->type.lanes());
    }
    // What is combined must be adjacent: iterations move outside of the groups.
    const int groups = op->type.lanes(), size = op->value.type().lanes() / groups;
    std::vector<int> indices;
    for (int group = 0; group < groups; group++) {
        for (int k = 0; k < lanes_; k++) {
            for (int i = 0; i < size; i++) {
                indices.push_back((group * size + i) * lanes_ + k);
            }
        }
    }
    return VectorReduce::make(op->op, Shuffle::make({value}, indices), groups * lanes_);
}

}  // namespace calotype::internal
