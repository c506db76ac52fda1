#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# make_link_inputs.sh NVCC FOLDER: a kernel that calls add_ext(), and add_ext(), in all forms.
set -e
nvcc=$1
mkdir -p "$2"
cd "$2"
cat > add.cu <<'END'
extern "C" __device__ int add_ext(int a, int b) { return a + b * 3; }
END
cat > kernel.cu <<'END'
extern "C" __device__ int add_ext(int a, int b);
extern "C" __global__ void kernel(int *p) { p[threadIdx.x] = add_ext(p[threadIdx.x], 7); }
END
cat > nrt.cu <<'END'
extern "C" __device__ void *NRT_Allocate(size_t bytes);
extern "C" __device__ int add_ext(int a, int b) { return a + (NRT_Allocate(b) != 0); }
END
to() {  # OUTPUT SOURCE OPTION...
    output=$1
    source=$2
    shift 2
    "$nvcc" -rdc=true "$@" "$source" -o "$output"
}
to kernel.ptx kernel.cu -ptx -arch=compute_90
to kernel.ltoir kernel.cu -ltoir -gencode arch=compute_90,code=lto_90
to add.ptx add.cu -ptx -arch=compute_90
to nrt.ptx nrt.cu -ptx -arch=compute_90
to add.cubin add.cu -cubin -arch=sm_90
to add.fatbin add.cu -fatbin -gencode arch=compute_90,code=sm_90
to multi.fatbin add.cu -fatbin -gencode 'arch=compute_90,code=[sm_90,lto_90]'
to add.ltoir add.cu -ltoir -gencode arch=compute_90,code=lto_90
to old.ltoir add.cu -ltoir -gencode arch=compute_80,code=lto_80
to new.ltoir add.cu -ltoir -gencode arch=compute_100,code=lto_100
to add80.cubin add.cu -cubin -arch=sm_80
to add80.fatbin add.cu -fatbin -gencode arch=compute_80,code=sm_80
to add.o add.cu -c -arch=sm_90
rm -f add.a
ar rc add.a add.o
touch done
