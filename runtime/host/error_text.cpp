// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The wording of all run-time errors. Style: lower case; who, what it is, what it must be.
#include "runtime/abi/errors.h"

#include <string.h>

#include "runtime/abi/hooks.h"
#include "runtime/host/text.h"
#include "runtime/host/weak.h"

using calotype::runtime::Text;

/** Closed interval, as in "[0, 9]". */
struct Range {
    int64_t min, max;
};

static Range from_extent(int64_t min, int64_t extent) {
    return {min, min + extent - 1};
}

static Text &operator<<(Text &text, Range range) {
    return text << '[' << range.min << ", " << range.max << ']';
}

static int report(void *user_context, int code, const Text &message) {
    calotype_error(user_context, message.c_str());
    return code;
}

/** Report a code whose summary says it all. */
static int report_summary(void *user_context, int code) {
    calotype_error(user_context, calotype_error_code_summary(code));
    return code;
}

CALOTYPE_WEAK const char *calotype_error_code_summary(int code) {
    switch (code) {
#define CALOTYPE_ERROR_CODE(name, number, summary)                                                 \
    case number:                                                                                   \
        return summary;
#include "runtime/abi/error_codes.def"
#undef CALOTYPE_ERROR_CODE
    }
    return "unknown error";
}

CALOTYPE_WEAK int calotype_error_bounds_inference_call_failed(void *user_context,
                                                              const char *extern_stage_name,
                                                              int result) {
    Text t;
    t << "bounds query of extern stage " << extern_stage_name << " failed with code " << result;
    return report(user_context, result, t);
}

CALOTYPE_WEAK int calotype_error_extern_stage_failed(void *user_context,
                                                     const char *extern_stage_name, int result) {
    Text t;
    t << "extern stage " << extern_stage_name << " failed with code " << result;
    return report(user_context, result, t);
}

CALOTYPE_WEAK int calotype_error_explicit_bounds_too_small(void *user_context,
                                                           const char *func_name,
                                                           const char *var_name, int min_bound,
                                                           int max_bound, int min_required,
                                                           int max_required) {
    Text t;
    t << "Bounds given for " << func_name << " in " << var_name << " (from " << min_bound << " to "
      << max_bound << ") do not cover required region (from " << min_required << " to "
      << max_required << ')';
    return report(user_context, calotype_error_code_explicit_bounds_too_small, t);
}

static calotype_type_t type_of_word(uint32_t word) {
    return {calotype_type_code_t(word & 0xff), uint8_t(word >> 8), uint16_t(word >> 16)};
}

CALOTYPE_WEAK int calotype_error_bad_type(void *user_context, const char *func_name,
                                          uint32_t type_given, uint32_t correct_type) {
    Text t;
    t << func_name << " has type " << type_of_word(type_given) << ", must be "
      << type_of_word(correct_type);
    return report(user_context, calotype_error_code_bad_type, t);
}

CALOTYPE_WEAK int calotype_error_bad_dimensions(void *user_context, const char *func_name,
                                                int32_t dimensions_given,
                                                int32_t correct_dimensions) {
    Text t;
    t << func_name << " has " << dimensions_given
      << (dimensions_given == 1 ? " dimension" : " dimensions") << ", must have "
      << correct_dimensions;
    return report(user_context, calotype_error_code_bad_dimensions, t);
}

CALOTYPE_WEAK int calotype_error_access_out_of_bounds(void *user_context, const char *func_name,
                                                      int dimension, int min_touched,
                                                      int max_touched, int min_valid,
                                                      int max_valid) {
    Text t;
    t << func_name << " covers " << Range{min_valid, max_valid} << " in dimension " << dimension
      << ", must cover " << Range{min_touched, max_touched};
    return report(user_context, calotype_error_code_access_out_of_bounds, t);
}

CALOTYPE_WEAK int calotype_error_buffer_allocation_too_large(void *user_context,
                                                             const char *buffer_name,
                                                             uint64_t allocation_size,
                                                             uint64_t max_size) {
    Text t;
    t << buffer_name << " takes " << allocation_size << " bytes, must take at most " << max_size;
    return report(user_context, calotype_error_code_buffer_allocation_too_large, t);
}

CALOTYPE_WEAK int calotype_error_buffer_coordinates_too_large(void *user_context,
                                                              const char *buffer_name,
                                                              int dimension, int min, int extent) {
    Text t;
    t << buffer_name << " begins at " << min << " in dimension " << dimension << " and has extent "
      << extent << ": its last coordinate is " << int64_t(min) + extent - 1
      << ", must be at most 2147483647";
    return report(user_context, calotype_error_code_buffer_coordinates_too_large, t);
}

CALOTYPE_WEAK int calotype_error_buffer_extents_negative(void *user_context,
                                                         const char *buffer_name, int dimension,
                                                         int extent) {
    Text t;
    t << buffer_name << " has extent " << extent << " in dimension " << dimension
      << ", must be at least 0";
    return report(user_context, calotype_error_code_buffer_extents_negative, t);
}

