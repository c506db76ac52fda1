/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Heap memory of pipelines, and the hooks of the memory sanitizer.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct calotype_buffer_t;

/** Alignment of what the default calotype_malloc returns, in bytes. A replacement must give at
 * least calotype_minimum_malloc_alignment. */
enum { calotype_malloc_alignment = 128, calotype_minimum_malloc_alignment = 64 };

/** Allocate `size` bytes for a pipeline; null if there are none (the pipeline then reports "out of
 * memory"). One vector more than asked may be read, never written, past either end. */
extern void *calotype_malloc(void *user_context, size_t size);
/** Give back what calotype_malloc returned; null is allowed. */
extern void calotype_free(void *user_context, void *ptr);
extern void *calotype_default_malloc(void *user_context, size_t size);
extern void calotype_default_free(void *user_context, void *ptr);
typedef void *(*calotype_malloc_t)(void *user_context, size_t size);
typedef void (*calotype_free_t)(void *user_context, void *ptr);
extern calotype_malloc_t calotype_set_custom_malloc(calotype_malloc_t user_malloc);
extern calotype_free_t calotype_set_custom_free(calotype_free_t user_free);

/** @name Memory sanitizer
 * Called by code compiled with the msan feature. They do nothing unless the process runs under the
 * sanitizer. Those that return an int return 0. */
/**@{*/
extern int calotype_msan_check_memory_is_initialized(void *user_context, const void *ptr,
                                                     uint64_t len, const char *name);
extern int calotype_msan_check_buffer_is_initialized(void *user_context,
                                                     struct calotype_buffer_t *buffer,
                                                     const char *buf_name);
extern int calotype_msan_annotate_memory_is_initialized(void *user_context, const void *ptr,
                                                        uint64_t len);
extern int calotype_msan_annotate_buffer_is_initialized(void *user_context,
                                                        struct calotype_buffer_t *buffer);
extern void calotype_msan_annotate_buffer_is_initialized_as_destructor(void *user_context,
                                                                       void *buffer);
/**@}*/

#ifdef __cplusplus
}
#endif
