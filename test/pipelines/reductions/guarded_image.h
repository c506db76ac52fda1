// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Images beside memory that may not be touched.
#pragma once

#include <calotype/calotype.h>

#include <cstddef>
#include <memory>

namespace calotype::test {

/// Whoever reads or writes beyond it, at its end or its begin, does so in a page that has no access rights.
class GuardedImage {
public:
    /// Dense, of that type and region; its last byte is that before a page without rights, or its first that after one.
    GuardedImage(const Buffer<void> &shape, bool at_end);

    const Buffer<void> &image() const {
        return image_;
    }

private:
    std::shared_ptr<void> pages_;
    Buffer<void> image_;
};

}  // namespace calotype::test
