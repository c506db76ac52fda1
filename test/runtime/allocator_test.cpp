// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory of pipelines, and how to replace it.
#include <gtest/gtest.h>

#include <barrier>
#include <cstdint>
#include <cstring>
#include <set>
#include <thread>
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

TEST(Allocator, KeepsBlocksForTheNextThatAsk) {
    for (size_t size : {9000, 15000, 20000, 300000, 20000000}) {
        void *first = calotype_malloc(nullptr, size);
        memset(first, 1, size);
        calotype_free(nullptr, first);
        void *second = calotype_malloc(nullptr, size - size / 10);
        void *other = calotype_malloc(nullptr, size);
        EXPECT_NE(second, other);
        memset(second, 2, size - size / 10);
        memset(other, 3, size);
        EXPECT_EQ(2, *static_cast<char *>(second));
#if !defined(__SANITIZE_ADDRESS__)
        EXPECT_EQ(first, second);
#endif
        calotype_free(nullptr, other);
        calotype_free(nullptr, second);
        // A fifth of it is no use of it.
        void *smaller = calotype_malloc(nullptr, size / 5);
        EXPECT_NE(second, smaller);
        EXPECT_NE(other, smaller);
        calotype_free(nullptr, smaller);
    }
}

#if !defined(__SANITIZE_ADDRESS__)
TEST(Allocator, KeepsBlocksForThoseThatGrow) {
    std::set<void *> blocks;
    for (size_t size = 800000; size < 1600000; size += 5000) {
        void *block = calotype_malloc(nullptr, size);
        blocks.insert(block);
        memset(block, 1, size);
        calotype_free(nullptr, block);
    }
    EXPECT_LE(blocks.size(), 12u);
}

TEST(Allocator, KeepsBlocksForThoseThatGrowALotInEachCall) {
    // From one to eighty times the size: more different sizes than there are blocks.
    std::set<void *> blocks, of_call;
    const auto call = [&] {
        size_t added = blocks.size();
        of_call.clear();
        for (size_t size = 20000; size < 1600000; size += 12000) {
            void *block = calotype_malloc(nullptr, size);
            blocks.insert(block);
            of_call.insert(block);
            memset(block, 1, size);
            calotype_free(nullptr, block);
        }
        return blocks.size() - added;
    };
    call();
    call();
    EXPECT_LE(call(), 1u);
    // A few that are in the cache.
    EXPECT_LE(of_call.size(), 5u);
}
#endif

// Rows of images have a place of their own: many of them leave a large block where it is.
TEST(Allocator, KeepsLargeBlocksBesideManyRows) {
    const size_t large = 3000000;
    void *first = calotype_malloc(nullptr, large);
    calotype_free(nullptr, first);
    std::vector<void *> rows;
    for (int i = 0; i < 100; i++) {
        rows.push_back(calotype_malloc(nullptr, size_t(1500 + i * 100)));
    }
    for (void *row : rows) {
        calotype_free(nullptr, row);
    }
    void *second = calotype_malloc(nullptr, large);
#if !defined(__SANITIZE_ADDRESS__)
    EXPECT_EQ(first, second);
#endif
    calotype_free(nullptr, second);
}

TEST(Allocator, KeepsLittle) {
    // More blocks, and more bytes, than are kept: all are whole, and none is given out twice.
    for (size_t size : {20000, 10000000}) {
        std::vector<void *> blocks;
        for (int round = 0; round < 2; round++) {
            for (int i = 0; i < 40; i++) {
                blocks.push_back(calotype_malloc(nullptr, size));
                memset(blocks.back(), i, size);
            }
            for (int i = 0; i < 40; i++) {
                EXPECT_EQ(i, static_cast<char *>(blocks[size_t(i)])[size - 1]);
                calotype_free(nullptr, blocks[size_t(i)]);
            }
            blocks.clear();
        }
    }
}

TEST(Allocator, KeepsBlocksOfManyThreads) {
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; t++) {
        threads.emplace_back([t] {
            for (int i = 0; i < 2000; i++) {
                const size_t size = 20000 + size_t(i % 7) * 5000;
                auto *p = static_cast<char *>(calotype_malloc(nullptr, size));
                p[0] = p[size - 1] = char(t);
                std::this_thread::yield();
                EXPECT_EQ(t, p[0]);
                EXPECT_EQ(t, p[size - 1]);
                calotype_free(nullptr, p);
            }
        });
    }
    for (std::thread &t : threads) {
        t.join();
    }
}

#if !defined(__SANITIZE_ADDRESS__)
// What a thread has freed is in the cache of its processor.
TEST(Allocator, GivesAThreadItsOwnBlocks) {
    for (size_t size : {2000, 30000}) {
        std::barrier step(2);
        void *first[2], *second[2];
        const auto round = [&](int thread, void **blocks) {
            for (int turn = 0; turn < 2; turn++) {
                if (turn == thread) {
                    blocks[thread] = calotype_malloc(nullptr, size);
                }
                step.arrive_and_wait();
            }
            for (int turn = 0; turn < 2; turn++) {
                if (turn == thread) {
                    calotype_free(nullptr, blocks[thread]);
                }
                step.arrive_and_wait();
            }
        };
        const auto run = [&](int thread) {
            round(thread, first);
            round(thread, second);
        };
        std::thread other(run, 1);
        run(0);
        other.join();
        EXPECT_EQ(first[0], second[0]) << size;
        EXPECT_EQ(first[1], second[1]) << size;
    }
}
#endif

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
