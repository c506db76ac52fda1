// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The suite of what every device must do, on the fake OpenCL and on a real one.
#include "opencl_test.h"
#include "runtime/conformance/conformance.h"

namespace calotype_test {

namespace {

using namespace calotype::runtime;

class OpenClDevice : public ConformanceDevice {
    void *library;

protected:
    template<typename Function>
    Function *function(const char *name) {
        auto *found = reinterpret_cast<Function *>(dlsym(library, name));
        EXPECT_NE(nullptr, found) << name;
        return found;
    }

public:
    /** Null: a real library. */
    explicit OpenClDevice(const char *file) {
        calotype_opencl_set_driver_library(file);
        library = dlopen(file ? file : "libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    }
    std::string why_not() override {
        char text[512];
        calotype_opencl_explain(text, sizeof text);
        return text;
    }
    const calotype_device_interface_t *(*device_interface())() override {
        return calotype_opencl_device_interface;
    }
    void *make_context() override {
        cl_platform_id platform = nullptr;
        cl_device_id device = nullptr;
        cl_int error = 0;
        cl_uint count = 0;
        function<cl_int(cl_uint, cl_platform_id *, cl_uint *)>("clGetPlatformIDs")(1, &platform,
                                                                                   &count);
        function<cl_int(cl_platform_id, cl_bitfield, cl_uint, cl_device_id *, cl_uint *)>(
            "clGetDeviceIDs")(platform, CL_DEVICE_TYPE_ALL, 1, &device, &count);
        cl_context context =
            function<cl_context(const cl_properties *, cl_uint, const cl_device_id *,
                                cl_context_notify, void *, cl_int *)>("clCreateContext")(
                nullptr, 1, &device, nullptr, nullptr, &error);
        EXPECT_EQ(CL_SUCCESS, error);
        cl_command_queue queue =
            function<cl_command_queue(cl_context, cl_device_id, cl_bitfield, cl_int *)>(
                "clCreateCommandQueue")(context, device, 0, &error);
        EXPECT_EQ(CL_SUCCESS, error);
        return new calotype_device_context(CALOTYPE_DEVICE_CONTEXT(context, queue));
    }
    void end_context(void *user_context) override {
        auto *given = static_cast<calotype_device_context *>(user_context);
        function<cl_int(void *)>("clReleaseCommandQueue")(given->stream);
        function<cl_int(void *)>("clReleaseContext")(given->context);
        delete given;
    }
    calotype_image image() override {
        const char *text = conformance_opencl_c();
        return {CALOTYPE_OPENCL_C, 0, 0, text, strlen(text)};
    }
    uint64_t native_handle(calotype_buffer_t *buf) override {
        return calotype_opencl_get_cl_mem(nullptr, buf);
    }
};

class FakeOpenClDevice : public OpenClDevice {
public:
    FakeOpenClDevice() : OpenClDevice(FAKE_OPENCL_LIBRARY) {
        fake().reset();
        for (const ConformanceKernel &kernel : conformance_kernels()) {
            fake().add_kernel(kernel.name, kernel.function);
        }
    }
    ~FakeOpenClDevice() override {
        EXPECT_EQ(fake().live(nullptr), 0);
        EXPECT_EQ(fake().misuses(), 0);
    }
};

std::unique_ptr<ConformanceDevice> make_fake_device() {
    return std::make_unique<FakeOpenClDevice>();
}

std::unique_ptr<ConformanceDevice> make_real_device() {
    return std::make_unique<OpenClDevice>(nullptr);
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(FakeOpenCl, Conformance, ::testing::Values(make_fake_device));
INSTANTIATE_TEST_SUITE_P(RealOpenCl, Conformance, ::testing::Values(make_real_device));

}  // namespace calotype_test
