// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>

#include "support/thread_pool.h"

namespace calotype::internal {
namespace {

TEST(ThreadPool, ResultsArriveInTheirFutures) {
    ThreadPool pool(3);
    std::vector<std::future<int>> results;
    for (int i = 0; i < 100; i++) {
        results.push_back(pool.async([i] { return i * i; }));
    }
    for (int i = 0; i < 100; i++) {
        EXPECT_EQ(results[i].get(), i * i);
    }
}

TEST(ThreadPool, ExceptionsTravel) {
    ThreadPool pool(1);
    auto bad = pool.async([]() -> int { throw std::runtime_error("no"); });
    EXPECT_THROW(bad.get(), std::runtime_error);
    EXPECT_EQ(pool.async([] { return 1; }).get(), 1);
}

TEST(ThreadPool, ClosingRunsWhatIsLeft) {
    std::atomic<int> ran{0};
    {
        ThreadPool pool(2);
        for (int i = 0; i < 50; i++) {
            pool.async([&ran] { ran++; });
        }
    }
    EXPECT_EQ(ran, 50);
}

}  // namespace
}  // namespace calotype::internal
