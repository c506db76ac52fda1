// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "factor.h"

extern "C" __device__ int tone(int x) {
    return FACTOR * x;
}
