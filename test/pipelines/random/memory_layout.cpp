// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "memory_layout.h"

#include <algorithm>
#include <cstring>

namespace calotype::test {

namespace {

constexpr int padding = 3, guard_bytes = 64;
constexpr uint8_t untouched = 0xa5;

struct Strides {
    int x, y;
    int first = 0;  ///< where the image's first element lies
};

Strides strides(MemoryLayout layout, int width, int height) {
    switch (layout) {
    case MemoryLayout::Dense:
        break;
    case MemoryLayout::PaddedRows:
        return {1, width + padding};
    case MemoryLayout::Columns:
        return {height, 1};
    case MemoryLayout::Interleaved:
        return {2, 2 * width};
    case MemoryLayout::Upwards:
        return {1, -width, width * std::max(height - 1, 0)};
    }
    return {1, width};
}

}  // namespace

bool has_dense_rows(MemoryLayout layout) {
    return layout != MemoryLayout::Columns && layout != MemoryLayout::Interleaved;
}

LaidOutImage::LaidOutImage(const Buffer<void> &shape, MemoryLayout layout) {
    const int width = shape.dim(0).extent(), height = shape.dim(1).extent();
    const Strides s = strides(layout, width, height);
    const size_t elements = size_t(2 * width + padding) * size_t(height),
                 bytes(shape.type().bytes());
    memory_.assign(elements * bytes + 2 * guard_bytes, untouched);
    const calotype_dimension_t dimensions[] = {{shape.dim(0).min(), width, s.x, 0},
                                               {shape.dim(1).min(), height, s.y, 0}};
    image_ = Buffer<void>(shape.type(), memory_.data() + guard_bytes + size_t(s.first) * bytes, 2,
                          dimensions);
}

bool LaidOutImage::others_untouched() {
    for (int y = image_.dim(1).min(); y <= image_.dim(1).max(); y++) {
        for (int x = image_.dim(0).min(); x <= image_.dim(0).max(); x++) {
            std::memset(image_.raw_buffer()->address_of(std::vector<int>{x, y}.data()), untouched,
                        size_t(image_.type().bytes()));
        }
    }
    return std::all_of(memory_.begin(), memory_.end(), [](uint8_t b) { return b == untouched; });
}

}  // namespace calotype::test