CALOTYPE_WEAK int calotype_error_buffer_extents_too_large(void *user_context,
                                                          const char *buffer_name,
                                                          int64_t actual_size, int64_t max_size) {
    Text t;
    t << buffer_name << " has " << actual_size << " elements, must have at most " << max_size;
    return report(user_context, calotype_error_code_buffer_extents_too_large, t);
}

CALOTYPE_WEAK int calotype_error_constraints_make_required_region_smaller(
    void *user_context, const char *buffer_name, int dimension, int constrained_min,
    int constrained_extent, int required_min, int required_extent) {
    Text t;
    t << "constraints make " << buffer_name << " cover "
      << from_extent(constrained_min, constrained_extent) << " in dimension " << dimension
      << ", must cover " << from_extent(required_min, required_extent);
    return report(user_context, calotype_error_code_constraints_make_required_region_smaller, t);
}

CALOTYPE_WEAK int calotype_error_constraint_violated(void *user_context, const char *var, int val,
                                                     const char *constrained_var,
                                                     int constrained_val) {
    Text value;
    value << constrained_val;
    Text t;
    t << var << " is " << val << ", must be ";
    if (strcmp(value.c_str(), constrained_var) == 0) {
        t << constrained_val;
    } else {
        t << constrained_var << ", which is " << constrained_val;
    }
    return report(user_context, calotype_error_code_constraint_violated, t);
}

template<typename T>
static int report_param_too_small(void *user_context, const char *name, T value, T min) {
    Text t;
    t << "parameter " << name << " is " << value << ", must be at least " << min;
    return report(user_context, calotype_error_code_param_too_small, t);
}

template<typename T>
static int report_param_too_large(void *user_context, const char *name, T value, T max) {
    Text t;
    t << "parameter " << name << " is " << value << ", must be at most " << max;
    return report(user_context, calotype_error_code_param_too_large, t);
}

CALOTYPE_WEAK int calotype_error_param_too_small_i64(void *user_context, const char *param_name,
                                                     int64_t val, int64_t min_val) {
    return report_param_too_small(user_context, param_name, val, min_val);
}

CALOTYPE_WEAK int calotype_error_param_too_small_u64(void *user_context, const char *param_name,
                                                     uint64_t val, uint64_t min_val) {
    return report_param_too_small(user_context, param_name, val, min_val);
}

CALOTYPE_WEAK int calotype_error_param_too_small_f64(void *user_context, const char *param_name,
                                                     double val, double min_val) {
    return report_param_too_small(user_context, param_name, val, min_val);
}

CALOTYPE_WEAK int calotype_error_param_too_large_i64(void *user_context, const char *param_name,
                                                     int64_t val, int64_t max_val) {
    return report_param_too_large(user_context, param_name, val, max_val);
}

CALOTYPE_WEAK int calotype_error_param_too_large_u64(void *user_context, const char *param_name,
                                                     uint64_t val, uint64_t max_val) {
    return report_param_too_large(user_context, param_name, val, max_val);
}

CALOTYPE_WEAK int calotype_error_param_too_large_f64(void *user_context, const char *param_name,
                                                     double val, double max_val) {
    return report_param_too_large(user_context, param_name, val, max_val);
}

CALOTYPE_WEAK int calotype_error_out_of_memory(void *user_context) {
    return report_summary(user_context, calotype_error_code_out_of_memory);
}

CALOTYPE_WEAK int calotype_error_buffer_argument_is_null(void *user_context,
                                                         const char *buffer_name) {
    Text t;
    t << "Buffer argument " << buffer_name << " is nullptr";
    return report(user_context, calotype_error_code_buffer_argument_is_null, t);
}

CALOTYPE_WEAK int calotype_error_debug_to_file_failed(void *user_context, const char *func,
                                                      const char *filename, int error_code) {
    Text t;
    t << "cannot write " << func << " to file " << filename << ": code " << error_code;
    return report(user_context, calotype_error_code_debug_to_file_failed, t);
}

CALOTYPE_WEAK int calotype_error_unaligned_host_ptr(void *user_context, const char *func_name,
                                                    int alignment) {
    Text t;
    t << "host pointer of " << func_name << " is not aligned, must be to " << alignment << " bytes";
    return report(user_context, calotype_error_code_unaligned_host_ptr, t);
}

CALOTYPE_WEAK int calotype_error_unaligned_device_ptr(void *user_context, const char *func_name,
                                                      int alignment) {
    Text t;
    t << "device address of " << func_name << " is not aligned, must be to " << alignment
      << " bytes";
    return report(user_context, calotype_error_code_unaligned_device_ptr, t);
}

CALOTYPE_WEAK int calotype_error_device_heap_exhausted(void *user_context, const char *kernel,
                                                       uint64_t bytes) {
    Text t;
    t << "device heap exhausted in kernel " << kernel << ": " << bytes
      << " bytes; make it larger with calotype_nrt_set_heap()";
    return report(user_context, calotype_error_code_device_heap_exhausted, t);
}

CALOTYPE_WEAK int calotype_error_host_is_null(void *user_context, const char *func_name) {
    Text t;
    t << "host pointer of " << func_name << " is null, but the pipeline uses it on the host";
    return report(user_context, calotype_error_code_host_is_null, t);
}

