// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Types of OpenCL C, as far as they are written out.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/type.h"

namespace calotype::internal {

/// A built-in type, or a pointer to whatever.
struct OpenclType {
    std::string text;          ///< without name and qualifiers that do not matter to a caller
    std::optional<Type> type;  ///< none: a pointer to memory that kernels pass no pointers to

    /// Whether a value of that type is passed, or comes back, as it is.
    bool is(Type t) const;
};
/// Of a parameter with or without name, or of what stands before a function's name. Nothing where
/// typedefs, structs, macros or arrays say what it is.
std::optional<OpenclType> opencl_type(const std::vector<std::string> &words);

/// A function that is written out.
struct OpenclSignature {
    bool is_known = true;  ///< how many parameters there are
    std::vector<std::optional<OpenclType>> parameters;
    std::optional<OpenclType> result;
};

}  // namespace calotype::internal
