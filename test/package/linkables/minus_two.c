/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <calotype/runtime/abi/linkables.h>

int minus_two(int x) {
    return x - 2;
}

int minus_two_setup(const calotype_callback_args *args) {
    return args->event == CALOTYPE_EV_SETUP ? 0 : 1;
}
