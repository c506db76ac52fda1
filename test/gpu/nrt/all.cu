/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Kernels and library in one program, for the runtime as bitcode. */
#include "kernels.cu"
#include "library.cu"
