// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compile-time description of a pipeline's arguments, which generated function-info headers use.
#pragma once

#include <cstdint>
#include <string_view>

#include "../abi/type.h"

namespace CalotypeFunctionInfo {

enum ArgumentKind { InputScalar = 0, InputBuffer = 1, OutputBuffer = 2 };

struct ArgumentInfo {
    std::string_view name;
    ArgumentKind kind;
    int32_t dimensions;  ///< 0 for scalars
    calotype_type_t type;
};

}  // namespace CalotypeFunctionInfo