CALOTYPE_WEAK int calotype_error_bad_fold(void *user_context, const char *func_name,
                                          const char *var_name, const char *loop_name) {
    Text t;
    t << "storage of " << func_name << " is folded in " << var_name
      << ", must be accessed monotonically over loop " << loop_name;
    return report(user_context, calotype_error_code_bad_fold, t);
}

CALOTYPE_WEAK int calotype_error_bad_extern_fold(void *user_context, const char *func_name, int dim,
                                                 int min, int extent, int valid_min,
                                                 int fold_factor) {
    const Range used = from_extent(min, extent), valid = from_extent(valid_min, fold_factor);
    Text t;
    t << "extern stage of " << func_name << " uses " << used << " in dimension " << dim;
    if (used.min < valid.min || used.max > valid.max) {
        t << ", must stay within " << valid << ", which its folded storage holds";
    } else {
        t << ", must not cross a multiple of " << fold_factor << ", where its storage is folded";
    }
    return report(user_context, calotype_error_code_bad_extern_fold, t);
}

CALOTYPE_WEAK int calotype_error_fold_factor_too_small(void *user_context, const char *func_name,
                                                       const char *var_name, int fold_factor,
                                                       const char *loop_name, int required_extent) {
    Text t;
    t << "fold factor of " << func_name << " in " << var_name << " is " << fold_factor
      << ", must be at least " << required_extent << " for loop " << loop_name;
    return report(user_context, calotype_error_code_fold_factor_too_small, t);
}

CALOTYPE_WEAK int calotype_error_requirement_failed(void *user_context, const char *condition,
                                                    const char *message) {
    Text t;
    t << "requirement failed: " << condition;
    if (message && *message) {
        t << ": " << message;
    }
    return report(user_context, calotype_error_code_requirement_failed, t);
}

CALOTYPE_WEAK int calotype_error_specialize_fail(void *user_context, const char *message) {
    Text t;
    t << "no specialization matches";
    if (message && *message) {
        t << ": " << message;
    }
    return report(user_context, calotype_error_code_specialize_fail, t);
}

CALOTYPE_WEAK int calotype_error_no_device_interface(void *user_context) {
    return report_summary(user_context, calotype_error_code_no_device_interface);
}

CALOTYPE_WEAK int calotype_error_device_interface_no_device(void *user_context) {
    return report_summary(user_context, calotype_error_code_device_interface_no_device);
}

CALOTYPE_WEAK int calotype_error_host_and_device_dirty(void *user_context) {
    return report_summary(user_context, calotype_error_code_host_and_device_dirty);
}

CALOTYPE_WEAK int calotype_error_buffer_is_null(void *user_context, const char *routine) {
    Text t;
    t << "buffer given to " << routine << " is null";
    return report(user_context, calotype_error_code_buffer_is_null, t);
}

CALOTYPE_WEAK int calotype_error_device_dirty_with_no_device_support(void *user_context,
                                                                     const char *buffer_name) {
    Text t;
    t << buffer_name << " is dirty on a device, must be copied to the host: "
      << "the pipeline was compiled without device support";
    return report(user_context, calotype_error_code_device_dirty_with_no_device_support, t);
}

CALOTYPE_WEAK int calotype_error_storage_bound_too_small(void *user_context, const char *func_name,
                                                         const char *var_name, int provided_size,
                                                         int required_size) {
    Text t;
    t << "storage of " << func_name << " is bounded to " << provided_size << " in " << var_name
      << ", must be at least " << required_size;
    return report(user_context, calotype_error_code_storage_bound_too_small, t);
}

CALOTYPE_WEAK int calotype_error_device_crop_failed(void *user_context) {
    return report_summary(user_context, calotype_error_code_device_crop_failed);
}

CALOTYPE_WEAK int calotype_error_split_factor_not_positive(void *user_context,
                                                           const char *func_name, const char *orig,
                                                           const char *outer, const char *inner,
                                                           const char *factor, int value) {
    Text t;
    t << "split of " << orig << " into " << outer << " and " << inner << " in " << func_name
      << ": factor " << factor << " is " << value << ", must be at least 1";
    return report(user_context, calotype_error_code_split_factor_not_positive, t);
}

static int report_vscale(void *user_context, int code, const char *what, const char *func_name,
                         int runtime_vscale, int compiletime_vscale) {
    Text t;
    t << what << " of this machine is " << runtime_vscale << ", must be " << compiletime_vscale
      << " for " << func_name;
    return report(user_context, code, t);
}

CALOTYPE_WEAK int calotype_error_vscale_invalid(void *user_context, const char *func_name,
                                                int runtime_vscale, int compiletime_vscale) {
    return report_vscale(user_context, calotype_error_code_vscale_invalid, "vscale", func_name,
                         runtime_vscale, compiletime_vscale);
}

CALOTYPE_WEAK int calotype_error_streaming_vscale_invalid(void *user_context, const char *func_name,
                                                          int runtime_vscale,
                                                          int compiletime_vscale) {
    return report_vscale(user_context, calotype_error_code_streaming_vscale_invalid,
                         "streaming vscale", func_name, runtime_vscale, compiletime_vscale);
}
