// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Handlers for memory in which nothing has been written looks like it, and that say when something was
// written beyond its end.
#pragma once

#include <calotype/calotype.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace calotype::test {

constexpr size_t guard_bytes_around = 128;  ///< and the alignment
constexpr uint8_t unwritten = 0xa5;

inline void *guarded_malloc(JITUserContext *, size_t size) {
    void *p = nullptr;
    if (posix_memalign(&p, guard_bytes_around, size + 2 * guard_bytes_around) != 0) {
        return nullptr;
    }
    std::memset(p, unwritten, size + 2 * guard_bytes_around);
    std::memcpy(p, &size, sizeof size);
    return static_cast<uint8_t *>(p) + guard_bytes_around;
}

inline void guarded_free(JITUserContext *, void *given) {
    if (!given) {
        return;
    }
    uint8_t *p = static_cast<uint8_t *>(given);
    size_t size = 0;
    std::memcpy(&size, p - guard_bytes_around, sizeof size);
    EXPECT_TRUE(std::all_of(p + size, p + size + guard_bytes_around,
                            [](uint8_t b) { return b == unwritten; }))
        << "written beyond the end of " << size << " bytes";
    std::free(p - guard_bytes_around);
}

}  // namespace calotype::test
