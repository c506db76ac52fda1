// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// For functions that call themselves for each operand: an expression may be nested deeper than the
// stack of a thread allows.
#pragma once

namespace calotype::internal {

/// Throws a CompileError where little of the calling thread's stack is left. What is called between
/// one check and the next must do with `reserved_stack` bytes, or a quarter of the stack if that is
/// less. Does nothing on a stack that is not the thread's own, as those of coroutines.
void check_stack();

constexpr unsigned reserved_stack = 256 << 10;

}  // namespace calotype::internal
