/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The kernels of S40. Addresses of results come as numbers. */
#ifdef __clang__
// Without the toolkit's headers.
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
static inline __device__ unsigned atomicAdd(unsigned *to, unsigned n) {
    return __atomic_fetch_add(to, n, __ATOMIC_RELAXED);
}
static inline __device__ int thread_index() {
    return __nvvm_read_ptx_sreg_tid_x();
}
static inline __device__ int block_size() {
    return __nvvm_read_ptx_sreg_ntid_x();
}
static inline __device__ int block_index() {
    return __nvvm_read_ptx_sreg_ctaid_x();
}
#else
static inline __device__ int thread_index() {
    return threadIdx.x;
}
static inline __device__ int block_size() {
    return blockDim.x;
}
static inline __device__ int block_index() {
    return blockIdx.x;
}
#endif

#include "runtime/nrt/calotype_nrt.cuh"

#include "work.cuh"

/** In library.cu. */
extern "C" __device__ int library_allocate_and_free(int *result);

#define KERNEL extern "C" __global__ void

KERNEL objects(int n) {
    int ignored;
    s40_objects(&ignored, n);
}
KERNEL references(int n) {
    int ignored;
    s40_references(&ignored, n);
}
KERNEL varsize(int n) {
    int ignored;
    s40_varsize(&ignored, n);
}
KERNEL varsize_dtor(int n, unsigned long long counter) {
    int ignored;
    s40_varsize_dtor(&ignored, n, counter);
}
KERNEL library() {
    int ignored;
    library_allocate_and_free(&ignored);
}
KERNEL alignments(unsigned long long counter) {
    int ignored;
    s40_alignments(&ignored, counter);
}
KERNEL exhaust(int n, unsigned long long size) {
    int ignored;
    s40_exhaust(&ignored, n, size);
}
KERNEL create(unsigned long long objects, unsigned long long ends, int n, int holders) {
    int ignored;
    const int i = block_index() * block_size() + thread_index();
    if (i < n) {
        s40_create(&ignored, objects, ends, i, holders);
    }
}
/** Each block drops one reference of each object. */
KERNEL drop(unsigned long long objects, int n) {
    int ignored;
    for (int i = thread_index(); i < n; i += block_size()) {
        s40_drop(&ignored, objects, i);
    }
}
