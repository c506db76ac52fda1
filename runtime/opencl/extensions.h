// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What OpenCL C asks for beyond the language, and what the device has of it.
#pragma once

#include <stddef.h>

#include "runtime/host/text.h"
#include "runtime/opencl/context.h"

namespace calotype {
namespace runtime {
namespace opencl {

/** Logs the first extension that the text enables and the device has not, with the target feature
 * that made the compiler use it. False: there is none, or the device does not say what it has. */
bool explain_lack_of_extension(const DeviceScope &scope, const char *text, size_t size, Text &out);

}  // namespace opencl
}  // namespace runtime
}  // namespace calotype
