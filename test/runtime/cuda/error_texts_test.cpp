// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Errors of the driver name kernel, architecture, driver and cause.
#include "harness/nothing_module.h"
#include "runtime/abi/kernel_cache.h"
#include "runtime/cuda/fixture.h"

namespace {

using calotype_test::FakeCuda;

constexpr char place[] = "kernel nothing, fake device 0 (sm_90), driver 13.0: ";

class CudaErrorTexts : public FakeCuda {
protected:
    calotype_test::NothingModule module;
    int marker = 7;
    calotype_reloc reloc = {"table", 0, sizeof marker, &marker};
    calotype_device_context on = {};

    CudaErrorTexts() {
        on.context = make_context();
    }
    void end() {
        EXPECT_EQ(CALOTYPE_OK, calotype_release_context(&on, CALOTYPE_REL_BUSY, 0));
        EXPECT_EQ(0, cuCtxDestroy_v2(on.context));
    }
    /// Of a call while that function of the driver fails.
    std::string message(const char *function, int result, int times = 1) {
        fake_cuda::fail(function, result, 1, times);
        EXPECT_NE(0, module.call(&on));
        return errors.take();
    }
};

TEST_F(CudaErrorTexts, Loading) {
    EXPECT_EQ("device code of nothing: loading failed: the driver refuses the device code: " +
                  std::string(place) +
                  "cuModuleLoadDataEx: CUDA_ERROR_NO_BINARY_FOR_GPU (209), no kernel image is "
                  "available for execution on the device",
              message("cuModuleLoadDataEx", 209));
    EXPECT_EQ(209, calotype_last_error()->driver_result);
    EXPECT_EQ("device code of nothing: loading failed: the driver refuses the device code: " +
                  std::string(place) +
                  "kernel nothing: cuModuleGetFunction: CUDA_ERROR_NOT_FOUND (500), named symbol "
                  "not found",
              message("cuModuleGetFunction", 500));
    EXPECT_EQ(0, module.call(&on));
    end();
}

TEST_F(CudaErrorTexts, TwoKernels) {
    calotype_kernel_desc kernels[] = {module.kernel, module.kernel, module.kernel};
    module.desc.kernels = kernels;
    module.desc.n_kernels = 3;
    EXPECT_EQ("device code of nothing: loading failed: out of memory: kernel nothing and 2 others, "
              "fake device 0 (sm_90), driver 13.0: cuModuleLoadDataEx: CUDA_ERROR_OUT_OF_MEMORY "
              "(2), out of memory",
              message("cuModuleLoadDataEx", 2, 2));
    end();
}

TEST_F(CudaErrorTexts, PatchingAndWhatComesAfter) {
    module.desc.relocs = &reloc;
    module.desc.n_relocs = 1;
    EXPECT_EQ("device code of nothing: patching failed: invalid argument: " + std::string(place) +
                  "symbol table: the module has no variable table",
              message("none", 0));
    module.desc.n_relocs = 0;
    EXPECT_EQ("device code of nothing: launching failed: the context is gone: kernel nothing, grid "
              "1 x 1 x 1, block 1 x 1 x 1, 0 bytes of dynamic shared memory: fake device 0 "
              "(sm_90), driver 13.0: cuLaunchKernel: CUDA error (700)",
              message("cuLaunchKernel", 700));
    end();
}

TEST_F(CudaErrorTexts, AStreamOfAnotherContext) {
    EXPECT_EQ("device code of nothing: launching failed: invalid argument: kernel nothing, grid 1 "
              "x 1 x 1, block 1 x 1 x 1, 0 bytes of dynamic shared memory: fake device 0 (sm_90), "
              "driver 13.0: cuLaunchKernel: CUDA_ERROR_INVALID_HANDLE (400), invalid resource "
              "handle",
              message("cuLaunchKernel", 400));
    end();
}

TEST_F(CudaErrorTexts, WorkOfASetupFails) {
    calotype_linkable_desc linkable = {};
    linkable.size = sizeof linkable;
    linkable.name = "table";
    linkable.setup = [](const calotype_callback_args *) {
        return 0;
    };
    const calotype_linkable_desc *const linkables[] = {&linkable};
    module.desc.linkables = linkables;
    module.desc.n_linkables = 1;
    EXPECT_EQ("device code of nothing: setting up failed: the context is gone: what setups have "
              "queued failed: cuEventQuery: CUDA error (700)",
              message("cuEventQuery", 700));
    end();
}

TEST_F(CudaErrorTexts, PinsThatAreNone) {
    calotype_hold hold, pin;
    EXPECT_EQ(CALOTYPE_OK, calotype_initialize_kernels(&on, &module.desc, nullptr, &hold));
    const calotype_hold given_back = hold;
    EXPECT_EQ(CALOTYPE_OK, calotype_finalize_kernels(&on, &hold));
    EXPECT_EQ(CALOTYPE_OK, calotype_evict(&on, &module.desc, 0));
    EXPECT_EQ(CALOTYPE_E_INVALID, calotype_pin(given_back, &pin));
    EXPECT_STREQ("what is to be pinned is no hold, or one that was given back",
                 calotype_last_error()->log);
    end();
}

}  // namespace
