// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A module of one kernel that does nothing, for any CUDA driver.
#pragma once

#include "harness/module_desc.h"
#include "runtime/abi/runtime_cuda.h"

namespace calotype_test {

struct NothingModule {
    static constexpr char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                                  ".visible .entry nothing() { ret; }\n";
    calotype_image image = {CALOTYPE_PTX, 70, 0, ptx, sizeof ptx - 1};
    calotype_kernel_desc kernel = {"nothing", nullptr, 0, 0, 0, 0};
    calotype_module_desc desc =
        module_desc("nothing", calotype_cuda_device_interface, image, &kernel, 1);

    NothingModule() {
        desc.opt_level = 3;
    }
    NothingModule(const NothingModule &) = delete;

    /** What generated code does for a function with one kernel; 0 or its error code. */
    int call(void *user_context) const {
        const int32_t shape[7] = {1, 1, 1, 1, 1, 1, 0};
        calotype_hold hold;
        int code = calotype_begin_kernels(user_context, &desc, &hold);
        if (code == 0) {
            code = calotype_run_kernel(user_context, &hold, 0, shape, nullptr);
            calotype_end_kernels(user_context, &hold);
        }
        return code;
    }
};

}  // namespace calotype_test
