// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A CUDA driver, real or fake, under the conformance suite.
#pragma once

#include <dlfcn.h>

#include <cstring>

#include "runtime/abi/device_context.h"
#include "runtime/abi/runtime_cuda.h"
#include "runtime/conformance/conformance.h"

namespace calotype_test {

class CudaDevice : public ConformanceDevice {
    void *library;

    template<typename... Args>
    void call(const char *name, Args... args) {
        auto *function = reinterpret_cast<int (*)(Args...)>(dlsym(library, name));
        ASSERT_NE(nullptr, function) << name;
        EXPECT_EQ(0, function(args...)) << name;
    }

public:
    /// Null: the real driver.
    explicit CudaDevice(const char *file) {
        calotype_cuda_set_driver_library(file);
        library = dlopen(file ? file : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    }
    std::string why_not() override {
        char text[512];
        calotype_cuda_explain(0, text, sizeof text);
        return text;
    }
    const calotype_device_interface_t *(*device_interface())() override {
        return calotype_cuda_device_interface;
    }
    void *make_context() override {
        void *context = nullptr, *stream = nullptr, *popped = nullptr;
        call("cuCtxCreate_v2", &context, 0u, 0);
        call("cuStreamCreate", &stream, 1u);
        call("cuCtxPopCurrent_v2", &popped);
        return new calotype_device_context(CALOTYPE_DEVICE_CONTEXT(context, stream));
    }
    void end_context(void *user_context) override {
        auto *given = static_cast<calotype_device_context *>(user_context);
        call("cuCtxDestroy_v2", given->context);
        delete given;
    }
    calotype_image image() override {
        const char *text = conformance_ptx();
        return {CALOTYPE_PTX, 50, 0, text, strlen(text)};
    }
    uint64_t native_handle(calotype_buffer_t *buf) override {
        return calotype_cuda_get_device_ptr(nullptr, buf);
    }
};

}  // namespace calotype_test
