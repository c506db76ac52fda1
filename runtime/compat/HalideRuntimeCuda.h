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

/* Contexts and streams are void pointers in these, for programs without cuda.h. */
typedef int (*halide_cuda_acquire_context_t)(void *user_context, void **context, bool create);
typedef int (*halide_cuda_release_context_t)(void *user_context);
typedef int (*halide_cuda_get_stream_t)(void *user_context, void *context, void **stream);

/* Handlers with these are taken beside those with the pointers of cuda.h. */
#ifdef __cplusplus
#include <type_traits>

namespace calotype {
namespace Runtime {
namespace internal {

/** Handler if it is one with void pointers. Null pointers are either, and are not meant. */
template<typename Handler, typename WithVoid, typename WithCuda>
using IfWithVoid = std::enable_if_t<std::is_convertible<Handler, WithVoid>::value &&
                                        !std::is_convertible<Handler, WithCuda>::value,
                                    WithVoid>;

}  // namespace internal
}  // namespace Runtime
}  // namespace calotype

template<typename Handler>
calotype::Runtime::internal::IfWithVoid<Handler, halide_cuda_acquire_context_t,
                                        calotype_cuda_acquire_context_t>
calotype_set_cuda_acquire_context(Handler acquire) {
    const halide_cuda_acquire_context_t handler = acquire;
    return reinterpret_cast<halide_cuda_acquire_context_t>(calotype_set_cuda_acquire_context(
        reinterpret_cast<calotype_cuda_acquire_context_t>(handler)));
}
template<typename Handler>
calotype::Runtime::internal::IfWithVoid<Handler, halide_cuda_get_stream_t,
                                        calotype_cuda_get_stream_t>
calotype_set_cuda_get_stream(Handler get) {
    const halide_cuda_get_stream_t handler = get;
    return reinterpret_cast<halide_cuda_get_stream_t>(
        calotype_set_cuda_get_stream(reinterpret_cast<calotype_cuda_get_stream_t>(handler)));
}
#else
#undef halide_set_cuda_acquire_context
#undef halide_set_cuda_get_stream
#define halide_set_cuda_acquire_context(handler)                                                   \
    ((halide_cuda_acquire_context_t)calotype_set_cuda_acquire_context(                             \
        (calotype_cuda_acquire_context_t)(handler)))
#define halide_set_cuda_get_stream(handler)                                                        \
    ((halide_cuda_get_stream_t)calotype_set_cuda_get_stream((calotype_cuda_get_stream_t)(handler)))
#endif
