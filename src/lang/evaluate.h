// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// evaluate: the value of an expression, computed now in this process.
#pragma once

#include "lang/func.h"

namespace calotype {

namespace internal {

/// A value may be given by its address too, unless it is an address itself.
template<typename T>
bool takes_address_of(const Type &t) {
    return std::is_pointer_v<T> && !std::is_void_v<std::remove_pointer_t<T>> && !t.is_handle();
}

template<typename T>
Type stored_type(const Type &t) {
    if constexpr (std::is_pointer_v<T> && !std::is_void_v<std::remove_pointer_t<T>>) {
        if (takes_address_of<T>(t)) {
            return type_of<std::remove_pointer_t<T>>();
        }
    }
    return type_of<T>();
}

template<typename First, typename... Rest>
void check_tuple_types(const Tuple &t, size_t i, const First &, const Rest &...rest) {
    const Type stored = stored_type<First>(t[i].type());
    user_assert(t[i].type().to_abi() == stored.to_abi())
        << "evaluate: value " << i << " is a " << t[i].type() << " and is stored to a " << stored;
    if constexpr (sizeof...(rest) > 0) {
        check_tuple_types(t, i + 1, rest...);
    }
}

template<typename First, typename... Rest>
void take_values(const Realization &r, size_t i, First &first, Rest &...rest) {
    const Buffer<void> b = r[i];
    if constexpr (std::is_pointer_v<First> && !std::is_void_v<std::remove_pointer_t<First>>) {
        if (takes_address_of<First>(b.type())) {
            *first = Buffer<std::remove_pointer_t<First>>(b)();
        } else {
            first = Buffer<First>(b)();
        }
    } else {
        first = Buffer<First>(b)();
    }
    if constexpr (sizeof...(rest) > 0) {
        take_values(r, i + 1, rest...);
    }
}

inline void schedule_single_value(Func &f, bool may_use_gpu) {
    const Target t = get_jit_target_from_environment();
    if (may_use_gpu && t.has_gpu_feature()) {
        f.gpu_single_thread();
    }
}

template<typename T>
T evaluate_with(JITUserContext *context, const Expr &e, bool may_use_gpu) {
    user_assert(e.type() == type_of<T>())
        << "evaluate of an expression of type " << e.type() << " as a " << type_of<T>();
    Func f;
    f() = e;
    schedule_single_value(f, may_use_gpu);
    Buffer<T, 0> b = f.realize(context, std::vector<int32_t>{});
    b.copy_to_host();
    return b();
}

template<typename First, typename... Rest>
void evaluate_with(JITUserContext *context, const Tuple &t, bool may_use_gpu, First &first,
                   Rest &...rest) {
    user_assert(t.size() == 1 + sizeof...(rest))
        << "evaluate of a Tuple of " << t.size() << " into " << 1 + sizeof...(rest) << " values";
    check_tuple_types(t, 0, first, rest...);
    Func f;
    f() = t;
    schedule_single_value(f, may_use_gpu);
    Realization r = f.realize(context, std::vector<int32_t>{});
    for (size_t i = 0; i < r.size(); i++) {
        r[i].copy_to_host();
    }
    take_values(r, 0, first, rest...);
}

}  // namespace internal

/// evaluate<int>(e) gives the value; evaluate(tuple, a, b) and evaluate(tuple, &a, &b) store the
/// values to a and b. The expression must not depend on Vars, and the types must be those of the
/// C++ values.
template<typename T>
T evaluate(JITUserContext *context, const Expr &e) {
    return internal::evaluate_with<T>(context, e, false);
}
template<typename T>
T evaluate(const Expr &e) {
    return evaluate<T>(nullptr, e);
}
template<typename First, typename... Rest>
void evaluate(JITUserContext *context, const Tuple &t, First &&first, Rest &&...rest) {
    internal::evaluate_with(context, t, false, first, rest...);
}
template<typename First, typename... Rest>
void evaluate(const Tuple &t, First &&first, Rest &&...rest) {
    internal::evaluate_with(nullptr, t, false, first, rest...);
}

/// The same, on the GPU of the JIT target if it has one.
template<typename T>
T evaluate_may_gpu(const Expr &e) {
    return internal::evaluate_with<T>(nullptr, e, true);
}
template<typename First, typename... Rest>
void evaluate_may_gpu(const Tuple &t, First &&first, Rest &&...rest) {
    internal::evaluate_with(nullptr, t, true, first, rest...);
}

}  // namespace calotype
