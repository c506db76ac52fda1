// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Images whose elements do not lie in memory one row after another.
#pragma once

#include <cstdint>
#include <vector>

#include "calotype.h"

namespace calotype::test {

enum class MemoryLayout {
    Dense,
    PaddedRows,   ///< other bytes between the rows
    Columns,      ///< one column after another
    Interleaved,  ///< every other element is of another image
    Upwards,      ///< the last row first
};

/// Whether neighbours in x are neighbours in memory, as pipelines take for granted unless they are
/// told otherwise.
bool has_dense_rows(MemoryLayout layout);

/// An image, and the memory around it.
class LaidOutImage {
public:
    /// Of that type and region.
    LaidOutImage(const Buffer<void> &shape, MemoryLayout layout);

    const Buffer<void> &image() const {
        return image_;
    }
    /// Whether all other bytes are as they were. The image's own are lost.
    bool others_untouched();

private:
    std::vector<uint8_t> memory_;
    Buffer<void> image_;
};

}  // namespace calotype::test
