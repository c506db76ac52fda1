// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Buffers that are counted while they are alive.
#pragma once

#include "pipeline/parameter.h"

namespace calotype_test {

/// Raises `count` as long as it lives; has no memory.
class CountedStorage : public calotype::internal::BufferStorage {
public:
    explicit CountedStorage(int &count) : count(count) {
        count++;
    }
    ~CountedStorage() override {
        count--;
    }
    calotype_buffer_t *raw() override {
        return nullptr;
    }
    int &count;
};

}  // namespace calotype_test
