// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What tests of the OpenCL back end share: the fake or a real library as the driver, and modules
// made of OpenCL C.
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "harness/fake_opencl/fake_opencl.h"
#include "runtime/abi/device_context.h"
#include "runtime/abi/device_interface_impl.h"
#include "runtime/abi/runtime_opencl.h"
#include "runtime/buffer.h"
#include "runtime/device/failure.h"
#include "runtime/device/kernel_backend.h"
#include "runtime/runtime.h"

namespace calotype_test {

inline const FakeOpenClControl &fake() {
    return fake_opencl(FAKE_OPENCL_LIBRARY);
}

/** A function of the fake, as an application calls it. */
template<typename Function>
Function *fake_function(const char *name) {
    void *library = dlopen(FAKE_OPENCL_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    return reinterpret_cast<Function *>(dlsym(library, name));
}

inline std::vector<std::string> &reported_errors() {
    static std::vector<std::string> errors;
    return errors;
}

/** Keeps what is reported instead of printing it, and gives the device up at the end. */
class OpenClTest : public testing::Test {
protected:
    void SetUp() override {
        reported_errors().clear();
        calotype_set_error_handler(
            [](void *, const char *text) { reported_errors().push_back(text); });
    }
    void TearDown() override {
        calotype_device_release(nullptr, calotype_opencl_device_interface());
        calotype_opencl_set_platform_name(nullptr);
        calotype_opencl_set_device_type(nullptr);
        calotype_opencl_set_build_options(nullptr);
        calotype_set_gpu_device(-1);
        calotype_set_error_handler(nullptr);
    }
    /** The errors reported since the last call, one a line. */
    static std::string errors() {
        std::string all;
        for (const std::string &error : reported_errors()) {
            all += error + "\n";
        }
        reported_errors().clear();
        return all;
    }
};

/** Skipped on a machine to which the tests came without the fake. */
class FakeOpenClTest : public OpenClTest {
    const bool has_fake = dlopen(FAKE_OPENCL_LIBRARY, RTLD_NOW | RTLD_LOCAL) != nullptr;

protected:
    void SetUp() override {
        OpenClTest::SetUp();
        if (!has_fake) {
            GTEST_SKIP() << "no library " << FAKE_OPENCL_LIBRARY;
        }
        fake().reset();
        ASSERT_EQ(calotype_opencl_set_driver_library(FAKE_OPENCL_LIBRARY), 0);
    }
    void TearDown() override {
        OpenClTest::TearDown();
        if (has_fake) {
            EXPECT_EQ(fake().live(nullptr), 0);
            EXPECT_EQ(fake().misuses(), 0);
        }
    }
};

/** Skipped where there is no OpenCL device; PoCL is one on the CPU. */
class RealOpenClTest : public OpenClTest {
protected:
    void SetUp() override {
        OpenClTest::SetUp();
        calotype_opencl_set_driver_library(nullptr);
        if (!calotype_opencl_can_run()) {
            char why[512];
            calotype_opencl_explain(why, sizeof why);
            GTEST_SKIP() << why;
        }
    }
};

inline const calotype::runtime::KernelBackend &backend() {
    return *static_cast<const calotype::runtime::KernelBackend *>(
        calotype_opencl_device_interface()->impl->kernels);
}

using namespace calotype::runtime;

/** A context of an application, with its queue. */
class OwnContext {
    using CreateContext = cl_context(const cl_properties *, cl_uint, const cl_device_id *,
                                     cl_context_notify, void *, cl_int *);
    using CreateQueue = cl_command_queue(cl_context, cl_device_id, cl_bitfield, cl_int *);

public:
    cl_context context;
    cl_device_id device;
    cl_command_queue queue;
    calotype_device_context as_user_context;

    OwnContext() {
        cl_int error = 0;
        cl_uint count = 0;
        fake_function<cl_int(cl_platform_id, cl_bitfield, cl_uint, cl_device_id *, cl_uint *)>(
            "clGetDeviceIDs")(nullptr, CL_DEVICE_TYPE_GPU, 1, &device, &count);
        context = fake_function<CreateContext>("clCreateContext")(nullptr, 1, &device, nullptr,
                                                                  nullptr, &error);
        queue = make_queue();
        as_user_context = CALOTYPE_DEVICE_CONTEXT(context, queue);
    }
    cl_command_queue make_queue() {
        cl_int error = 0;
        return fake_function<CreateQueue>("clCreateCommandQueue")(context, device, 0, &error);
    }
    static void release(cl_command_queue queue) {
        fake_function<cl_int(cl_command_queue)>("clReleaseCommandQueue")(queue);
    }
    void end() {
        release(queue);
        fake_function<cl_int(cl_context)>("clReleaseContext")(context);
    }
    uint64_t uid() {
        calotype::runtime::DeviceScope scope = {};
        EXPECT_EQ(backend().acquire(&as_user_context, &scope), CALOTYPE_OK);
        const uint64_t id = scope.context_uid;
        backend().release(scope);
        return id;
    }
};

/** A module of one kernel, with its descriptor. */
class OneKernel {
    std::string source, name;
    std::vector<calotype_kernel_arg> arguments;
    calotype_image image;
    calotype_kernel_desc kernel;
    calotype_module_desc module;

public:
    OneKernel(std::string name, std::string source, std::vector<calotype_kernel_arg> arguments,
              uint32_t flags = 0)
        : source(std::move(source)), name(std::move(name)), arguments(std::move(arguments)) {
        image = {CALOTYPE_OPENCL_C, 0, 0, this->source.c_str(), this->source.size()};
        kernel = {this->name.c_str(),
                  this->arguments.data(),
                  uint32_t(this->arguments.size()),
                  0,
                  0,
                  flags};
        module = {};
        module.size = sizeof module;
        module.abi = CALOTYPE_ABI_VERSION;
        module.name = "module";
        const size_t hash = std::hash<std::string>()(this->source);
        memcpy(module.uid.b, &hash, sizeof hash);
        module.device_interface = calotype_opencl_device_interface;
        module.images = &image;
        module.n_images = 1;
        module.kernels = &kernel;
        module.n_kernels = 1;
    }
    OneKernel(const OneKernel &) = delete;
    OneKernel &operator=(const OneKernel &) = delete;

    const calotype_module_desc &desc() const {
        return module;
    }
    const calotype_kernel_desc &kernel_desc() const {
        return kernel;
    }
};

constexpr calotype_kernel_arg buffer_argument = {1, 8, 0, 1};
constexpr calotype_kernel_arg int_argument = {0, 4, 0, 0};

/** A module built and loaded by the back end's own functions, without the cache. */
class LoadedKernel {
    calotype::runtime::DeviceScope scope = {};
    const OneKernel &kernel;
    void *module = nullptr, *function = nullptr;

public:
    calotype_status status = CALOTYPE_OK;
    std::string log;        ///< what was told of the last failure
    int driver_result = 0;  ///< of the call that it is about

    LoadedKernel(void *user_context, const OneKernel &kernel) : kernel(kernel) {
        const calotype::runtime::FailureScope failures;
        calotype::runtime::LoadableImage image = {};
        calotype::runtime::DeviceArch arch = {};
        status = backend().acquire(user_context, &scope);
        if (status == CALOTYPE_OK) {
            status = backend().build(scope, arch, kernel.desc(), &image);
        }
        if (status == CALOTYPE_OK) {
            status = backend().load(scope, kernel.desc(), image, &module);
        }
        if (status == CALOTYPE_OK) {
            status = backend().get_function(scope, module, kernel.kernel_desc().name, &function);
        }
        if (image.owned) {
            free(const_cast<void *>(image.bytes));
        }
        note_failure();
    }
    ~LoadedKernel() {
        if (function) {
            backend().close_function(function, true);
            backend().free_function(function);
        }
        if (module) {
            backend().unload(scope, module);
        }
        if (scope.context) {
            backend().release(scope);
        }
    }
    calotype_status launch(std::vector<uint32_t> grid, std::vector<uint32_t> block,
                           std::vector<void *> arguments, uint32_t shared = 0) {
        const calotype::runtime::FailureScope failures;
        const calotype_status answer =
            backend().launch(scope, function, kernel.kernel_desc(), grid.data(), block.data(),
                             shared, nullptr, arguments.data());
        if (answer != CALOTYPE_OK) {
            note_failure();
        }
        return answer;
    }

private:
    void note_failure() {
        log = calotype::runtime::failure_text();
        driver_result = calotype::runtime::failure_result();
    }
};

}  // namespace calotype_test
