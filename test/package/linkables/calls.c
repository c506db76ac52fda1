/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "calls.h"

#include <calotype/runtime/abi/linkables.h>

struct tone_calls tone_calls = {0, 0};

int tone_setup(const calotype_callback_args *args) {
    ((struct tone_calls *)args->user)->setups++;
    return args->module && args->event == CALOTYPE_EV_SETUP ? 0 : 1;
}

int tone_teardown(const calotype_callback_args *args) {
    ((struct tone_calls *)args->user)->teardowns++;
    return args->event == CALOTYPE_EV_TEARDOWN ? 0 : 1;
}
