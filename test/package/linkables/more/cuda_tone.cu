// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Has the name of another source of the same archive.
extern "C" __device__ int tone(int x);

extern "C" __device__ int tone_of_next(int x) {
    return tone(x + 1);
}
