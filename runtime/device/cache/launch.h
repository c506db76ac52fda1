// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Launches, done now or later.
#pragma once

#include "runtime/device/cache/module.h"

namespace calotype::runtime {

struct Launch {
    void *user_context;
    uint32_t kernel;
    const uint32_t *grid, *block;
    uint32_t dynamic_shared_bytes;
    void *stream;  ///< null: that of the call
    void **args;
    const calotype_kernel_desc *as = nullptr;  ///< null: the kernel as the module describes it
};

/** The shape that generated code gives: grid, block, dynamic shared bytes. */
struct LaunchShape {
    uint32_t size[7];
    bool is_empty;  ///< there is nothing to launch

    Launch launch(void *user_context, uint32_t kernel, void **args) const {
        return {user_context, kernel, size, size + 3, size[6], nullptr, args};
    }
};

// All describe their failures as this thread's last error.

calotype_status read_shape(const calotype_hold &hold, uint32_t kernel, const int32_t shape[7],
                           LaunchShape *out);
/** The module that is held, if it has that kernel. */
calotype_status find_kernel(const calotype_hold &hold, uint32_t kernel,
                            const LoadedModule **module);
/** The scope of a call for a module that it holds; with KernelBackend::release. */
calotype_status acquire_held(const LoadedModule &module, void *user_context, DeviceScope *scope);
/** Refuse what no device could run. */
calotype_status check_launch(const LoadedModule &module, const Launch &launch);
calotype_status launch_now(const LoadedModule &module, const Launch &launch);
/** All of these, for a module that is held. */
calotype_status launch_held(const calotype_hold &hold, const Launch &launch);

}  // namespace calotype::runtime
