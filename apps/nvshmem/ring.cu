// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Our half on the GPU: what a kernel asks of NVSHMEM.
#ifdef __clang__
// As the library's bitcode has them; its headers are nvcc's to compile.
extern "C" __device__ int nvshmem_my_pe();
extern "C" __device__ int nvshmem_n_pes();
extern "C" __device__ void nvshmem_float_p(float *to, float value, int pe);
#else
#include <nvshmem.h>
#endif

/// Puts a value into place `index` of the next processing element's inbox, and answers that
/// element's number. `inbox` is an address of symmetric memory, so it names the same array there.
extern "C" __device__ int ring_put(unsigned long long inbox, int index, float value) {
    const int next = (nvshmem_my_pe() + 1) % nvshmem_n_pes();
    nvshmem_float_p(reinterpret_cast<float *>(inbox) + index, value, next);
    return next;
}
