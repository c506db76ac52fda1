#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# make_inputs.sh NVCC CLANG FOLDER: device code in all forms that a linkable has, as far as the
# compilers are there; "-" stands for none.
set -e
nvcc=$(command -v "$1" || echo -)
clang=$(command -v "$2" || echo -)
mkdir -p "$3"
cd "$3"
cat > vectors.h <<'END'
#ifdef __clang__
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
struct __attribute__((aligned(16))) float4 { float x, y, z, w; };
struct __attribute__((aligned(8))) int2 { int x, y; };
#endif
END
cat > rng.cu <<'END'
#include "vectors.h"
extern "C" {
__device__ int rng_table[4] = {10, 20, 30, 40};
__device__ int rng_next(int a, int b) { return a + b; }
__device__ int rng_look_up(int i) { return rng_table[i & 3]; }
__device__ short rng_small(signed char a, bool b, unsigned short c) { return b ? a : c; }
__device__ bool rng_is_odd(unsigned long long x) { return x & 1; }
__device__ double rng_half(double x) { return x / 2; }
__device__ float4 rng_scale(float4 v, float s) {
    v.x *= s, v.y *= s, v.z *= s, v.w *= s;
    return v;
}
__device__ int2 rng_swap(int2 v) { int2 r; r.x = v.y; r.y = v.x; return r; }
__device__ int rng_read(const int *p) { return *p + 1; }
__device__ void rng_put(int *p, int x) { *p = x; }
}
END
cat > fill.cu <<'END'
#include "vectors.h"
extern "C" {
__device__ int rng_seed;
__device__ int rng_next(int a, int b) { return a + b + rng_seed; }
__global__ void rng_fill(int x) { rng_seed = x; }
}
END
cat > nrt.cu <<'END'
#include "vectors.h"
extern "C" __device__ void *NRT_Allocate(unsigned long bytes);
extern "C" __device__ int rng_next(int a, int b) { return a + b + (NRT_Allocate(b) != 0); }
END
cat > heap.cu <<'END'
#include "vectors.h"
extern "C" __device__ void *NRT_Allocate(unsigned long bytes);
extern "C" __device__ void NRT_Free(void *block);
extern "C" __device__ int heap_sum(int a, int b) {
    volatile int *block = (volatile int *)NRT_Allocate(8);
    if (!block) return -1;
    block[0] = a;
    block[1] = b;
    int sum = block[0] + block[1];
    NRT_Free((void *)block);
    return sum;
}
END
cat > other.cu <<'END'
#include "vectors.h"
extern "C" __device__ int rng_missing(int a);
extern "C" __device__ int rng_other(int a) { return rng_missing(a); }
END
cat > chain.cu <<'END'
#include "vectors.h"
extern "C" __device__ int rng_next(int a, int b);
extern "C" __device__ int rng_twice(int a) { return rng_next(a, a); }
END
cat > host.c <<'END'
typedef float float4 __attribute__((ext_vector_type(4)));
int rng_table[4] = {10, 20, 30, 40};
int rng_next(int a, int b) { return a + b; }
int rng_look_up(int i) { return rng_table[i & 3]; }
float4 rng_scale(float4 v, float s) { return v * s; }
_Bool rng_is_odd(unsigned long x) { return x & 1; }
double rng_half(double x) { return x / 2; }
int rng_read(const int *p) { return *p + 1; }
short rng_small(signed char a, _Bool b, unsigned short c) { return b ? a : c; }
int rng_unused(int a) { return a; }
END
if [ "$nvcc" != - ]; then
    to() {  # OUTPUT SOURCE OPTION...
        output=$1
        source=$2
        shift 2
        "$nvcc" -rdc=true "$@" "$source" -o "$output"
    }
    to rng.ptx rng.cu -ptx -arch=compute_80
    to nrt.ptx nrt.cu -ptx -arch=compute_80
    to other.ptx other.cu -ptx -arch=compute_80
    to chain.ptx chain.cu -ptx -arch=compute_80
    to rng.cubin rng.cu -cubin -arch=sm_90
    to rng80.cubin rng.cu -cubin -arch=sm_80
    to rng.fatbin rng.cu -fatbin -gencode arch=compute_80,code=sm_80 \
        -gencode 'arch=compute_90,code=[sm_90,compute_90]'
    to multi.fatbin rng.cu -fatbin -gencode 'arch=compute_80,code=[sm_80,lto_80]' \
        -gencode arch=compute_90,code=sm_90
    to nrt.ltoir nrt.cu -ltoir -gencode arch=compute_80,code=lto_80
    to other.ltoir other.cu -ltoir -gencode arch=compute_80,code=lto_80
    to fill.ltoir fill.cu -ltoir -gencode arch=compute_80,code=lto_80
    to rng.ltoir rng.cu -ltoir -gencode arch=compute_80,code=lto_80
    to new.ltoir rng.cu -ltoir -gencode arch=compute_100,code=lto_100
    to rng.o rng.cu -c -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90
    # Fatbins with code packed in either way, or in none; older toolkits know only one.
    for mode in speed size none; do
        to $mode.fatbin rng.cu -fatbin -arch=sm_90 --compress-mode=$mode 2> /dev/null ||
            rm -f $mode.fatbin
    done
    to rng80.fatbin rng.cu -fatbin -gencode arch=compute_80,code=sm_80
    to rng80.o rng.cu -c -gencode arch=compute_80,code=sm_80
    to rng90a.ltoir rng.cu -ltoir -gencode arch=compute_90a,code=lto_90a
    to rng90a.cubin rng.cu -cubin -arch=sm_90a
    to heap.ptx heap.cu -ptx -arch=compute_80
    to heap.cubin heap.cu -cubin -arch=sm_90
    to heap.ltoir heap.cu -ltoir -gencode arch=compute_80,code=lto_80
    for name in nrt other heap; do
        to $name.o $name.cu -c -arch=sm_90
        to $name.fatbin $name.cu -fatbin -arch=sm_90
    done
    rm -f rng.a nrt.a other.a twice.a heap.a
    ar rc heap.a heap.o
    ar rc rng.a rng.o
    cp rng.o again.o
    ar rc twice.a rng.o again.o
    ar rc nrt.a nrt.o
    # Members: one with names that nobody else has, one without code for a device, LTO-IR.
    echo 'int host_only;' > host.cu
    to host.o host.cu -c -arch=sm_90
    to lto.o chain.cu -c -gencode arch=compute_80,code=lto_80
    ar rc other.a other.o host.o
    rm -f members.a
    ar rc members.a host.o lto.o other.o
fi
if [ "$clang" != - ]; then
    device() {  # OUTPUT SOURCE
        "$clang" -x cuda --cuda-device-only -nocudainc -nocudalib --cuda-gpu-arch=sm_80 -O1 -w \
            -c -emit-llvm "$2" -o "$1"
    }
    device rng.bc rng.cu
    device fill.bc fill.cu
    device nrt.bc nrt.cu
    device other.bc other.cu
    device chain.bc chain.cu
    device heap.bc heap.cu
    "$clang" -x c -O1 -c -emit-llvm host.c -o host.bc
fi
touch done
