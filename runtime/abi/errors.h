/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Error codes and the functions that generated code calls to report an error. Each builds one
 * message, hands it to calotype_error() (hooks.h), and returns its code, which the pipeline then
 * returns to its caller. Nothing here stops the process.
 */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum calotype_error_code_t {
#define CALOTYPE_ERROR_CODE(name, number, summary) calotype_error_code_##name = number,
#include "error_codes.def"
#undef CALOTYPE_ERROR_CODE
};

/** What an error code means, in a few words, never null: "out of memory". */
extern const char *calotype_error_code_summary(int code);

/** @name Reports
 * Names of buffers come with their role, as in "input buffer in". */
/**@{*/
extern int calotype_error_bounds_inference_call_failed(void *user_context,
                                                       const char *extern_stage_name, int result);
extern int calotype_error_extern_stage_failed(void *user_context, const char *extern_stage_name,
                                              int result);
extern int calotype_error_explicit_bounds_too_small(void *user_context, const char *func_name,
                                                    const char *var_name, int min_bound,
                                                    int max_bound, int min_required,
                                                    int max_required);
/** Both types are calotype_type_t::as_u32() words. */
extern int calotype_error_bad_type(void *user_context, const char *func_name, uint32_t type_given,
                                   uint32_t correct_type);
extern int calotype_error_bad_dimensions(void *user_context, const char *func_name,
                                         int32_t dimensions_given, int32_t correct_dimensions);
extern int calotype_error_access_out_of_bounds(void *user_context, const char *func_name,
                                               int dimension, int min_touched, int max_touched,
                                               int min_valid, int max_valid);
extern int calotype_error_buffer_allocation_too_large(void *user_context, const char *buffer_name,
                                                      uint64_t allocation_size, uint64_t max_size);
extern int calotype_error_buffer_coordinates_too_large(void *user_context, const char *buffer_name,
                                                       int dimension, int min, int extent);
extern int calotype_error_buffer_extents_negative(void *user_context, const char *buffer_name,
                                                  int dimension, int extent);
extern int calotype_error_buffer_extents_too_large(void *user_context, const char *buffer_name,
                                                   int64_t actual_size, int64_t max_size);
extern int calotype_error_constraints_make_required_region_smaller(
    void *user_context, const char *buffer_name, int dimension, int constrained_min,
    int constrained_extent, int required_min, int required_extent);
extern int calotype_error_constraint_violated(void *user_context, const char *var, int val,
                                              const char *constrained_var, int constrained_val);
extern int calotype_error_param_too_small_i64(void *user_context, const char *param_name,
                                              int64_t val, int64_t min_val);
extern int calotype_error_param_too_small_u64(void *user_context, const char *param_name,
                                              uint64_t val, uint64_t min_val);
extern int calotype_error_param_too_small_f64(void *user_context, const char *param_name,
                                              double val, double min_val);
extern int calotype_error_param_too_large_i64(void *user_context, const char *param_name,
                                              int64_t val, int64_t max_val);
extern int calotype_error_param_too_large_u64(void *user_context, const char *param_name,
                                              uint64_t val, uint64_t max_val);
extern int calotype_error_param_too_large_f64(void *user_context, const char *param_name,
                                              double val, double max_val);
extern int calotype_error_out_of_memory(void *user_context);
extern int calotype_error_buffer_argument_is_null(void *user_context, const char *buffer_name);
extern int calotype_error_debug_to_file_failed(void *user_context, const char *func,
                                               const char *filename, int error_code);
extern int calotype_error_unaligned_host_ptr(void *user_context, const char *func_name,
                                             int alignment);
extern int calotype_error_unaligned_device_ptr(void *user_context, const char *func_name,
                                               int alignment);
extern int calotype_error_device_heap_exhausted(void *user_context, const char *kernel,
                                                uint64_t bytes);
extern int calotype_error_host_is_null(void *user_context, const char *func_name);
extern int calotype_error_bad_fold(void *user_context, const char *func_name, const char *var_name,
                                   const char *loop_name);
extern int calotype_error_bad_extern_fold(void *user_context, const char *func_name, int dim,
                                          int min, int extent, int valid_min, int fold_factor);
extern int calotype_error_fold_factor_too_small(void *user_context, const char *func_name,
                                                const char *var_name, int fold_factor,
                                                const char *loop_name, int required_extent);
extern int calotype_error_requirement_failed(void *user_context, const char *condition,
                                             const char *message);
extern int calotype_error_specialize_fail(void *user_context, const char *message);
extern int calotype_error_no_device_interface(void *user_context);
extern int calotype_error_device_interface_no_device(void *user_context);
extern int calotype_error_host_and_device_dirty(void *user_context);
extern int calotype_error_buffer_is_null(void *user_context, const char *routine);
extern int calotype_error_device_dirty_with_no_device_support(void *user_context,
                                                              const char *buffer_name);
extern int calotype_error_storage_bound_too_small(void *user_context, const char *func_name,
                                                  const char *var_name, int provided_size,
                                                  int required_size);
extern int calotype_error_device_crop_failed(void *user_context);
/** `factor` is the text of the factor's expression, `value` what it came to. */
extern int calotype_error_split_factor_not_positive(void *user_context, const char *func_name,
                                                    const char *orig, const char *outer,
                                                    const char *inner, const char *factor,
                                                    int value);
extern int calotype_error_vscale_invalid(void *user_context, const char *func_name,
                                         int runtime_vscale, int compiletime_vscale);
extern int calotype_error_streaming_vscale_invalid(void *user_context, const char *func_name,
                                                   int runtime_vscale, int compiletime_vscale);
/**@}*/

#ifdef __cplusplus
}
#endif
