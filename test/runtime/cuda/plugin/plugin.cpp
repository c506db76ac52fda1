// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A library with a runtime of its own, to be closed while that makes a pool, or while a thread
// lives that has called it.
#include "runtime/abi/kernel_cache.h"
#include "runtime/abi/runtime_cuda.h"
#include "runtime/runtime.h"

/// Uses device memory; 0, or the first error.
extern "C" __attribute__((visibility("default"))) int plugin_run(const char *driver_library) {
    calotype_dimension_t dim = {0, 10, 1};
    calotype_buffer_t buf = {};
    buf.type = calotype_type_of<int>();
    buf.dimensions = 1;
    buf.dim = &dim;
    int code = calotype_cuda_set_driver_library(driver_library);
    code = code ? code : calotype_device_malloc(nullptr, &buf, calotype_cuda_device_interface());
    return code ? code : calotype_device_free(nullptr, &buf);
}

/// Makes the calling thread known to the cache, which loads nothing.
extern "C" __attribute__((visibility("default"))) calotype_status plugin_touch() {
    calotype_limits limits = {};
    limits.size = sizeof limits;
    return calotype_set_limits(&limits);
}
