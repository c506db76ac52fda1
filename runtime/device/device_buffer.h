// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "runtime/abi/device_interface.h"

namespace calotype {
namespace runtime {

/** calotype_device_malloc() of a buffer without device memory, but for reporting a failure. */
int allocate_on_device(void *user_context, calotype_buffer_t *buf,
                       const calotype_device_interface_t *device_interface);
/** For CT_LOG=memory: what happens to the device copy. */
void log_memory(const char *what, const calotype_buffer_t &buf);

}  // namespace runtime
}  // namespace calotype
