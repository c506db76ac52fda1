// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A library with a runtime of its own, to be closed while a context lives that it has used.
#include "runtime/abi/runtime_opencl.h"
#include "runtime/runtime.h"

/// Uses device memory; 0, or the first error.
extern "C" __attribute__((visibility("default"))) int plugin_run(const char *driver_library,
                                                                 void *user_context) {
    calotype_dimension_t dim = {0, 10, 1, 0};
    calotype_buffer_t buf = {};
    buf.type = calotype_type_of<int>();
    buf.dimensions = 1;
    buf.dim = &dim;
    int code = calotype_opencl_set_driver_library(driver_library);
    code = code ? code
                : calotype_device_malloc(user_context, &buf, calotype_opencl_device_interface());
    return code ? code : calotype_device_free(user_context, &buf);
}
