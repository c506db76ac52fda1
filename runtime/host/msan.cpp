// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The hooks of the memory sanitizer. Its own functions are there only in a process that runs under
// it, so they are weak references.
#include <stdint.h>

#include "runtime/abi/buffer.h"
#include "runtime/abi/memory.h"
#include "runtime/host/weak.h"

extern "C" __attribute__((weak)) void __msan_unpoison(const volatile void *ptr, size_t size);
extern "C" __attribute__((weak)) void __msan_check_mem_is_initialized(const volatile void *ptr,
                                                                      size_t size);

namespace {

using RangeFn = void (*)(const volatile void *, size_t);

/** Call fn for the memory of dimensions d and below, row by row where it has gaps. */
void for_each_range(const calotype_buffer_t &buf, int d, uint8_t *start, RangeFn fn) {
    const ptrdiff_t bytes = buf.type.bytes();
    ptrdiff_t dense = 1;
    for (int i = 0; i <= d; i++) {
        if (buf.dim[i].stride != dense) {
            dense = 0;
            break;
        }
        dense *= buf.dim[i].extent;
    }
    if (d < 0 || dense != 0) {
        fn(start, size_t((d < 0 ? 1 : dense) * bytes));
        return;
    }
    for (int i = 0; i < buf.dim[d].extent; i++) {
        for_each_range(buf, d - 1, start + ptrdiff_t(i) * buf.dim[d].stride * bytes, fn);
    }
}

int apply(calotype_buffer_t *buf, RangeFn fn) {
    if (!fn || !buf || !buf->host || buf->number_of_elements() == 0) {
        return 0;
    }
    for_each_range(*buf, buf->dimensions - 1, buf->host, fn);
    return 0;
}

}  // namespace

CALOTYPE_WEAK int calotype_msan_check_memory_is_initialized(void *user_context, const void *ptr,
                                                            uint64_t len, const char *name) {
    (void)user_context, (void)name;
    if (__msan_check_mem_is_initialized) {
        __msan_check_mem_is_initialized(ptr, size_t(len));
    }
    return 0;
}

CALOTYPE_WEAK int calotype_msan_check_buffer_is_initialized(void *user_context,
                                                            calotype_buffer_t *buffer,
                                                            const char *buf_name) {
    (void)user_context, (void)buf_name;
    return apply(buffer, __msan_check_mem_is_initialized);
}

CALOTYPE_WEAK int calotype_msan_annotate_memory_is_initialized(void *user_context, const void *ptr,
                                                               uint64_t len) {
    (void)user_context;
    if (__msan_unpoison) {
        __msan_unpoison(ptr, size_t(len));
    }
    return 0;
}

CALOTYPE_WEAK int calotype_msan_annotate_buffer_is_initialized(void *user_context,
                                                               calotype_buffer_t *buffer) {
    (void)user_context;
    return apply(buffer, __msan_unpoison);
}

CALOTYPE_WEAK void calotype_msan_annotate_buffer_is_initialized_as_destructor(void *user_context,
                                                                              void *buffer) {
    calotype_msan_annotate_buffer_is_initialized(user_context,
                                                 static_cast<calotype_buffer_t *>(buffer));
}
