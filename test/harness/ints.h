// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A buffer of ints with memory of its own.
#pragma once

#include <vector>

#include "runtime/abi/buffer.h"
#include "runtime/abi/type_of.h"

namespace calotype_test {

struct Ints {
    std::vector<int> data;
    calotype_dimension_t dim[1];
    calotype_buffer_t buf = {};

    /// In ascending numbers from 1 on.
    explicit Ints(int n) : data(size_t(n)), dim{{0, n, 1}} {
        for (int i = 0; i < n; i++) {
            data[size_t(i)] = i + 1;
        }
        buf.host = reinterpret_cast<uint8_t *>(data.data());
        buf.type = calotype_type_of<int>();
        buf.dimensions = 1;
        buf.dim = dim;
    }
    int *on_device() const {
        return reinterpret_cast<int *>(buf.device);
    }
};

}  // namespace calotype_test
