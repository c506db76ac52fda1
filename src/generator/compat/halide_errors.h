// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Part of Halide.h: the macros that raise errors, and those that print while code is generated.
#pragma once

#include <iostream>
#include <string>

#include "calotype.h"

namespace calotype {
namespace Internal {

/// True if the variable HL_DEBUG_CODEGEN (or CT_DEBUG_CODEGEN) asks for messages of this verbosity
/// from this place: "verbosity[,file[:line[-line]]][@function]", several separated by semicolons.
bool debug_is_active_impl(int verbosity, const char *file, const char *function, int line);
/// The same for a text in place of the variable's.
bool debug_spec_accepts(const std::string &spec, int verbosity, const char *file,
                        const char *function, int line);

/// Streams a container as "{ a, b }".
template<typename T>
struct PrintSpan {
    const T &span;
    PrintSpan(const T &span) : span(span) {
    }
};
template<typename T>
PrintSpan(const T &) -> PrintSpan<T>;

template<typename Stream, typename T>
Stream &operator<<(Stream &out, const PrintSpan<T> &list) {
    out << "{ ";
    bool is_first = true;
    for (const auto &element : list.span) {
        out << (is_first ? "" : ", ") << element;
        is_first = false;
    }
    out << " }";
    return out;
}

/// The same with one element a line.
template<typename T>
struct PrintSpanLn {
    const T &span;
    PrintSpanLn(const T &span) : span(span) {
    }
};
template<typename T>
PrintSpanLn(const T &) -> PrintSpanLn<T>;

template<typename Stream, typename T>
Stream &operator<<(Stream &out, const PrintSpanLn<T> &list) {
    out << "\n{\n";
    for (const auto &element : list.span) {
        out << "\t" << element << ",\n";
    }
    out << "}\n";
    return out;
}

/// For std::set_terminate: prints what an exception that nobody caught says, and aborts.
void unhandled_exception_handler();

}  // namespace Internal
}  // namespace calotype

// NOLINTBEGIN
#define _halide_user_error                                                                         \
    ::calotype::internal::RaiseCompileError() & ::calotype::internal::Message()
#define _halide_user_assert(condition) (condition) ? (void)0 : _halide_user_error
#define _halide_runtime_error                                                                      \
    ::calotype::internal::RaiseRuntimeError() & ::calotype::internal::Message()
#define _halide_internal_error                                                                     \
    ::calotype::internal::RaiseInternalError() &                                                   \
        ::calotype::internal::Message(__FILE__, __LINE__, nullptr)
#define _halide_internal_assert(condition)                                                         \
    (condition) ? (void)0                                                                          \
                : ::calotype::internal::RaiseInternalError() &                                     \
                      ::calotype::internal::Message(__FILE__, __LINE__, #condition)
#define _halide_user_warning ::calotype::internal::RaiseWarning() & ::calotype::internal::Message()
/// For programs that declare extern functions of more arguments than the macros take: argument n,
/// counted from 1, must have the type.
#define _halide_check_arg_type(parameter_type, function, argument, n)                              \
    _halide_user_assert((argument).type() == (parameter_type))                                     \
        << "argument " << (n) << " of extern function " << #function << " has type "               \
        << (argument).type() << ", must be " << (parameter_type)
#define debug(verbosity)                                                                           \
    if (!::calotype::Internal::debug_is_active_impl((verbosity), __FILE__, __FUNCTION__,           \
                                                    __LINE__)) {                                   \
    } else                                                                                         \
        std::cerr
// NOLINTEND
