// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/vectors/count_in_bytes.h"

#include <algorithm>
#include <cstdint>

#include "ir/constants.h"
#include "ir/expr_nodes.h"
#include "ir/mutator.h"

namespace calotype::internal {

namespace {

constexpr int bytes_added_at_once = 8;

/// Whether lanes with numbers that are constants apart are compared with one value: code generation does so in lanes as narrow as
/// what is chosen.
bool compares_numbers(const Expr &a, const Expr &b) {
    const auto numbers = [](const Expr &e) {
        const Ramp *ramp = e.as<Ramp>();
        return ramp && ramp->base.type() == Int(32) && is_const(ramp->stride);
    };
    return (numbers(a) && b.as<Broadcast>()) || (a.as<Broadcast>() && numbers(b));
}

/// Of the values that a condition compares; of a mask that is given not known, and so the most there is.
int widest_compared(const Expr &condition) {
    const auto of_both = [](const auto *op) {
        return std::max(widest_compared(op->a), widest_compared(op->b));
    };
    if (const Not *op = condition.as<Not>()) {
        return widest_compared(op->a);
    }
    if (const And *op = condition.as<And>()) {
        return of_both(op);
    }
    if (const Or *op = condition.as<Or>()) {
        return of_both(op);
    }
    if (const Broadcast *op = condition.as<Broadcast>()) {
        return op->value.type().is_scalar() ? 1 : widest_compared(op->value);
    }
    const auto bits = [](const auto *op) {
        return !op ? 0 : compares_numbers(op->a, op->b) ? 1 : int(op->a.type().bits());
    };
    const int result =
        std::max({bits(condition.as<EQ>()), bits(condition.as<NE>()), bits(condition.as<LT>()),
                  bits(condition.as<LE>()), bits(condition.as<GT>()), bits(condition.as<GE>())});
    return result > 0 ? result : INT32_MAX;
}

/// The constant as bytes; undefined if it is none, or does not fit.
Expr as_bytes(const Expr &e) {
    const Broadcast *all = e.as<Broadcast>();
    const Expr scalar = all ? all->value : e;
    const auto number = as_const_int(scalar);
    const auto positive = as_const_uint(scalar);
    const int64_t value = number     ? *number
                          : positive ? int64_t(std::min<uint64_t>(*positive, INT32_MAX))
                                     : -1;
    return value >= 0 && value <= UINT8_MAX ? make_const(UInt(8, e.type().lanes()), value) : Expr();
}

/// A choice of bytes that is made wider; undefined if the value is not made of small constants.
Expr choice_of_bytes(const Expr &value) {
    const Type t = value.type();
    const Select *choice = value.as<Select>();
    const Cast *cast = value.as<Cast>();
    const bool is_count = cast && cast->value.type().is_bool();
    if (t.is_float() || t.bits() < 16 || t.is_bool() || (!choice && !is_count)) {
        return Expr();
    }
    const Expr condition = choice ? choice->condition : cast->value;
    const Expr yes = choice ? as_bytes(choice->true_value) : make_one(UInt(8, t.lanes()));
    const Expr no = choice ? as_bytes(choice->false_value) : make_zero(UInt(8, t.lanes()));
    if (!yes.defined() || !no.defined() || widest_compared(condition) > 16) {
        return Expr();
    }
    return Cast::make(t, Select::make(condition, yes, no));
}

/// A choice between a wide value and nothing, made before the value is made wide; undefined if it is none.
Expr choice_made_wide(const Expr &condition, const Expr &value, bool if_true) {
    if (const Mul *op = value.as<Mul>()) {
        // Those of bytes are of words that are made of them, so that nothing is gained.
        const Cast *factor = op->a.as<Cast>();
        if (!factor || factor->value.type().bits() != 16) {
            return Expr();
        }
        const Expr a = choice_made_wide(condition, op->a, if_true);
        return a.defined() ? Mul::make(a, op->b) : a;
    }
    const Expr bytes = choice_of_bytes(value);
    const Cast *cast = (bytes.defined() ? bytes : value).as<Cast>();
    const Type t = cast ? cast->value.type() : Type();
    if (!cast || !t.is_int_or_uint() || t.is_bool() || t.bits() > 16 ||
        t.bits() >= value.type().bits()) {
        return Expr();
    }
    const Expr none = make_zero(t);
    return Cast::make(cast->type, if_true ? Select::make(condition, cast->value, none)
                                          : Select::make(condition, none, cast->value));
}

/// What is added up, or nothing where a condition on narrow values or on numbers of lanes says so.
Expr choice_of_narrow(const Expr &value) {
    const Select *choice = value.as<Select>();
    if (!choice || !value.type().is_int_or_uint() || widest_compared(choice->condition) > 16) {
        return Expr();
    }
    return is_const_zero(choice->false_value)
               ? choice_made_wide(choice->condition, choice->true_value, true)
           : is_const_zero(choice->true_value)
               ? choice_made_wide(choice->condition, choice->false_value, false)
               : Expr();
}

class CountInBytes : public GraphMutator {
private:
    using GraphMutator::visit;

    Stmt visit(const For *op) override {
        return is_gpu(op->for_type) ? Stmt(op) : GraphMutator::visit(op);
    }

    Expr visit(const VectorReduce *op) override {
        Expr value = mutate(op->value);
        const Expr narrow = op->op == VectorReduce::Add ? choice_of_narrow(value) : Expr();
        value = narrow.defined() ? narrow : value;
        const int factor = value.type().lanes() / op->type.lanes();
        const Expr bytes = op->op == VectorReduce::Add && factor % bytes_added_at_once == 0
                               ? choice_of_bytes(value)
                               : Expr();
        return VectorReduce::make(op->op, bytes.defined() ? bytes : value, op->type.lanes());
    }
};

}  // namespace

Stmt count_in_bytes(const Stmt &s) {
    return CountInBytes().mutate(s);
}

}  // namespace calotype::internal
