// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels given as OpenCL C and launched by name, under the names that other generators call.
#include "opencl_test.h"

#include <thread>

#include "harness/cache_stats.h"
#include "runtime/compat/HalideRuntimeOpenCL.h"

using calotype::Runtime::Buffer;
using calotype_test::cache_stats;

namespace {

const char text[] = R"(
// __kernel void in_a_comment() {}
/* __kernel void in_another() {} */
#define TEXT "__kernel void in_a_directive() {}"
__kernel void declared(__global int *data);
__kernel void add(const int amount, __global int *restrict data, __local int *shared) {
    shared[get_local_id(0)] = data[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    data[get_global_id(0)] = shared[get_local_id(0)] + amount;
}
kernel __attribute__((reqd_work_group_size(4, 1, 1))) void
scale(__global const int *from, __global int *to, float by) __attribute__((vec_type_hint(int))) {
    to[get_global_id(0)] = (int)(from[get_global_id(0)] * by);
}
)";

class RealOpenClText : public calotype_test::RealOpenClTest {
protected:
    void *state = nullptr;
    Buffer<int> data{16}, result{16};
    const calotype_device_interface_t *opencl = calotype_opencl_device_interface();

    void SetUp() override {
        RealOpenClTest::SetUp();
        if (!IsSkipped()) {
            calotype_set_store_dir(nullptr, 0, CALOTYPE_STORE_OFF);
            calotype_shutdown(1000);
            calotype_reset_stats();
            send();
            EXPECT_EQ(0, result.device_malloc(opencl));
        }
    }
    void TearDown() override {
        if (!IsSkipped()) {
            data.device_free();
            result.device_free();
            EXPECT_EQ(0u, cache_stats().holds);
            EXPECT_EQ("", errors());
        }
        RealOpenClTest::TearDown();
    }
    void send() {
        data.for_each_element([&](int i) { data(i) = i * 3 - 7; });
        data.set_host_dirty();
        EXPECT_EQ(0, data.copy_to_device(opencl));
    }
    static int initialize(void **at, const char *source = text) {
        return halide_opencl_initialize_kernels(nullptr, at, source, int(strlen(source)));
    }
    int add(const Buffer<int> &to, int amount, int shared_bytes = 32) {
        size_t sizes[] = {4, 8, 0};
        void *args[] = {&amount, const_cast<Buffer<int> &>(to).raw_buffer(), nullptr};
        int8_t is_buffer[] = {0, 1, 0};
        return halide_opencl_run(nullptr, state, "add", 2, 1, 1, 8, 1, 1, shared_bytes, sizes, args,
                                 is_buffer);
    }
    int scale(float by, const char *kernel = "scale", int n_args = 3) {
        size_t sizes[] = {8, 8, 4, 0};
        void *args[] = {data.raw_buffer(), result.raw_buffer(), &by, nullptr};
        int8_t is_buffer[] = {1, 1, 0, 0};
        sizes[n_args] = 0;
        return halide_opencl_run(nullptr, state, kernel, 4, 1, 1, 4, 1, 1, 0, sizes, args,
                                 is_buffer);
    }
    template<typename F>
    static void check(Buffer<int> &of, F expected) {
        of.set_device_dirty();
        ASSERT_EQ(0, of.copy_to_host());
        const Buffer<int> &read = of;  // to read is not to write
        for (int i = 0; i < 16; i++) {
            EXPECT_EQ(expected(i * 3 - 7), read(i)) << i;
        }
    }
};

TEST_F(RealOpenClText, InitializeRunFinalize) {
    for (int i = 0; i < 3; i++) {
        ASSERT_EQ(0, initialize(&state)) << errors();
        EXPECT_EQ(0, scale(2.5f)) << errors();
        check(result, [](int v) { return int(float(v) * 2.5f); });
        EXPECT_EQ(0, add(data, 40 + i)) << errors();
        check(data, [&](int v) { return v + 40 + i; });
        send();
        EXPECT_EQ(1u, cache_stats().holds);
        halide_opencl_finalize_kernels(nullptr, state);
    }
    EXPECT_EQ(1u, cache_stats().compiles);
    EXPECT_EQ(1u, cache_stats().loads);
    EXPECT_EQ(2u, cache_stats().hits);
}

TEST_F(RealOpenClText, OtherThreadsMayRun) {
    ASSERT_EQ(0, initialize(&state));
    std::thread([&] { EXPECT_EQ(0, scale(-1.0f)); }).join();
    check(result, [](int v) { return -v; });
    halide_opencl_finalize_kernels(nullptr, state);
}

TEST_F(RealOpenClText, Errors) {
    EXPECT_NE(0, scale(1.0f));
    EXPECT_EQ("the kernels are not initialized\n", errors());
    EXPECT_NE(0, initialize(&state, "__kernel void broken(int a) { return a +; }"));
    EXPECT_NE(std::string::npos, errors().find("does not compile"));
    state = nullptr;
    ASSERT_EQ(0, initialize(&state));
    EXPECT_NE(0, scale(1.0f, "declared"));
    EXPECT_EQ("the module has no kernel declared\n", errors());
    EXPECT_NE(0, scale(1.0f, "scale", 1));
    EXPECT_NE(std::string::npos,
              errors().find("kernel scale has 3 parameters, its description asks for 1\n"));
    Buffer<int> part = data.cropped(0, 8, 8);
    EXPECT_NE(0, add(part, 1));
    EXPECT_NE(std::string::npos,
              errors().find("kernel add, argument 1: the buffer begins 32 bytes into its memory "
                            "object, the kernel takes what begins at 0\n"));
    halide_opencl_finalize_kernels(nullptr, state);
    halide_opencl_finalize_kernels(nullptr, state);
    EXPECT_EQ("kernels are finalized that this thread has not initialized\n", errors());
}

}  // namespace
