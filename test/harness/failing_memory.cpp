// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "harness/failing_memory.h"

#include <atomic>
#include <cerrno>
#include <cstddef>

static std::atomic<long> left{0};  ///< until one fails
static std::atomic<bool> is_on{false};

static bool fails() {
    return is_on && --left == 0;
}

// The linker gives these names: option --wrap.
extern "C" {
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
int __real_posix_memalign(void **memory, size_t alignment, size_t size);

void *__wrap_malloc(size_t size) {
    return fails() ? nullptr : __real_malloc(size);
}
void *__wrap_calloc(size_t count, size_t size) {
    return fails() ? nullptr : __real_calloc(count, size);
}
void *__wrap_realloc(void *memory, size_t size) {
    return fails() ? nullptr : __real_realloc(memory, size);
}
int __wrap_posix_memalign(void **memory, size_t alignment, size_t size) {
    return fails() ? ENOMEM : __real_posix_memalign(memory, alignment, size);
}
}

namespace calotype_test {

FailingMemory::FailingMemory(long nth) {
    left = nth;
    is_on = true;
}

FailingMemory::~FailingMemory() {
    is_on = false;
}

bool FailingMemory::has_failed() {
    return left <= 0;
}

}  // namespace calotype_test
