/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <calotype/runtime/abi/linkables.h>

int plus_one(int x) {
    return x + 1;
}

int plus_one_setup(const calotype_callback_args *args) {
    return args->event == CALOTYPE_EV_SETUP ? 0 : 1;
}
