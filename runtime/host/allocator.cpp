// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Host memory of pipelines.
//
// A block of libc's malloc with room in front: the aligned address that is handed out has the
// block's own address in the word before it. Vector code may read, never write, up to a vector
// before the first and after the last element; the block covers that on both sides.
#include "runtime/abi/memory.h"

#include <stdint.h>
#include <stdlib.h>

#include "runtime/host/weak.h"

using namespace calotype::runtime;

static Hook<calotype_malloc_t> malloc_hook(calotype_default_malloc);
static Hook<calotype_free_t> free_hook(calotype_default_free);

static constexpr size_t alignment = calotype_malloc_alignment;

CALOTYPE_WEAK void *calotype_default_malloc(void *user_context, size_t size) {
    (void)user_context;
    // In front: up to one alignment lost to aligning, and a whole one to be read. Behind: one.
    constexpr size_t extra = 3 * alignment;
    if (size > PTRDIFF_MAX - extra) {
        return nullptr;
    }
    void *block = malloc(size + extra);
    if (!block) {
        return nullptr;
    }
    uintptr_t address = reinterpret_cast<uintptr_t>(block) + 2 * alignment - 1;
    address &= ~uintptr_t(alignment - 1);
    void **aligned = reinterpret_cast<void **>(address);
    aligned[-1] = block;
    return aligned;
}

CALOTYPE_WEAK void calotype_default_free(void *user_context, void *ptr) {
    (void)user_context;
    if (ptr) {
        free(static_cast<void **>(ptr)[-1]);
    }
}

CALOTYPE_WEAK void *calotype_malloc(void *user_context, size_t size) {
    return malloc_hook.get()(user_context, size);
}

CALOTYPE_WEAK void calotype_free(void *user_context, void *ptr) {
    free_hook.get()(user_context, ptr);
}

CALOTYPE_WEAK calotype_malloc_t calotype_set_custom_malloc(calotype_malloc_t user_malloc) {
    return malloc_hook.set(user_malloc);
}

CALOTYPE_WEAK calotype_free_t calotype_set_custom_free(calotype_free_t user_free) {
    return free_hook.set(user_free);
}
