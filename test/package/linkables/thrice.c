/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
int tone(int x) {
    return 3 * x;
}
