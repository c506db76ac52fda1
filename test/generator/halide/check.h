// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The programs of this folder end with 1 at the first check that fails.
#pragma once

#include <cstdio>

#define CHECK(c)                                                                                   \
    do {                                                                                           \
        if (!(c)) {                                                                                \
            std::printf("%s:%d: %s\n", __FILE__, __LINE__, #c);                                    \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)
