// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Halide::Tools::halide_enable_malloc_trace: prints every allocation of pipelines.
#pragma once

#include <cstdint>
#include <iostream>

#include "HalideRuntime.h"

namespace calotype {
namespace Tools {

inline void *halide_malloc_trace(void *user_context, size_t size) {
    void *memory = calotype_default_malloc(user_context, size);
    std::cout << "halide_malloc => [" << memory << ", "
              << static_cast<void *>(static_cast<uint8_t *>(memory) + size) << "), # size:" << size
              << std::endl;
    return memory;
}

inline void halide_free_trace(void *user_context, void *memory) {
    std::cout << "halide_free => " << memory << std::endl;
    calotype_default_free(user_context, memory);
}

inline void halide_enable_malloc_trace() {
    calotype_set_custom_malloc(halide_malloc_trace);
    calotype_set_custom_free(halide_free_trace);
}

}  // namespace Tools
}  // namespace calotype
