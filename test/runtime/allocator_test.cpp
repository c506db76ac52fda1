// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory of pipelines, and how to replace it.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "runtime/runtime.h"

namespace {

TEST(Allocator, AlignsEverySize) {
    std::vector<void *> blocks;
    for (size_t size : {0, 1, 7, 63, 64, 65, 127, 128, 129, 1000, 4096, 100000}) {
        void *p = calotype_malloc(nullptr, size);
        ASSERT_NE(nullptr, p);
        EXPECT_EQ(0u, reinterpret_cast<uintptr_t>(p) % calotype_malloc_alignment) << size;
        memset(p, 0xa5, size);
        blocks.push_back(p);
    }
    for (void *p : blocks) {
        calotype_free(nullptr, p);
    }
}

TEST(Allocator, LetsAVectorBeReadPastBothEnds) {
    for (size_t size : {1, 64, 1000}) {
        auto *p = static_cast<volatile uint8_t *>(calotype_malloc(nullptr, size));
        int sum = 0;
        for (int i = 1; i <= 64; i++) {
            sum += p[size - 1 + i];  // checked by the address sanitizer
            sum += i <= 64 ? p[-i] : 0;
        }
        (void)sum;
        calotype_free(nullptr, const_cast<uint8_t *>(p));
    }
}

TEST(Allocator, SaysNoToWhatCannotBe) {
    EXPECT_EQ(nullptr, calotype_malloc(nullptr, SIZE_MAX));
    EXPECT_EQ(nullptr, calotype_malloc(nullptr, SIZE_MAX - 300));
    EXPECT_EQ(nullptr, calotype_malloc(nullptr, SIZE_MAX / 2));
    calotype_free(nullptr, nullptr);
}

int mallocs, frees;

TEST(Allocator, CanBeReplaced) {
    mallocs = frees = 0;
    auto old_malloc = calotype_set_custom_malloc([](void *user_context, size_t size) {
        mallocs++;
        return calotype_default_malloc(user_context, size);
    });
    auto old_free = calotype_set_custom_free([](void *user_context, void *p) {
        frees++;
        calotype_default_free(user_context, p);
    });
    calotype_free(nullptr, calotype_malloc(nullptr, 10));
    EXPECT_EQ(1, mallocs);
    EXPECT_EQ(1, frees);
    calotype_set_custom_malloc(nullptr);
    calotype_set_custom_free(nullptr);
    calotype_free(nullptr, calotype_malloc(nullptr, 10));
    EXPECT_EQ(1, mallocs);
    EXPECT_EQ(1, frees);
    EXPECT_EQ(old_malloc, calotype_default_malloc);
    EXPECT_EQ(old_free, calotype_default_free);
}

}  // namespace
