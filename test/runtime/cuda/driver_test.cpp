// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finding the driver and a device: what is there, what is not, and what is said about it.
#include "runtime/cuda/fixture.h"

#include <dlfcn.h>

#include <cstring>
#include <future>
#include <thread>

#include "runtime/abi/kernel_cache.h"
#include "runtime/abi/symbols.h"

namespace {

using calotype_test::FakeCuda;
using calotype_test::Ints;

class CudaDriver : public FakeCuda {
protected:
    static std::string why_not(int min_capability = 0) {
        char text[512];
        calotype_cuda_explain(min_capability, text, sizeof text);
        return text;
    }
};

TEST_F(CudaDriver, SaysWhatCanRun) {
    EXPECT_EQ(1, calotype_cuda_can_run(0));
    EXPECT_EQ(1, calotype_cuda_can_run(90));
    EXPECT_EQ(0, calotype_cuda_can_run(100));
    EXPECT_EQ(90, calotype_cuda_capability());
    EXPECT_EQ("", why_not(90));
    EXPECT_EQ("compute capability 10.0 is needed, CUDA device 0 (fake device 0) has 9.0",
              why_not(100));
    EXPECT_EQ(0, fake_cuda::calls("cuDevicePrimaryCtxRetain"));
}

TEST_F(CudaDriver, NoLibrary) {
    EXPECT_EQ(calotype_error_code_symbol_not_found,
              calotype_cuda_set_driver_library("/no/such/libcuda.so"));
    EXPECT_EQ(0, calotype_cuda_can_run(0));
    EXPECT_EQ(-1, calotype_cuda_capability());
    EXPECT_EQ("no CUDA driver: cannot load /no/such/libcuda.so", why_not());
    Ints a(4);
    EXPECT_EQ(calotype_error_code_device_malloc_failed,
              calotype_device_malloc(nullptr, &a.buf, cuda()));
    EXPECT_EQ("device allocation failed: no CUDA driver: cannot load /no/such/libcuda.so",
              errors.take());
    int major = 7, minor = 7;
    EXPECT_EQ(0, cuda()->compute_capability(nullptr, &major, &minor));
    EXPECT_EQ(0, major + minor);
    calotype_device_release(nullptr, cuda());
}

TEST_F(CudaDriver, GivesItsFunctions) {
    const auto get_count =
        reinterpret_cast<int (*)(int *)>(calotype_cuda_get_symbol(nullptr, "cuDeviceGetCount"));
    ASSERT_NE(nullptr, get_count);
    int devices = 0;
    EXPECT_EQ(0, get_count(&devices));
    EXPECT_EQ(1, devices);
    EXPECT_EQ(nullptr, calotype_cuda_get_symbol(nullptr, "cuNoSuchFunction"));
    EXPECT_EQ(calotype_error_code_symbol_not_found,
              calotype_cuda_set_driver_library("/no/such/libcuda.so"));
    EXPECT_EQ(nullptr, calotype_cuda_get_symbol(nullptr, "cuDeviceGetCount"));
}

TEST_F(CudaDriver, NoDevice) {
    fake_cuda::set_devices({});
    start();
    EXPECT_EQ("there is a CUDA driver, but no device", why_not());
}

TEST_F(CudaDriver, TooOld) {
    fake_cuda::set_driver_version(10020);
    start();
    EXPECT_EQ("the CUDA driver is of version 10.2, at least 11.0 is needed", why_not());
}

TEST_F(CudaDriver, DoesNotStart) {
    fake_cuda::fail("cuInit", 3);
    start();
    EXPECT_EQ("the CUDA driver does not start: CUDA_ERROR_NOT_INITIALIZED (3), "
              "initialization error",
              why_not());
}

TEST_F(CudaDriver, LacksAFunction) {
    const auto old = calotype_set_custom_get_library_symbol([](void *lib, const char *name) {
        return strcmp(name, "cuLaunchKernel") == 0 ? nullptr
                                                   : calotype_default_get_library_symbol(lib, name);
    });
    start();
    EXPECT_EQ("the CUDA driver has no cuLaunchKernel; version 11.0 or later is needed, found 13.0",
              why_not());
    calotype_set_custom_get_library_symbol(old);
}

TEST_F(CudaDriver, DoesWithoutOptionalFunctions) {
    const auto old = calotype_set_custom_get_library_symbol([](void *lib, const char *name) {
        const bool hidden = strncmp(name, "cuMemPool", 9) == 0 || strcmp(name, "cuCtxGetId") == 0;
        return hidden ? nullptr : calotype_default_get_library_symbol(lib, name);
    });
    start();
    calotype_set_custom_get_library_symbol(old);
    EXPECT_EQ("", why_not());
    Ints a(10);
    a.buf.set_host_dirty();
    EXPECT_EQ(0, calotype_copy_to_device(nullptr, &a.buf, cuda()));
    EXPECT_EQ(1, fake_cuda::calls("cuMemAlloc"));
    EXPECT_EQ(7, a.on_device()[6]);
    EXPECT_EQ(0, calotype_device_free(nullptr, &a.buf));
    EXPECT_EQ(1, fake_cuda::calls("cuMemFree"));
}

TEST_F(CudaDriver, TheLargestDeviceUnlessOneIsChosen) {
    fake_cuda::set_devices({10, 30, 20});
    start();
    Ints a(4);
    EXPECT_EQ(0, calotype_device_malloc(nullptr, &a.buf, cuda()));
    EXPECT_EQ(1, fake_cuda::primary_retains(1));
    EXPECT_EQ(0, calotype_device_free(nullptr, &a.buf));

    calotype_device_release(nullptr, cuda());
    EXPECT_EQ(0, fake_cuda::primary_retains(1));
    calotype_set_gpu_device(2);
    EXPECT_EQ(0, calotype_device_malloc(nullptr, &a.buf, cuda()));
    EXPECT_EQ(1, fake_cuda::primary_retains(2));
    EXPECT_EQ(0, calotype_device_free(nullptr, &a.buf));
}

TEST_F(CudaDriver, AChosenDeviceThatIsNotThere) {
    calotype_set_gpu_device(1);
    EXPECT_EQ("device 1 is chosen, but there is one CUDA device, number 0", why_not());
    fake_cuda::set_devices({10, 10});
    start();
    calotype_set_gpu_device(2);
    EXPECT_EQ("device 2 is chosen, but there are CUDA devices, numbers 0 to 1", why_not());
}

/// What the environment says is no number: calotype_get_gpu_device answers so.
TEST_F(CudaDriver, AnEnvironmentThatNamesNoDevice) {
    setenv("CT_GPU_DEVICE", "1x", 1);
    calotype_set_gpu_device(INT32_MAX);
    EXPECT_EQ("CT_GPU_DEVICE is \"1x\", but there is one CUDA device, number 0", why_not());
    unsetenv("CT_GPU_DEVICE");
    EXPECT_EQ("device 2147483647 is chosen, but there is one CUDA device, number 0", why_not());
}

/// What the runtime would do when the thread ends has gone with the library.
TEST_F(CudaDriver, ALibraryThatIsClosedBeforeAThreadThatCalledIt) {
    void *plugin = dlopen(CUDA_PLUGIN, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(nullptr, plugin) << dlerror();
    const auto touch = reinterpret_cast<calotype_status (*)()>(dlsym(plugin, "plugin_touch"));
    std::promise<void> touched, closed;
    std::thread thread([&] {
        EXPECT_EQ(CALOTYPE_OK, touch());
        touched.set_value();
        closed.get_future().wait();
    });
    touched.get_future().wait();
    EXPECT_EQ(0, dlclose(plugin));
    EXPECT_EQ(nullptr, dlopen(CUDA_PLUGIN, RTLD_NOW | RTLD_NOLOAD));
    closed.set_value();
    thread.join();
}

}  // namespace
