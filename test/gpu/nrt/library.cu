/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A library of somebody else that uses the device runtime. */
#if defined(__clang__) && !defined(__device__)
#define __device__ __attribute__((device))
#endif

#include "runtime/nrt/calotype_nrt.cuh"

extern "C" __device__ int library_allocate_and_free(int *result) {
    NRT_Free(NRT_Allocate(1));
    return *result = 0;
}
