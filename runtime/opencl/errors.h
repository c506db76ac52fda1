// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names of OpenCL's error codes, and their reporting (device/failure.h).
#pragma once

#include "runtime/abi/errors.h"
#include "runtime/abi/kernels.h"
#include "runtime/device/failure.h"
#include "runtime/opencl/types.h"

namespace calotype::runtime::opencl {

/** "CL_OUT_OF_RESOURCES"; "unknown error" for a number that OpenCL does not have. */
const char *error_name(cl_int error);

/** What the driver's functions answer, as a status. */
calotype_status status_of(cl_int error);

/** "clFinish failed: CL_OUT_OF_RESOURCES (-5)". */
Text describe_error(cl_int error, const char *function);

/** Tell describe_error(); answers status_of(). */
calotype_status explain(cl_int error, const char *function);

}  // namespace calotype::runtime::opencl
