// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The memoization cache: what is found, what is dropped, and that nothing in use goes away.
#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>

#include "capture.h"
#include "runtime/buffer.h"

namespace {

using calotype::Runtime::Buffer;

/** Results of one Func with one value: 256 ints. */
class Memoization : public ::testing::Test {
protected:
    static constexpr int elements = 256, bytes = elements * 4;

    void SetUp() override {
        calotype_memoization_cache_cleanup();
        calotype_memoization_cache_set_size(0);
    }
    void TearDown() override {
        calotype_memoization_cache_cleanup();
        calotype_memoization_cache_set_size(0);
    }

    static int lookup(const std::string &key, Buffer<int> &out) {
        calotype_buffer_t *raw = out.raw_buffer();
        return calotype_memoization_cache_lookup(nullptr, bytes_of(key), int(key.size()), raw, 1,
                                                 &raw);
    }
    static void store(const std::string &key, Buffer<int> &out, bool evictable = false,
                      uint64_t eviction_key = 0) {
        calotype_buffer_t *raw = out.raw_buffer();
        EXPECT_EQ(0, calotype_memoization_cache_store(nullptr, bytes_of(key), int(key.size()), raw,
                                                      1, &raw, evictable, eviction_key));
    }
    static void release(Buffer<int> &out) {
        calotype_memoization_cache_release(nullptr, out.raw_buffer()->host);
        out.raw_buffer()->host = nullptr;
    }
    /** One run of a memoizing pipeline. Returns whether it had to compute. */
    static bool run(const std::string &key, int value, int min = 0, bool evictable = false,
                    uint64_t eviction_key = 0) {
        Buffer<int> out(nullptr, elements);
        out.set_min(min);
        const bool miss = lookup(key, out) == 1;
        if (miss) {
            for (int i = 0; i < elements; i++) {
                out(min + i) = value;
            }
            store(key, out, evictable, eviction_key);
        }
        EXPECT_TRUE(out.all_equal(value)) << key;
        release(out);
        return miss;
    }

private:
    static const uint8_t *bytes_of(const std::string &key) {
        return reinterpret_cast<const uint8_t *>(key.data());
    }
};

TEST_F(Memoization, FindsWhatWasStored) {
    EXPECT_TRUE(run("a", 1));
    EXPECT_TRUE(run("b", 2));
    EXPECT_FALSE(run("a", 1));
    EXPECT_FALSE(run("b", 2));
}

TEST_F(Memoization, TellsRegionsApart) {
    EXPECT_TRUE(run("a", 1, 0));
    EXPECT_TRUE(run("a", 2, 10));
    EXPECT_FALSE(run("a", 1, 0));
    EXPECT_FALSE(run("a", 2, 10));
}

TEST_F(Memoization, DropsTheLeastRecentlyUsed) {
    calotype_memoization_cache_set_size(3 * bytes);
    run("a", 1);
    run("b", 2);
    run("c", 3);
    EXPECT_FALSE(run("a", 1));  // b is now the oldest
    EXPECT_TRUE(run("d", 4));
    EXPECT_FALSE(run("a", 1));
    EXPECT_FALSE(run("c", 3));
    EXPECT_FALSE(run("d", 4));
    EXPECT_TRUE(run("b", 2));
}

TEST_F(Memoization, ShrinksWhenTold) {
    for (int i = 0; i < 10; i++) {
        run(std::to_string(i), i);
    }
    calotype_memoization_cache_set_size(2 * bytes);
    int found = 0;
    for (int i = 9; i >= 0; i--) {
        Buffer<int> out(nullptr, elements);
        found += lookup(std::to_string(i), out) == 0;
        release(out);
    }
    EXPECT_EQ(2, found);
}

TEST_F(Memoization, KeepsWhatIsInUse) {
    calotype_memoization_cache_set_size(1);
    Buffer<int> out(nullptr, elements);
    ASSERT_EQ(1, lookup("a", out));
    out.fill(7);
    store("a", out);
    run("b", 1);
    run("c", 2);
    EXPECT_TRUE(out.all_equal(7));
    EXPECT_FALSE(run("a", 7));
    release(out);
    EXPECT_FALSE(run("a", 7));  // too large for the cache: gone when the next one is stored
    EXPECT_TRUE(run("b", 8));
    EXPECT_TRUE(run("a", 9));
}

TEST_F(Memoization, KeepsLargeResultsOfOnePipelineForItsNextCall) {
    calotype_memoization_cache_set_size(bytes);
    for (int call = 0; call < 3; call++) {
        Buffer<int> a(nullptr, elements), b(nullptr, elements);
        for (auto [name, out] : {std::pair("a", &a), std::pair("b", &b)}) {
            const int found = lookup(name, *out);
            EXPECT_EQ(call == 0 ? 1 : 0, found);
            if (found == 1) {
                out->fill(7);
                store(name, *out);
            }
        }
        EXPECT_TRUE(a.all_equal(7) && b.all_equal(7));
        release(a);
        release(b);
    }
}

TEST_F(Memoization, EvictsByKey) {
    run("a", 1, 0, true, 42);
    run("b", 2, 0, true, 43);
    run("c", 3);
    calotype_memoization_cache_evict(nullptr, 42);
    EXPECT_TRUE(run("a", 1, 0, true, 42));
    EXPECT_FALSE(run("b", 2));
    EXPECT_FALSE(run("c", 3));
}

TEST_F(Memoization, EvictsWhatIsInUseLater) {
    Buffer<int> out(nullptr, elements);
    lookup("a", out);
    out.fill(7);
    store("a", out, true, 42);
    calotype_memoization_cache_evict(nullptr, 42);
    EXPECT_TRUE(out.all_equal(7));
    EXPECT_TRUE(run("a", 8));
    EXPECT_TRUE(out.all_equal(7));
    release(out);
    EXPECT_FALSE(run("a", 8));
}

TEST_F(Memoization, KeepsTheFirstOfTwoThatWereComputedAtOnce) {
    Buffer<int> first(nullptr, elements), second(nullptr, elements);
    EXPECT_EQ(1, lookup("a", first));
    EXPECT_EQ(1, lookup("a", second));
    first.fill(1);
    second.fill(1);
    store("a", first);
    store("a", second);
    release(first);
    release(second);
    EXPECT_FALSE(run("a", 1));
}

TEST_F(Memoization, HoldsFuncsOfSeveralValues) {
    Buffer<int> ints(nullptr, 10);
    Buffer<double> doubles(nullptr, 10);
    calotype_buffer_t *both[] = {ints.raw_buffer(), doubles.raw_buffer()};
    const uint8_t key[] = {1, 2, 3};
    EXPECT_EQ(1, calotype_memoization_cache_lookup(nullptr, key, 3, both[0], 2, both));
    ints.fill(3);
    doubles.fill(0.5);
    EXPECT_EQ(0, calotype_memoization_cache_store(nullptr, key, 3, both[0], 2, both, false, 0));
    void *const host = both[1]->host;
    calotype_memoization_cache_release(nullptr, both[0]->host);
    calotype_memoization_cache_release(nullptr, both[1]->host);
    both[0]->host = both[1]->host = nullptr;
    EXPECT_EQ(0, calotype_memoization_cache_lookup(nullptr, key, 3, both[0], 2, both));
    EXPECT_EQ(host, both[1]->host);
    EXPECT_TRUE(ints.all_equal(3));
    EXPECT_TRUE(doubles.all_equal(0.5));
    calotype_memoization_cache_release(nullptr, both[0]->host);
    calotype_memoization_cache_release(nullptr, both[1]->host);
}

TEST_F(Memoization, ReportsWhenThereIsNoMemory) {
    auto old = calotype_set_custom_malloc([](void *, size_t) -> void * { return nullptr; });
    calotype_test::CaptureErrors errors;
    Buffer<int> out(nullptr, elements);
    EXPECT_EQ(-11, lookup("a", out));
    EXPECT_EQ("out of memory", errors.take());
    EXPECT_EQ(nullptr, out.data());
    calotype_set_custom_malloc(old);
}

/** It outlives the call that asked for it. */
TEST_F(Memoization, MemoryIsOfNoCall) {
    static std::atomic<int> mallocs, frees;
    mallocs = frees = 0;
    auto old_malloc = calotype_set_custom_malloc([](void *user_context, size_t size) {
        mallocs += user_context == nullptr;
        return calotype_default_malloc(user_context, size);
    });
    auto old_free = calotype_set_custom_free([](void *user_context, void *memory) {
        frees += user_context == nullptr;
        calotype_default_free(user_context, memory);
    });
    Buffer<int> out(nullptr, elements);
    calotype_buffer_t *raw = out.raw_buffer();
    int call = 0;
    const uint8_t key[] = {'a'};
    EXPECT_EQ(1, calotype_memoization_cache_lookup(&call, key, 1, raw, 1, &raw));
    EXPECT_EQ(0, calotype_memoization_cache_store(&call, key, 1, raw, 1, &raw, false, 0));
    calotype_memoization_cache_release(&call, raw->host);
    raw->host = nullptr;
    calotype_memoization_cache_cleanup();
    EXPECT_EQ(1, mallocs);
    EXPECT_EQ(1, frees);
    calotype_set_custom_malloc(old_malloc);
    calotype_set_custom_free(old_free);
}

TEST_F(Memoization, ServesManyThreads) {
    calotype_memoization_cache_set_size(5 * bytes);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; t++) {
        threads.emplace_back([t] {
            for (int i = 0; i < 300; i++) {
                const int value = (i * 7 + t) % 12;
                run(std::to_string(value), value, 0, value % 3 == 0, uint64_t(value));
                if (i % 50 == 0) {
                    calotype_memoization_cache_evict(nullptr, uint64_t(value));
                }
            }
        });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
}

/// A child is not stopped by what another thread of its parent does in the cache as it forks.
TEST_F(Memoization, ForkedWhileAThreadDropsAResult) {
#ifdef __SANITIZE_THREAD__
    GTEST_SKIP() << "the thread sanitizer takes threads of the parent for lost ones of the child";
#endif
    static std::atomic<bool> is_inside;
    is_inside = false;
    run("a", 1);
    const auto before = calotype_set_custom_free([](void *, void *memory) {
        is_inside = true;
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        calotype_default_free(nullptr, memory);
    });
    std::thread thread([] { calotype_memoization_cache_cleanup(); });
    while (!is_inside) {
        std::this_thread::yield();
    }
    fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
        alarm(10);
        _exit(run("a", 1) && !run("a", 1) ? 0 : 1);
    }
    int status = -1;
    EXPECT_EQ(child, waitpid(child, &status, 0));
    EXPECT_EQ(0, status);
    thread.join();
    calotype_set_custom_free(before);
}

}  // namespace
