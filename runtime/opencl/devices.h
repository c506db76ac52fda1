// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The devices that may be used, in the order in which they are numbered.
#pragma once

#include "runtime/abi/kernels.h"
#include "runtime/opencl/types.h"

namespace calotype::runtime::opencl {

struct Device {
    cl_platform_id platform;
    cl_device_id id;
};

/** Device `index` of those that platform name and device type allow, GPUs first; the first for -1.
 * If there is none, the cause is set. */
calotype_status choose_device(void *user_context, int index, Device *device);

/** The number of a device in that list, -1 if it is not there. */
int index_of_device(void *user_context, cl_device_id id);

}  // namespace calotype::runtime::opencl
