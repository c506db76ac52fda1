/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What one thread does in the scenarios of S40, written against the device runtime's interface
 * alone: compiled with our header or, to compare, with numba-cuda's (compare_numba.py). The first
 * parameter and the result are what numba-cuda asks of a function; we do not need them.
 */
#define S40 extern "C" __device__ int

/** Objects with a payload of 64 bytes, one after another. */
S40 s40_objects(int *result, int n) {
    for (int i = 0; i < n; i++) {
        NRT_decref(NRT_MemInfo_alloc_aligned(64, 16));
    }
    return *result = 0;
}

S40 s40_references(int *result, int n) {
    for (int i = 0; i < n; i++) {
        NRT_MemInfo *mi = NRT_MemInfo_alloc_aligned(64, 16);
        NRT_incref(mi);
        NRT_decref(mi);
        NRT_decref(mi);
    }
    return *result = 0;
}

S40 s40_varsize(int *result, int n) {
    for (int i = 0; i < n; i++) {
        NRT_decref(NRT_MemInfo_new_varsize(64));
    }
    return *result = 0;
}

/** The payload begins with the address of a counter. */
__device__ void s40_end_element(void *payload, size_t, void *) {
    atomicAdd(*(unsigned **)payload, 1u);
}

S40 s40_varsize_dtor(int *result, int n, unsigned long long counter) {
    for (int i = 0; i < n; i++) {
        NRT_MemInfo *mi = NRT_MemInfo_new_varsize_dtor(64, s40_end_element);
        *(unsigned **)NRT_MemInfo_data_fast(mi) = (unsigned *)counter;
        NRT_decref(mi);
    }
    return *result = 0;
}

/** How many of the payloads are not aligned as asked for: 8, 16, ... 1024. */
S40 s40_alignments(int *result, unsigned long long counter) {
    for (unsigned align = 8; align <= 1024; align *= 2) {
        NRT_MemInfo *mi = NRT_MemInfo_alloc_aligned(100, align);
        if ((size_t)NRT_MemInfo_data_fast(mi) % align != 0) {
            atomicAdd((unsigned *)counter, 1u);
        }
        NRT_decref(mi);
    }
    return *result = 0;
}

/** Blocks of that size, all at the same time, as far as there is memory. */
S40 s40_exhaust(int *result, int n, unsigned long long size) {
    void *blocks[32];
    for (int i = 0; i < n; i++) {
        blocks[i] = NRT_Allocate(size);
    }
    for (int i = 0; i < n; i++) {
        if (blocks[i]) {
            NRT_Free(blocks[i]);
        }
    }
    return *result = 0;
}

__device__ void s40_end_object(void *payload, size_t, void *) {
    atomicAdd((unsigned *)payload, 1u);
}

/** Object number `i` with so many references; its end is counted in ends[i]. */
S40 s40_create(int *result, unsigned long long objects, unsigned long long ends, int i,
               int holders) {
    NRT_MemInfo *mi = NRT_MemInfo_new((unsigned *)ends + i, 4, s40_end_object, nullptr);
    ((NRT_MemInfo **)objects)[i] = mi;
    if (mi) {
        for (int h = 1; h < holders; h++) {
            NRT_incref(mi);
        }
    }
    return *result = 0;
}

S40 s40_drop(int *result, unsigned long long objects, int i) {
    NRT_decref(((NRT_MemInfo **)objects)[i]);
    return *result = 0;
}
