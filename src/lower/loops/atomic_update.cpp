// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/loops/atomic_update.h"

#include "ir/constants.h"
#include "ir/equality.h"
#include "ir/operators.h"
#include "ir/queries.h"

namespace calotype::internal {

namespace {

/// True if e is the element that the store sets, as it was before (perhaps as a bool).
bool is_old_value(const Expr &e, const Store *store) {
    const Cast *as_bool = e.as<Cast>();
    const Load *load =
        as_bool && as_bool->type.is_bool() ? as_bool->value.as<Load>() : e.as<Load>();
    return load && load->name == store->name && equal(load->index, store->index);
}

/// The update if e is `a op b` with the old value on one side.
template<typename T>
std::optional<AtomicUpdate> match_binary(const Expr &e, VectorReduce::Operator op,
                                         const Store *store) {
    const T *node = e.as<T>();
    if (!node) {
        return std::nullopt;
    }
    const bool left = is_old_value(node->a, store);
    const Expr old = left ? node->a : node->b, operand = left ? node->b : node->a;
    if (!is_old_value(old, store) || uses_buffer(operand, store->name)) {
        return std::nullopt;
    }
    return AtomicUpdate{op, operand, old, [](const Expr &before, const Expr &x) {
                            return T::make(before, x);
                        }};
}

std::optional<AtomicUpdate> match_difference(const Expr &e, const Store *store) {
    const Sub *node = e.as<Sub>();
    if (!node || !is_old_value(node->a, store) || uses_buffer(node->b, store->name)) {
        return std::nullopt;
    }
    return AtomicUpdate{VectorReduce::Add, node->b, node->a, [](const Expr &before, const Expr &x) {
                            return Sub::make(before, x);
                        }};
}

std::optional<AtomicUpdate> match_saturating_add(const Expr &e, const Store *store) {
    const Call *call = Call::as_intrinsic(e, Intrinsic::saturating_add);
    if (!call || !call->type.is_uint()) {
        return std::nullopt;
    }
    const bool left = is_old_value(call->args[0], store);
    const Expr old = call->args[left ? 0 : 1], operand = call->args[left ? 1 : 0];
    if (!is_old_value(old, store) || uses_buffer(operand, store->name)) {
        return std::nullopt;
    }
    return AtomicUpdate{VectorReduce::SaturatingAdd, operand, old,
                        [](const Expr &before, const Expr &x) {
                            return Call::make(x.type(), Intrinsic::saturating_add, {before, x});
                        }};
}

std::optional<AtomicUpdate> match_value(const Expr &e, const Store *store) {
    std::optional<AtomicUpdate> update;
    auto attempt = [&](std::optional<AtomicUpdate> candidate) {
        if (!update) {
            update = std::move(candidate);
        }
    };
    attempt(match_binary<Add>(e, VectorReduce::Add, store));
    attempt(match_difference(e, store));
    attempt(match_binary<Mul>(e, VectorReduce::Mul, store));
    attempt(match_binary<Min>(e, VectorReduce::Min, store));
    attempt(match_binary<Max>(e, VectorReduce::Max, store));
    attempt(match_binary<And>(e, VectorReduce::And, store));
    attempt(match_binary<Or>(e, VectorReduce::Or, store));
    attempt(match_saturating_add(e, store));
    return update;
}

}  // namespace

std::optional<AtomicUpdate> match_atomic_update(const Store *store) {
    const Cast *stored_bool = store->value.as<Cast>();
    if (!stored_bool || !stored_bool->value.type().is_bool()) {
        return match_value(store->value, store);
    }
    std::optional<AtomicUpdate> update = match_value(stored_bool->value, store);
    if (update) {
        const Type t = store->value.type();
        update->rebuild = [t, inner = update->rebuild](const Expr &before, const Expr &x) {
            return Cast::make(t.with_lanes(x.type().lanes()), inner(before, x));
        };
    }
    return update;
}

Expr reduction_identity(VectorReduce::Operator op, const Type &t) {
    switch (op) {
    case VectorReduce::Add:
    case VectorReduce::SaturatingAdd:
        return make_zero(t);
    case VectorReduce::Mul:
        return make_one(t);
    case VectorReduce::Min:
        return Broadcast::make(t.element_of().max(), t.lanes());
    case VectorReduce::Max:
        return Broadcast::make(t.element_of().min(), t.lanes());
    case VectorReduce::And:
        return const_true(t.lanes());
    case VectorReduce::Or:
        return const_false(t.lanes());
    }
    return Expr();
}

Expr combine(VectorReduce::Operator op, const Expr &a, const Expr &b) {
    switch (op) {
    case VectorReduce::Add:
        return a + b;
    case VectorReduce::SaturatingAdd:
        return a.type().is_float() ? a + b
                                   : Call::make(a.type(), Intrinsic::saturating_add, {a, b});
    case VectorReduce::Mul:
        return a * b;
    case VectorReduce::Min:
        return Min::make(a, b);
    case VectorReduce::Max:
        return Max::make(a, b);
    case VectorReduce::And:
        return a && b;
    case VectorReduce::Or:
        return a || b;
    }
    return Expr();
}

}  // namespace calotype::internal
