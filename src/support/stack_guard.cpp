// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/stack_guard.h"

#include <pthread.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "support/error.h"

namespace calotype::internal {

namespace {

// Stacks grow downwards: to `lowest`, of which `reserved` bytes from there are for what is called
// after a check.
struct Stack {
    uintptr_t lowest = 0;
    uintptr_t reserved = 0;
    size_t size = 0;
    bool is_known = false;
};

thread_local Stack stack;

void find_stack() {
    stack.is_known = true;
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) {
        return;  // nothing reserved: no check fails
    }
    void *lowest = nullptr;
    if (pthread_attr_getstack(&attributes, &lowest, &stack.size) == 0) {
        stack.lowest = uintptr_t(lowest);
        stack.reserved = std::min<size_t>(reserved_stack, stack.size / 4);
    }
    pthread_attr_destroy(&attributes);
}

[[noreturn]] void raise() {
    user_error << "an expression or a chain of Funcs is nested too deeply for the " << stack.size
               << " bytes of stack of this thread: compute parts of it as Funcs of their own "
               << "(compute_root), or allow for more stack (CT_COMPILER_STACK_SIZE for compiling)";
}

}  // namespace

void check_stack() {
    if (!stack.is_known) [[unlikely]] {
        find_stack();
    }
    // One comparison for both ends: below `lowest` the difference is huge.
    if (uintptr_t(__builtin_frame_address(0)) - stack.lowest < stack.reserved) [[unlikely]] {
        raise();
    }
}

}  // namespace calotype::internal
