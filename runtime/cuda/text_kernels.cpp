// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels given as PTX and launched by name.
#include "runtime/abi/runtime_cuda.h"
#include "runtime/cuda/device_symbols.h"
#include "runtime/device/text_modules.h"
#include "runtime/host/weak.h"

using namespace calotype::runtime;

/** For every architecture: what the text is for stands in it. */
static constexpr TextKind ptx = {CALOTYPE_PTX, 0, calotype_cuda_device_interface, find_ptx_kernels};

CALOTYPE_WEAK int calotype_cuda_initialize_kernels(void *user_context, void **state_ptr,
                                                   const char *src, int size) {
    return begin_text_module(user_context, state_ptr, src, size, ptx);
}

CALOTYPE_WEAK int calotype_cuda_run(void *user_context, void *state_ptr, const char *entry_name,
                                    int blocksX, int blocksY, int blocksZ, int threadsX,
                                    int threadsY, int threadsZ, int shared_mem_bytes,
                                    size_t arg_sizes[], void *args[], int8_t arg_is_buffer[]) {
    return run_text_module(user_context, state_ptr,
                           {entry_name,
                            {blocksX, blocksY, blocksZ},
                            {threadsX, threadsY, threadsZ},
                            shared_mem_bytes,
                            arg_sizes,
                            args,
                            arg_is_buffer});
}

CALOTYPE_WEAK void calotype_cuda_finalize_kernels(void *user_context, void *state_ptr) {
    end_text_module(user_context, state_ptr);
}
