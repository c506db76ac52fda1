// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A library with a callback that counts its calls in memory of the caller.
#include "runtime/abi/linkables.h"

extern "C" __attribute__((visibility("default"))) int
plugin_teardown(const calotype_callback_args *args) {
    ++*static_cast<int *>(args->user);
    return 0;
}
