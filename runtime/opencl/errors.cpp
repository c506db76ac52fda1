// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/opencl/errors.h"

namespace calotype::runtime::opencl {

const char *error_name(cl_int error) {
    switch (error) {
#define CALOTYPE_CL_ERROR(number, name)                                                            \
    case number:                                                                                   \
        return #name;
#include "runtime/opencl/errors.def"
#undef CALOTYPE_CL_ERROR
    default:
        return "unknown error";
    }
}

calotype_status status_of(cl_int error) {
    switch (error) {
    case CL_SUCCESS:
        return CALOTYPE_OK;
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
    case CL_OUT_OF_RESOURCES:
    case CL_OUT_OF_HOST_MEMORY:
        return CALOTYPE_E_OOM;
    case CL_INVALID_CONTEXT:
        return CALOTYPE_E_CONTEXT_LOST;
    default:
        return CALOTYPE_E_DEVICE;
    }
}

Text describe_error(cl_int error, const char *function) {
    Text text;
    text << function << " failed: " << error_name(error) << " (" << error << ")";
    return text;
}

calotype_status explain(cl_int error, const char *function) {
    return fail_with(status_of(error), describe_error(error, function), error);
}

}  // namespace calotype::runtime::opencl
