// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Modules that are given as text by callers who know kernels by their names: descriptors are made
// of the text, one for each text, and what is held is remembered for each thread. This is how
// objects of generators with that interface come to the kernel cache.
#pragma once

#include <stddef.h>

#include "runtime/abi/kernels.h"
#include "runtime/host/weak.h"

namespace calotype::runtime {

/** In which language, and for which device. */
struct TextKind {
    calotype_kind kind;
    uint32_t sm;  ///< of the image; what the text itself says counts
    const calotype_device_interface_t *(*device_interface)(void);
    /** Call found(name, length, data) for each kernel that the text defines. */
    void (*find_kernels)(const char *text, void (*found)(const char *, size_t, void *), void *data);
};

/** One launch by name. Arrays end with a size of 0. */
struct NamedLaunch {
    const char *entry;
    int grid[3], block[3];
    int dynamic_shared_bytes;
    const size_t *arg_sizes;
    void *const *args;  ///< at values; at a calotype_buffer_t where arg_is_buffer
    const int8_t *arg_is_buffer;
};

/** Hold the module of the text on this thread; *state tells which it is. 0 or an error code, which
 * has been reported, as all of these. */
int begin_text_module(void *user_context, void **state, const char *text, int size,
                      const TextKind &kind);
/** The module must be held; by another thread or for another user context, it is held for this
 * call.
 */
int run_text_module(void *user_context, void *state, const NamedLaunch &launch);
/** Give the latest hold of this thread and user context back. */
void end_text_module(void *user_context, void *state);

}  // namespace calotype::runtime

/** The three functions calotype_API_... of such callers, with texts of that kind. */
#define CALOTYPE_TEXT_KERNELS(API, KIND)                                                           \
    CALOTYPE_WEAK int calotype_##API##_initialize_kernels(void *user_context, void **state_ptr,    \
                                                          const char *src, int size) {             \
        return calotype::runtime::begin_text_module(user_context, state_ptr, src, size, KIND);     \
    }                                                                                              \
    CALOTYPE_WEAK int calotype_##API##_run(                                                        \
        void *user_context, void *state_ptr, const char *entry_name, int blocksX, int blocksY,     \
        int blocksZ, int threadsX, int threadsY, int threadsZ, int shared_mem_bytes,               \
        size_t arg_sizes[], void *args[], int8_t arg_is_buffer[]) {                                \
        return calotype::runtime::run_text_module(user_context, state_ptr,                         \
                                                  {entry_name,                                     \
                                                   {blocksX, blocksY, blocksZ},                    \
                                                   {threadsX, threadsY, threadsZ},                 \
                                                   shared_mem_bytes,                               \
                                                   arg_sizes,                                      \
                                                   args,                                           \
                                                   arg_is_buffer});                                \
    }                                                                                              \
    CALOTYPE_WEAK void calotype_##API##_finalize_kernels(void *user_context, void *state_ptr) {    \
        calotype::runtime::end_text_module(user_context, state_ptr);                               \
    }
