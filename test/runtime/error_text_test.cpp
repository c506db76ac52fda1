// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every run-time error: its code and its exact text.
#include <gtest/gtest.h>

#include "capture.h"

namespace {

class ErrorText : public ::testing::Test {
protected:
    calotype_test::CaptureErrors errors;

    void expect(int code, int returned, const std::string &text) {
        EXPECT_EQ(code, returned);
        EXPECT_EQ(text, errors.take());
    }
};

TEST_F(ErrorText, ExternStages) {
    expect(-7, calotype_error_bounds_inference_call_failed(nullptr, "f", -7),
           "bounds query of extern stage f failed with code -7");
    expect(-3, calotype_error_extern_stage_failed(nullptr, "f", -3),
           "extern stage f failed with code -3");
}

TEST_F(ErrorText, Shapes) {
    expect(-2, calotype_error_explicit_bounds_too_small(nullptr, "f", "x", 0, 9, -1, 10),
           "Bounds given for f in x (from 0 to 9) do not cover required region (from -1 to 10)");
    expect(-3,
           calotype_error_bad_type(nullptr, "input buffer in", calotype_type_of<uint8_t>().as_u32(),
                                   calotype_type_of<float>().with_lanes(4).as_u32()),
           "input buffer in has type uint8, must be float32x4");
    expect(-43, calotype_error_bad_dimensions(nullptr, "input buffer in", 2, 3),
           "input buffer in has 2 dimensions, must have 3");
    expect(-43, calotype_error_bad_dimensions(nullptr, "input buffer in", 1, 3),
           "input buffer in has 1 dimension, must have 3");
    expect(-4, calotype_error_access_out_of_bounds(nullptr, "input buffer in", 1, -1, 10, 0, 9),
           "input buffer in covers [0, 9] in dimension 1, must cover [-1, 10]");
    expect(-5,
           calotype_error_buffer_allocation_too_large(nullptr, "output buffer f", 5000000000u,
                                                      2147483647u),
           "output buffer f takes 5000000000 bytes, must take at most 2147483647");
    expect(
        -52,
        calotype_error_buffer_coordinates_too_large(nullptr, "input buffer in", 1, 2147483640, 10),
        "input buffer in begins at 2147483640 in dimension 1 and has extent 10: its last "
        "coordinate is 2147483649, must be at most 2147483647");
    expect(-28, calotype_error_buffer_extents_negative(nullptr, "input buffer in", 2, -3),
           "input buffer in has extent -3 in dimension 2, must be at least 0");
    expect(
        -6,
        calotype_error_buffer_extents_too_large(nullptr, "input buffer in", 5000000000, 2147483647),
        "input buffer in has 5000000000 elements, must have at most 2147483647");
}

TEST_F(ErrorText, Constraints) {
    expect(-7,
           calotype_error_constraints_make_required_region_smaller(nullptr, "output buffer f", 0, 0,
                                                                   10, 0, 12),
           "constraints make output buffer f cover [0, 9] in dimension 0, must cover [0, 11]");
    expect(-8, calotype_error_constraint_violated(nullptr, "in.stride.0", 3, "1", 1),
           "in.stride.0 is 3, must be 1");
    expect(-8, calotype_error_constraint_violated(nullptr, "in.min.0", 3, "out.min.0", 0),
           "in.min.0 is 3, must be out.min.0, which is 0");
    expect(-27, calotype_error_requirement_failed(nullptr, "n > 3", "n was 2"),
           "requirement failed: n > 3: n was 2");
    expect(-27, calotype_error_requirement_failed(nullptr, "n > 3", ""),
           "requirement failed: n > 3");
    expect(-31, calotype_error_specialize_fail(nullptr, "only grey images"),
           "no specialization matches: only grey images");
}

TEST_F(ErrorText, Parameters) {
    expect(-9, calotype_error_param_too_small_i64(nullptr, "n", INT64_MIN, -5),
           "parameter n is -9223372036854775808, must be at least -5");
    expect(-9, calotype_error_param_too_small_u64(nullptr, "n", 3, UINT64_MAX),
           "parameter n is 3, must be at least 18446744073709551615");
    expect(-9, calotype_error_param_too_small_f64(nullptr, "s", 0.1, 1),
           "parameter s is 0.1, must be at least 1");
    expect(-10, calotype_error_param_too_large_i64(nullptr, "n", 7, 5),
           "parameter n is 7, must be at most 5");
    expect(-10, calotype_error_param_too_large_u64(nullptr, "n", 7, 5),
           "parameter n is 7, must be at most 5");
    expect(-10, calotype_error_param_too_large_f64(nullptr, "s", 1.0 / 3, 1e-300),
           "parameter s is 0.3333333333333333, must be at most 1e-300");
}

TEST_F(ErrorText, Pointers) {
    expect(-11, calotype_error_out_of_memory(nullptr), "out of memory");
    expect(-12, calotype_error_buffer_argument_is_null(nullptr, "in"),
           "Buffer argument in is nullptr");
    expect(-24, calotype_error_unaligned_host_ptr(nullptr, "input buffer in", 32),
           "host pointer of input buffer in is not aligned, must be to 32 bytes");
    expect(-34, calotype_error_host_is_null(nullptr, "input buffer in"),
           "host pointer of input buffer in is null, but the pipeline uses it on the host");
    expect(-38, calotype_error_buffer_is_null(nullptr, "calotype_copy_to_host"),
           "buffer given to calotype_copy_to_host is null");
    expect(-13, calotype_error_debug_to_file_failed(nullptr, "f", "f.npy", -13),
           "cannot write f to file f.npy: code -13");
}

TEST_F(ErrorText, Schedules) {
    expect(-25, calotype_error_bad_fold(nullptr, "f", "y", "y.o"),
           "storage of f is folded in y, must be accessed monotonically over loop y.o");
    expect(-35, calotype_error_bad_extern_fold(nullptr, "f", 1, 0, 5, 2, 4),
           "extern stage of f uses [0, 4] in dimension 1, must stay within [2, 5], which its "
           "folded storage holds");
    expect(-35, calotype_error_bad_extern_fold(nullptr, "f", 1, 3, 2, 2, 4),
           "extern stage of f uses [3, 4] in dimension 1, must not cross a multiple of 4, where "
           "its storage is folded");
    expect(-26, calotype_error_fold_factor_too_small(nullptr, "f", "y", 4, "y.o", 7),
           "fold factor of f in y is 4, must be at least 7 for loop y.o");
    expect(-45, calotype_error_storage_bound_too_small(nullptr, "f", "x", 4, 7),
           "storage of f is bounded to 4 in x, must be at least 7");
    expect(-46,
           calotype_error_split_factor_not_positive(nullptr, "f", "x", "xo", "xi", "n + 1", -3),
           "split of x into xo and xi in f: factor n + 1 is -3, must be at least 1");
    expect(-47, calotype_error_vscale_invalid(nullptr, "f", 2, 4),
           "vscale of this machine is 2, must be 4 for f");
    expect(-49, calotype_error_streaming_vscale_invalid(nullptr, "f", 2, 4),
           "streaming vscale of this machine is 2, must be 4 for f");
    expect(-50, calotype_error_unaligned_device_ptr(nullptr, "input buffer a", 16),
           "device address of input buffer a is not aligned, must be to 16 bytes");
}

TEST_F(ErrorText, Devices) {
    expect(-19, calotype_error_no_device_interface(nullptr), "buffer has no device interface");
    expect(-36, calotype_error_device_interface_no_device(nullptr),
           "device interface without a device allocation");
    expect(-37, calotype_error_host_and_device_dirty(nullptr), "host and device are both dirty");
    expect(-41, calotype_error_device_crop_failed(nullptr), "cropping a device allocation failed");
    expect(-44, calotype_error_device_dirty_with_no_device_support(nullptr, "input buffer in"),
           "input buffer in is dirty on a device, must be copied to the host: the pipeline was "
           "compiled without device support");
}

TEST_F(ErrorText, DeviceHeap) {
    expect(-51, calotype_error_device_heap_exhausted(nullptr, "blur_s0", 5000000000u),
           "device heap exhausted in kernel blur_s0: 5000000000 bytes; make it larger with "
           "calotype_nrt_set_heap()");
}

TEST(ErrorCodes, HaveNoGaps) {
    int expected = 0;
#define CALOTYPE_ERROR_CODE(name, number, summary)                                                 \
    EXPECT_EQ(expected--, calotype_error_code_##name);                                             \
    EXPECT_STREQ(summary, calotype_error_code_summary(number));
#include "runtime/abi/error_codes.def"
#undef CALOTYPE_ERROR_CODE
    EXPECT_EQ(-53, expected);
    EXPECT_STREQ("unknown error", calotype_error_code_summary(-53));
    EXPECT_STREQ("unknown error", calotype_error_code_summary(1));
}

TEST(ErrorHandler, PrintsAndReturnsByDefault) {
    calotype_test::CapturePrint print;
    EXPECT_EQ(-11, calotype_error_out_of_memory(nullptr));
    EXPECT_EQ("error: out of memory\n", print.take());
    calotype_error(nullptr, "ends its line\n");
    EXPECT_EQ("error: ends its line\n", print.take());
}

TEST(ErrorHandler, GetsTheUserContext) {
    static void *seen;
    auto old = calotype_set_error_handler([](void *context, const char *) { seen = context; });
    int context;
    calotype_error_out_of_memory(&context);
    calotype_set_error_handler(old);
    EXPECT_EQ(&context, seen);
}

TEST_F(ErrorText, KeepsWhatIsLong) {
    const std::string name(5000, 'x');
    calotype_error_buffer_argument_is_null(nullptr, name.c_str());
    const std::string text = errors.take();
    EXPECT_NE(std::string::npos, text.find(name)) << text;
}

}  // namespace
