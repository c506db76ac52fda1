// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The functions of the OpenCL library, found when they are first needed.
#pragma once

#include "runtime/opencl/types.h"

namespace calotype::runtime::opencl {

struct Driver {
#define CALOTYPE_CL(result, name, parameters) result(*name) parameters;
#define CALOTYPE_CL_OPTIONAL CALOTYPE_CL
#include "runtime/opencl/driver.def"
#undef CALOTYPE_CL_OPTIONAL
#undef CALOTYPE_CL
};

/** The library, loaded once a process; null with the cause set (errors.h) if there is
 * none, which the next call tries again. */
const Driver *load_driver();

/** Load this library the next time, null for the usual ones. */
void choose_library(const char *file_name);

/** For code that holds an object of OpenCL, so that the library must be there. */
const Driver &cl();

}  // namespace calotype::runtime::opencl
