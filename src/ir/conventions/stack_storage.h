// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which storage of constant size host code has on the stack.
#pragma once

#include <cstdint>

#include "ir/enums.h"

namespace calotype::internal {

/// What is put on the stack without being told to.
constexpr int64_t max_automatic_stack_bytes = 16 * 1024;

inline bool is_on_stack(MemoryType type, int64_t bytes) {
    return type == MemoryType::Stack || type == MemoryType::Register ||
           (type == MemoryType::Auto && bytes <= max_automatic_stack_bytes);
}

}  // namespace calotype::internal
