// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a test's driver uses as user context, where the runtime wants a calotype_device_context.
#pragma once

#include "runtime/abi/device_context.h"

namespace calotype_test {

inline const calotype_device_context *on(const void *user_context) {
    return static_cast<const calotype_device_context *>(user_context);
}

}  // namespace calotype_test
