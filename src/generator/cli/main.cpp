// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <iostream>

#include "generator/cli/run.h"

int main(int argc, char **argv) {
    return calotype::internal::generator_main(std::vector<std::string>(argv + 1, argv + argc),
                                              std::cout, std::cerr);
}
