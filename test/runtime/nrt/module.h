// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Modules with the device runtime on the fake CUDA driver. Their kernels are the device code of the
// runtime, run on the processor, which counts where the module's TheMSys points.
#pragma once

#include <cstdlib>
#include <cstring>
#include <string>

#include "runtime/abi/nrt.h"
#include "runtime/cuda/fixture.h"
#include "runtime/nrt/on_host.h"

namespace calotype_test {

/// A module of one kernel, `work`, which calls what the test has set.
struct NrtModuleOnFake {
    std::string name, text;
    calotype_image image = {};
    calotype_kernel_desc kernel = {"work", nullptr, 0, 0, 0, 0};
    calotype_module_desc desc = {};

    explicit NrtModuleOnFake(const std::string &name, uint32_t flags = CALOTYPE_MOD_NRT,
                             bool is_linked = true)
        : name(name),
          text(".version 6.0\n.target sm_60\n.address_size 64\n// " + name + "\n" +
               (is_linked ? ".visible .global .align 8 .u64 TheMSys;\n" : "") +
               ".visible .global .align 8 .u64 patched;\n.visible .entry work() { ret; }\n") {
        image = {CALOTYPE_PTX, 60, 0, text.c_str(), text.size()};
        desc.size = sizeof desc;
        desc.abi = CALOTYPE_ABI_VERSION;
        desc.name = this->name.c_str();
        strncpy(reinterpret_cast<char *>(desc.uid.b), name.c_str(), sizeof desc.uid.b);
        desc.device_interface = calotype_cuda_device_interface;
        desc.images = &image;
        desc.n_images = 1;
        desc.kernels = &kernel;
        desc.n_kernels = 1;
        desc.flags = flags;
    }
    NrtModuleOnFake(const NrtModuleOnFake &) = delete;
};

class NrtHost : public FakeCuda {
protected:
    /// What `work` does, and where TheMSys pointed when it ran.
    static inline void (*work)() = nullptr;
    static inline calotype_nrt_memsys *seen = nullptr;

    NrtHost() {
        setenv("CT_NVJITLINK", "off", 1);
        nrt_on_host::reset_heap();
        fake_cuda::define_kernel("work", [](const FakeLaunch &) {
            void *variable = fake_cuda::global("TheMSys");
            seen = variable ? *static_cast<calotype_nrt_memsys **>(variable) : nullptr;
            TheMSys = seen;
            if (work) {
                work();
            }
            TheMSys = nullptr;
        });
        work = nullptr;
    }
    ~NrtHost() override {
        calotype_shutdown(1000);
        unsetenv("CT_NVJITLINK");
        EXPECT_EQ(0, fake_cuda::live_modules());
    }

    static calotype_status load(const NrtModuleOnFake &module, void *context = nullptr) {
        calotype_hold hold;
        const calotype_status status =
            calotype_initialize_kernels(context, &module.desc, nullptr, &hold);
        if (status == CALOTYPE_OK) {
            EXPECT_EQ(CALOTYPE_OK, calotype_finalize_kernels(context, &hold));
        }
        return status;
    }
    /// Where TheMSys of the module points when its kernel does that work.
    static calotype_nrt_memsys *run(const NrtModuleOnFake &module, void (*does)() = nullptr,
                                    void *context = nullptr) {
        const uint32_t one[3] = {1, 1, 1};
        calotype_hold hold;
        work = does;
        EXPECT_EQ(CALOTYPE_OK, calotype_initialize_kernels(context, &module.desc, nullptr, &hold));
        EXPECT_EQ(CALOTYPE_OK, calotype_launch(context, hold, 0, one, one, 0, nullptr, nullptr));
        EXPECT_EQ(CALOTYPE_OK, calotype_finalize_kernels(context, &hold));
        return seen;
    }
    /// "alloc free mi_alloc mi_free failed", or the status
    static std::string counts(void *context = nullptr) {
        calotype_nrt_stats stats = {};
        stats.size = sizeof stats;
        const calotype_status status = calotype_nrt_read(context, &stats);
        if (status != CALOTYPE_OK) {
            return calotype_status_text(status);
        }
        EXPECT_EQ(1u, stats.enabled);
        return std::to_string(stats.alloc) + " " + std::to_string(stats.free_) + " " +
               std::to_string(stats.mi_alloc) + " " + std::to_string(stats.mi_free) + " " +
               std::to_string(stats.failed);
    }
    /// "stage: log"
    static std::string last_error() {
        const calotype_error_info *info = calotype_last_error();
        return std::to_string(info->stage) + ": " + info->log;
    }
};

}  // namespace calotype_test
