// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiling on a stack of its own: expressions may be nested deeper than a thread's usual stack
// allows. And of what version the compiler is.
#pragma once

#include <cstddef>
#include <functional>

namespace calotype {

constexpr size_t default_compiler_stack_size = 64 << 20;
/// Bytes of stack that compiling gets in this process: what was set, else CT_COMPILER_STACK_SIZE,
/// else the default. 0: that of the calling thread.
size_t get_compiler_stack_size();
void set_compiler_stack_size(size_t bytes);

namespace internal {

/// The version of the LLVM that code is generated with: 19.1 is 191.
int version_of_llvm();

/// Calls f() on a thread with that stack and waits for it. Throws what f throws.
void run_on_compiler_stack(const std::function<void()> &f);

}  // namespace internal
}  // namespace calotype
