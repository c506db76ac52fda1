// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "guarded_image.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <vector>

namespace calotype::test {

namespace {

constexpr int garbage = 0x6d;

}  // namespace

GuardedImage::GuardedImage(const Buffer<void> &shape, bool at_end) {
    std::vector<calotype_dimension_t> dimensions;
    int32_t elements = 1;
    for (int d = 0; d < shape.dimensions(); d++) {
        dimensions.push_back({shape.dim(d).min(), shape.dim(d).extent(), elements, 0});
        elements *= std::max(shape.dim(d).extent(), 0);
    }
    const size_t page = size_t(sysconf(_SC_PAGESIZE)),
                 bytes = size_t(elements) * size_t(shape.type().bytes()),
                 inside = (bytes + page - 1) / page * page, all = inside + 2 * page;
    auto *const begin =
        static_cast<uint8_t *>(mmap(nullptr, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (begin == MAP_FAILED) {
        throw std::bad_alloc();
    }
    pages_ = std::shared_ptr<void>(begin, [all](void *p) { munmap(p, all); });
    if (inside > 0) {
        mprotect(begin + page, inside, PROT_READ | PROT_WRITE);
        std::memset(begin + page, garbage, inside);
    }
    uint8_t *const data = begin + page + (at_end ? inside - bytes : 0);
    image_ = Buffer<void>(shape.type(), data, shape.dimensions(), dimensions.data());
}

}  // namespace calotype::test
