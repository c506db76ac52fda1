// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "support/intrusive_ptr.h"

namespace calotype {

using namespace internal;

namespace {

struct Counted : RefCounted {
    explicit Counted(int *live) : live(live) {
        ++*live;
    }
    ~Counted() override {
        --*live;
    }
    int *live;
};

TEST(IntrusivePtr, LastHandleDeletes) {
    int live = 0;
    {
        IntrusivePtr<Counted> a = new Counted(&live);
        EXPECT_TRUE(a->is_unique());
        IntrusivePtr<Counted> b = a;
        EXPECT_FALSE(a->is_unique());
        a = nullptr;
        EXPECT_EQ(live, 1);
        EXPECT_TRUE(b->is_unique());
        IntrusivePtr<RefCounted> base = b;
        b = IntrusivePtr<Counted>();
        EXPECT_EQ(live, 1);
    }
    EXPECT_EQ(live, 0);
}

TEST(IntrusivePtr, AssigningToItselfKeepsTheObject) {
    int live = 0;
    IntrusivePtr<Counted> a = new Counted(&live);
    IntrusivePtr<Counted> &alias = a;
    a = alias;
    EXPECT_EQ(live, 1);
    EXPECT_TRUE(a->is_unique());
}

TEST(IntrusivePtr, CountIsExactAcrossThreads) {
    int live = 0;
    IntrusivePtr<Counted> shared = new Counted(&live);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; t++) {
        threads.emplace_back([shared] {
            for (int i = 0; i < 1000; i++) {
                IntrusivePtr<Counted> copy = shared;
            }
        });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    threads.clear();
    EXPECT_TRUE(shared->is_unique());
    EXPECT_EQ(live, 1);
}

}  // namespace
}  // namespace calotype
