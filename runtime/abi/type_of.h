// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// calotype_type_of<T>(): the calotype_type_t of a C++ type, at compile time (C++ only).
#pragma once

#include "type.h"

#ifdef __cplusplus

#include <type_traits>

#if defined(__FLT16_MAX__) && (defined(__clang__) || __GNUC__ >= 13)
#define CALOTYPE_CPP_COMPILER_HAS_FLOAT16
#endif

/** For programs that describe the C++ types behind their handles; the runtime does not use it. */
template<typename T>
struct calotype_handle_traits;

/** What calotype_type_of says of a class type that stands for a number, by specialisation:
 * give a `static constexpr calotype_type_t value`. */
template<typename T>
struct calotype_type_of_class {};

/** The runtime type that holds a T: the arithmetic types, pointers, and types for which
 * calotype_type_of_class is specialised. Anything else does not compile. */
template<typename T>
constexpr calotype_type_t calotype_type_of() {
    using U = typename std::remove_cv<T>::type;
    if constexpr (std::is_pointer<U>::value) {
        return {calotype_type_handle, 64};
#ifdef CALOTYPE_CPP_COMPILER_HAS_FLOAT16
    } else if constexpr (std::is_same<U, _Float16>::value) {
        return {calotype_type_float, 16};
#endif
    } else if constexpr (std::is_same<U, bool>::value) {
        return {calotype_type_uint, 1};
    } else if constexpr (std::is_enum<U>::value) {
        return calotype_type_of<typename std::underlying_type<U>::type>();
    } else if constexpr (std::is_integral<U>::value) {
        return {std::is_signed<U>::value ? calotype_type_int : calotype_type_uint,
                uint8_t(sizeof(U) * 8)};
    } else if constexpr (std::is_floating_point<U>::value) {
        static_assert(sizeof(U) == 4 || sizeof(U) == 8, "only float and double have a type");
        return {calotype_type_float, uint8_t(sizeof(U) * 8)};
    } else {
        return calotype_type_of_class<U>::value;
    }
}

#endif
