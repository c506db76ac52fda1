/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * CUDA devices under the names that Halide gives their functions.
 */
#pragma once

#include "../abi/runtime_cuda.h"
#include "HalideRuntime.h"

#define halide_cuda_acquire_context calotype_cuda_acquire_context
#define halide_cuda_detach_device_ptr calotype_cuda_detach_device_ptr
#define halide_cuda_device_interface calotype_cuda_device_interface
#define halide_cuda_finalize_kernels calotype_cuda_finalize_kernels
#define halide_cuda_get_device_ptr calotype_cuda_get_device_ptr
#define halide_cuda_get_stream calotype_cuda_get_stream
#define halide_cuda_initialize_kernels calotype_cuda_initialize_kernels
#define halide_cuda_release_context calotype_cuda_release_context
#define halide_cuda_release_unused_device_allocations                                              \
    calotype_cuda_release_unused_device_allocations
#define halide_cuda_run calotype_cuda_run
#define halide_cuda_wrap_device_ptr calotype_cuda_wrap_device_ptr
#define halide_set_cuda_acquire_context calotype_set_cuda_acquire_context
#define halide_set_cuda_get_stream calotype_set_cuda_get_stream
#define halide_set_cuda_release_context calotype_set_cuda_release_context
