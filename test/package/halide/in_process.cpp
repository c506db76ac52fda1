// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiles in process.
#include "Halide.h"

#include <cstdio>

int main() {
    Halide::Func squares("squares");
    Halide::Var x("x");
    squares(x) = x * x;
    Halide::Buffer<int> result = squares.realize({10});
    printf("%s\n", result(9) == 81 ? "in process works" : "wrong");
    return 0;
}
