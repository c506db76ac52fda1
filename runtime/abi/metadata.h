/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What a compiled pipeline says of itself: NAME_metadata() returns a calotype_filter_metadata_t.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "type.h"

#ifdef __cplusplus
extern "C" {
#endif

/** One scalar argument of any type. */
typedef struct calotype_scalar_value_t {
    union {
        bool b;
        int8_t i8;
        int16_t i16;
        int32_t i32;
        int64_t i64;
        uint8_t u8;
        uint16_t u16;
        uint32_t u32;
        uint64_t u64;
        float f32;
        double f64;
        void *handle;
    } u;
#ifdef __cplusplus
    calotype_scalar_value_t() {
        u.u64 = 0;
    }
#endif
} calotype_scalar_value_t;

typedef enum calotype_argument_kind_t {
    calotype_argument_kind_input_scalar = 0,
    calotype_argument_kind_input_buffer = 1,
    calotype_argument_kind_output_buffer = 2
} calotype_argument_kind_t;

/** The first layout of an argument's description, in metadata of version 0. No longer emitted. */
typedef struct calotype_filter_argument_t_v0 {
    const char *name;
    int32_t kind;
    int32_t dimensions;
    struct calotype_type_t type;
    const struct calotype_scalar_value_t *def, *min, *max;
} calotype_filter_argument_t_v0;

/** One argument. What the pipeline's author did not give is null. */
typedef struct calotype_filter_argument_t {
    const char *name;
    int32_t kind;       /**< a calotype_argument_kind_t */
    int32_t dimensions; /**< 0 for scalars */
    struct calotype_type_t type;
    /** Null for buffers. */
    const struct calotype_scalar_value_t *scalar_def, *scalar_min, *scalar_max, *scalar_estimate;
    /** Null for scalars; else min and extent of each dimension in turn, each null if not given. */
    int64_t const *const *buffer_estimates;
} calotype_filter_argument_t;

typedef struct calotype_filter_metadata_t {
#ifdef __cplusplus
    static const int32_t VERSION = 1;
#endif
    int32_t version; /**< 1 */
    int32_t num_arguments;
    /** In the order in which the pipeline takes them. */
    const struct calotype_filter_argument_t *arguments;
    const char *target; /**< what the pipeline was compiled for */
    const char *name;   /**< name of the function */
} calotype_filter_metadata_t;

/** Called before main() for every pipeline that was compiled with a registration file, by that
 * file. The runtime does not define it: the application does, to learn which pipelines were linked
 * into it. `filter_argv_call` is the pipeline taking an array of pointers to its arguments.
 * `extra_key_value_pairs` is null or a list of names and values that ends with two nulls. */
void calotype_register_argv_and_metadata(int (*filter_argv_call)(void **),
                                         const struct calotype_filter_metadata_t *filter_metadata,
                                         const char *const *extra_key_value_pairs);

#ifdef __cplusplus
}
#endif
