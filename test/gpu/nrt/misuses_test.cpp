// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The device runtime's form for debugging on a GPU: it traps on each misuse, which ends the
// context, so each has a process of its own.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "codegen/device_runtime_images.h"
#include "gpu/nrt/real_cuda.h"
#include "harness/module_desc.h"
#include "harness/on_context.h"
#include "harness/processes.h"
#include "runtime/abi/device_interface.h"
#include "runtime/abi/hooks.h"
#include "runtime/abi/kernel_cache.h"
#include "runtime/abi/linkables.h"
#include "runtime/abi/runtime_cuda.h"

namespace calotype::internal {
extern const DeviceRuntimeImage misuse_images[];
}

namespace calotype_test {

namespace {

using calotype::internal::device_runtime_debug_images;
using calotype::internal::DeviceRuntimeImage;
using calotype::internal::misuse_images;

const char *const misuses[] = {
#define MISUSE(name, call) #name,
#include "gpu/nrt/misuses.def"
#undef MISUSE
};
constexpr int n_misuses = int(std::size(misuses));

calotype_image image_of(const DeviceRuntimeImage &row) {
    return {row.kind, row.sm, 0, row.bytes, row.size};
}

/// The kernel, linked with that form.
struct Misuser {
    calotype_image image = image_of(misuse_images[0]);
    calotype_image runtime_image = image_of(device_runtime_debug_images[0]);
    calotype_kernel_arg kind = {0, 4, 0, 0};
    calotype_kernel_desc kernel = {"misuse", &kind, 1, 0, 0, 0};
    calotype_linkable_desc runtime = {};
    const calotype_linkable_desc *linkables[1] = {&runtime};
    calotype_module_desc desc =
        module_desc("misuser", calotype_cuda_device_interface, image, &kernel, 1);

    Misuser() {
        runtime.size = sizeof runtime;
        runtime.name = "calotype_nrt";
        runtime.content.b[0] = 1;
        runtime.images = &runtime_image;
        runtime.n_images = 1;
        desc.linkables = linkables;
        desc.n_linkables = 1;
        desc.flags = CALOTYPE_MOD_NRT | CALOTYPE_MOD_DEBUG;
    }
    Misuser(const Misuser &) = delete;
};

class Misuses : public ::testing::Test {
protected:
    static inline std::string errors;

    void SetUp() override {
        if (!has_real_cuda()) {
            GTEST_SKIP() << "no CUDA device";
        }
        calotype_set_store_dir(nullptr, 0, CALOTYPE_STORE_OFF);
    }
    /// What the host is told when the kernel has run.
    static std::string after(RealContext &context, const Misuser &misuser, int kind) {
        calotype_set_error_handler([](void *, const char *text) { errors += text; });
        calotype_hold hold;
        EXPECT_EQ(CALOTYPE_OK,
                  calotype_initialize_kernels(&context.on, &misuser.desc, nullptr, &hold))
            << calotype_last_error()->log;
        const uint32_t one[3] = {1, 1, 1};
        void *args[] = {&kind};
        EXPECT_EQ(CALOTYPE_OK, calotype_launch(&context.on, hold, 0, one, one, 0, nullptr, args))
            << calotype_last_error()->log;
        const int code = calotype_device_sync_global(&context.on, calotype_cuda_device_interface());
        EXPECT_EQ(CALOTYPE_OK, calotype_finalize_kernels(&context.on, &hold));
        return code == 0 ? "nothing" : errors;
    }
};

TEST_F(Misuses, OneProcess) {
    if (!is_process_of_test()) {
        GTEST_SKIP() << "started by the test below in processes of their own";
    }
    static Misuser &misuser = *new Misuser;
    RealContext &context = *new RealContext;
    uint64_t uid = 0;
    EXPECT_EQ(CALOTYPE_OK,
              calotype_context_uid(on(&context.on), calotype_cuda_device_interface(), &uid));
    const int kind = std::stoi(process_setting("CALOTYPE_MISUSE"));
    process_report() << after(context, misuser, kind) << std::flush;
    if (kind < n_misuses) {
        EXPECT_EQ(CALOTYPE_OK, calotype_context_lost(uid));
    }
    exit(HasFailure() ? 1 : 0);
}

TEST_F(Misuses, AreTrappedAndReported) {
    Processes processes;
    for (int kind = 0; kind <= n_misuses; kind++) {
        processes.start("Misuses.OneProcess", {"CALOTYPE_MISUSE=" + std::to_string(kind)});
    }
    const std::vector<std::string> said = processes.end();
    for (int kind = 0; kind < n_misuses; kind++) {
        EXPECT_EQ("device synchronisation failed: cuCtxSynchronize: CUDA_ERROR_LAUNCH_FAILED "
                  "(719), unspecified launch failure",
                  said[size_t(kind)])
            << misuses[kind];
    }
    EXPECT_EQ("nothing", said[n_misuses]) << "objects that are used as they should be";
}

}  // namespace

}  // namespace calotype_test
