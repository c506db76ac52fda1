// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The functions of test/codegen/linkables/make_inputs.sh in OpenCL C.
__constant int rng_table[4] = {10, 77, 30, 40};

int rng_next(int a, int b) {
    return a + b;
}

int rng_look_up(int i) {
    return rng_table[i & 3];
}

short rng_small(char a, bool b, ushort c) {
    return b ? (short)a : (short)c;
}

bool rng_is_odd(ulong x) {
    return (x & 1) != 0;
}

double rng_half(double x) {
    return x / 2;
}

float4 rng_scale(float4 v, float s) {
    return v * s;
}
