// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <calotype/runtime.h>

#include "brighten_shared.h"

extern "C" int plugin_brighten(calotype_buffer_t *in, calotype_buffer_t *out) {
    return brighten_shared(in, 2, out);
}

extern "C" void plugin_set_num_threads(int n) {
    calotype_set_num_threads(n);
}
