// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// type_of<T>(): the Type of a C++ type. Pointers are handles that remember the C++ name of what
// they point to, where it was declared with CALOTYPE_DECLARE_EXTERN_CLASS_TYPE or
// CALOTYPE_DECLARE_EXTERN_STRUCT_TYPE (at global scope); others are void there, const or not.
#pragma once

#include <type_traits>

#include "ir/type.h"

namespace calotype {

namespace internal {

/// The C++ name of a type that a handle may point to; null where it was not declared.
template<typename T>
struct CppName {
    static constexpr const char *value = nullptr;
};

#define CALOTYPE_CPP_NAME(T, text)                                                                 \
    template<>                                                                                     \
    struct calotype::internal::CppName<T> {                                                        \
        static constexpr const char *value = text;                                                 \
    };

template<typename Pointee>
const HandleType *handle_type_of() {
    constexpr const char *name = CppName<typename std::remove_cv<Pointee>::type>::value;
    if constexpr (name == nullptr && !std::is_const<Pointee>::value &&
                  !std::is_volatile<Pointee>::value) {
        return nullptr;
    } else {
        static const HandleType handle{std::string(name == nullptr ? "void" : name) +
                                       (std::is_const<Pointee>::value ? " const" : "") +
                                       (std::is_volatile<Pointee>::value ? " volatile" : "") +
                                       " *"};
        return &handle;
    }
}

}  // namespace internal

template<typename T>
Type type_of() {
    using Plain = typename std::remove_cv<typename std::remove_reference<T>::type>::type;
    if constexpr (std::is_pointer<Plain>::value) {
        return Handle(1, internal::handle_type_of<typename std::remove_pointer<Plain>::type>());
    } else {
        return Type(calotype_type_of<Plain>());
    }
}

}  // namespace calotype

CALOTYPE_CPP_NAME(bool, "bool")
CALOTYPE_CPP_NAME(char, "char")
CALOTYPE_CPP_NAME(int8_t, "int8_t")
CALOTYPE_CPP_NAME(uint8_t, "uint8_t")
CALOTYPE_CPP_NAME(int16_t, "int16_t")
CALOTYPE_CPP_NAME(uint16_t, "uint16_t")
CALOTYPE_CPP_NAME(int32_t, "int32_t")
CALOTYPE_CPP_NAME(uint32_t, "uint32_t")
CALOTYPE_CPP_NAME(int64_t, "int64_t")
CALOTYPE_CPP_NAME(uint64_t, "uint64_t")
CALOTYPE_CPP_NAME(float, "float")
CALOTYPE_CPP_NAME(double, "double")
CALOTYPE_CPP_NAME(calotype_buffer_t, "struct calotype_buffer_t")
CALOTYPE_CPP_NAME(calotype_dimension_t, "struct calotype_dimension_t")

/// Let type_of<T *>() know the name of a class, struct or union.
#define CALOTYPE_DECLARE_EXTERN_SIMPLE_TYPE(T) CALOTYPE_CPP_NAME(T, #T)
#define CALOTYPE_DECLARE_EXTERN_CLASS_TYPE(T) CALOTYPE_CPP_NAME(T, "class " #T)
#define CALOTYPE_DECLARE_EXTERN_STRUCT_TYPE(T) CALOTYPE_CPP_NAME(T, "struct " #T)
#define CALOTYPE_DECLARE_EXTERN_UNION_TYPE(T) CALOTYPE_CPP_NAME(T, "union " #T)
