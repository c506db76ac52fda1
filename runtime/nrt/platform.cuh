/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the device runtime needs of the machine: a heap, two atomic additions, a trap. On the device
 * in PTX, which nvcc and clang take without a header of the toolkit; in tests on the host from the
 * compiler, with a heap of the test's.
 */
#ifndef CALOTYPE_NRT_PLATFORM_CUH
#define CALOTYPE_NRT_PLATFORM_CUH

#include <stddef.h>

#if defined(__CUDACC__) || defined(__CUDA__)

#if defined(__clang__) && !defined(__device__)
#define __device__ __attribute__((device))
extern "C" __device__ void *malloc(size_t size);
extern "C" __device__ void free(void *ptr);
#endif
#define CALOTYPE_NRT_DEVICE __device__

static __device__ inline void *heap_allocate(size_t size) {
    return malloc(size);
}
static __device__ inline void heap_free(void *ptr) {
    free(ptr);
}
/** Relaxed. */
static __device__ inline void add_relaxed(size_t *to, size_t n) {
    asm volatile("red.add.u64 [%0], %1;" ::"l"(to), "l"(n) : "memory");
}
/** The value before. Acquires and releases. */
static __device__ inline size_t take_one(size_t *from) {
    size_t before;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
    asm volatile("atom.acq_rel.gpu.add.u64 %0, [%1], -1;" : "=l"(before) : "l"(from) : "memory");
#else
    asm volatile("membar.gl;\n\tatom.add.u64 %0, [%1], -1;\n\tmembar.gl;"
                 : "=l"(before)
                 : "l"(from)
                 : "memory");
#endif
    return before;
}
static __device__ inline size_t load_relaxed(const size_t *from) {
    return *static_cast<const volatile size_t *>(from);
}
static __device__ inline void trap() {
    asm volatile("trap;");
}

#else

#define CALOTYPE_NRT_DEVICE
extern "C" void *nrt_test_allocate(size_t size);
extern "C" void nrt_test_free(void *ptr);
extern "C" void nrt_test_trap();

static inline void *heap_allocate(size_t size) {
    return nrt_test_allocate(size);
}
static inline void heap_free(void *ptr) {
    nrt_test_free(ptr);
}
static inline void add_relaxed(size_t *to, size_t n) {
    __atomic_fetch_add(to, n, __ATOMIC_RELAXED);
}
static inline size_t take_one(size_t *from) {
    return __atomic_fetch_sub(from, size_t(1), __ATOMIC_ACQ_REL);
}
static inline size_t load_relaxed(const size_t *from) {
    return __atomic_load_n(from, __ATOMIC_RELAXED);
}
static inline void trap() {
    nrt_test_trap();
}

#endif
#endif
