// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The small services: locks, threads, symbols, halves, processor features, sanitizer hooks,
// printing.
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <thread>
#include <vector>

#include "capture.h"
#include "runtime/buffer.h"

namespace {

TEST(Locks, ExcludeEachOther) {
    calotype_mutex mutex = {};
    int64_t count = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; t++) {
        threads.emplace_back([&] {
            for (int i = 0; i < 5000; i++) {
                calotype_mutex_lock(&mutex);
                count++;
                calotype_mutex_unlock(&mutex);
            }
        });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    EXPECT_EQ(8 * 5000, count);
}

TEST(Locks, PassATurnRound) {
    constexpr int players = 4, rounds = 200;
    calotype_mutex mutex = {};
    calotype_cond changed = {};
    int turn = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < players; t++) {
        threads.emplace_back([&, t] {
            for (int i = 0; i < rounds; i++) {
                calotype_mutex_lock(&mutex);
                while (turn % players != t) {
                    calotype_cond_wait(&changed, &mutex);
                }
                turn++;
                calotype_cond_broadcast(&changed);
                calotype_mutex_unlock(&mutex);
            }
        });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    EXPECT_EQ(players * rounds, turn);
}

TEST(Locks, OfAnArrayGuardTheirElements) {
    constexpr int size = 10;
    calotype_mutex_array *locks = calotype_mutex_array_create(size);
    std::vector<int> counts(size, 0);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; t++) {
        threads.emplace_back([&] {
            for (int i = 0; i < 10000; i++) {
                calotype_mutex_array_lock(locks, i % size);
                counts[i % size]++;
                calotype_mutex_array_unlock(locks, i % size);
            }
        });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    calotype_mutex_array_destroy(nullptr, locks);
    EXPECT_EQ(std::vector<int>(size, 4000), counts);
}

TEST(Threads, RunAndAreJoined) {
    int value = 0;
    calotype_thread *thread =
        calotype_spawn_thread([](void *p) { *static_cast<int *>(p) = 7; }, &value);
    ASSERT_NE(nullptr, thread);
    calotype_join_thread(thread);
    EXPECT_EQ(7, value);
    calotype_join_thread(nullptr);
}

TEST(Threads, HaveNumbersOfTheirOwn) {
    std::vector<uint64_t> ids(8);
    std::vector<std::thread> threads;
    for (uint64_t &id : ids) {
        threads.emplace_back([&id] {
            id = calotype_current_thread_id();
            EXPECT_EQ(id, calotype_current_thread_id());
        });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    ids.push_back(calotype_current_thread_id());
    const std::set<uint64_t> distinct(ids.begin(), ids.end());
    EXPECT_EQ(ids.size(), distinct.size());
    EXPECT_EQ(0u, distinct.count(0));
}

TEST(SymbolLookup, FindsWhatIsThere) {
    EXPECT_NE(nullptr, calotype_get_symbol("malloc"));
    EXPECT_EQ(nullptr, calotype_get_symbol("there_is_no_such_symbol"));
    EXPECT_EQ(nullptr, calotype_load_library("libthere_is_no_such_library.so"));
    void *libm = calotype_load_library("libm.so.6");
    ASSERT_NE(nullptr, libm);
    EXPECT_NE(nullptr, calotype_get_library_symbol(libm, "cos"));
    EXPECT_EQ(nullptr, calotype_get_library_symbol(libm, "there_is_no_such_symbol"));
}

TEST(SymbolLookup, CanBeReplaced) {
    auto old = calotype_set_custom_get_symbol([](const char *) -> void * { return nullptr; });
    EXPECT_EQ(nullptr, calotype_get_symbol("malloc"));
    calotype_set_custom_get_symbol(old);
    EXPECT_NE(nullptr, calotype_get_symbol("malloc"));
}

/** The value of a half, from its definition. */
double half_by_definition(uint16_t bits) {
    const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
    const double sign = bits & 0x8000 ? -1 : 1;
    if (exponent == 31) {
        return mantissa ? NAN : sign * INFINITY;
    }
    return exponent ? sign * std::ldexp(1024 + mantissa, exponent - 25)
                    : sign * std::ldexp(mantissa, -24);
}

TEST(Float16, HasTheRightValueForAllBits) {
    for (unsigned bits = 0; bits < 65536; bits++) {
        const double expected = half_by_definition(uint16_t(bits));
        const float value = calotype_float16_bits_to_float(uint16_t(bits));
        if (std::isnan(expected)) {
            ASSERT_TRUE(std::isnan(value)) << bits;
            continue;
        }
        ASSERT_EQ(expected, value) << bits;
        ASSERT_EQ(std::signbit(expected), std::signbit(value)) << bits;
        ASSERT_EQ(expected, calotype_float16_bits_to_double(uint16_t(bits))) << bits;
    }
}

/** The words that ask for one feature. */
struct WordsOf {
    uint64_t words[2] = {0, 0};
    explicit WordsOf(int feature) {
        words[feature / 64] = uint64_t(1) << (feature % 64);
    }
    operator const uint64_t *() const {
        return words;
    }
};

#if defined(__x86_64__)
TEST(TargetFeatures, AgreeWithTheCompiler) {
    const struct {
        calotype_target_feature_t feature;
        int present;
    } checks[] = {{calotype_target_feature_sse41, __builtin_cpu_supports("sse4.1")},
                  {calotype_target_feature_avx, __builtin_cpu_supports("avx")},
                  {calotype_target_feature_avx2, __builtin_cpu_supports("avx2")},
                  {calotype_target_feature_fma, __builtin_cpu_supports("fma")},
                  {calotype_target_feature_avx512,
                   __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd")}};
    for (const auto &check : checks) {
        const WordsOf words(check.feature);
        EXPECT_EQ(check.present != 0, calotype_can_use_target_features(2, words) == 1)
            << check.feature;
    }
}
#endif

TEST(TargetFeatures, ThatCannotBeCheckedCountAsThere) {
    const uint64_t none[2] = {0, 0};
    EXPECT_EQ(1, calotype_can_use_target_features(2, none));
    EXPECT_EQ(1, calotype_can_use_target_features(0, nullptr));
    const WordsOf other_machine(calotype_target_feature_sve);
    EXPECT_EQ(1, calotype_can_use_target_features(2, other_machine));
}

TEST(TargetFeatures, SayWhichIsMissing) {
    const WordsOf vulkan(calotype_target_feature_vulkan);
    EXPECT_EQ(0, calotype_can_use_target_features(2, vulkan));
    EXPECT_EQ(calotype_target_feature_vulkan, calotype_missing_target_feature(2, vulkan));
    EXPECT_STREQ("vulkan", calotype_target_feature_name(calotype_target_feature_vulkan));
    EXPECT_STREQ("cuda_capability_90",
                 calotype_target_feature_name(calotype_target_feature_cuda_capability_90));
    EXPECT_EQ(nullptr, calotype_target_feature_name(63));
    const uint64_t none[2] = {0, 0};
    EXPECT_EQ(-1, calotype_missing_target_feature(2, none));
}

TEST(TargetFeatures, CanBeDisabled) {
    const WordsOf words(calotype_target_feature_sve);
    EXPECT_EQ(1, calotype_can_use_target_features(2, words));
    EXPECT_EQ(0, calotype_disable_target_feature(calotype_target_feature_sve, 1));
    EXPECT_EQ(0, calotype_can_use_target_features(2, words));
    EXPECT_EQ(calotype_target_feature_sve, calotype_missing_target_feature(2, words));
    EXPECT_EQ(0, calotype_disable_target_feature(calotype_target_feature_sve, 0));
    EXPECT_EQ(1, calotype_can_use_target_features(2, words));
    EXPECT_EQ(-1, calotype_disable_target_feature(63, 1));
}

TEST(TargetFeatures, CanBeReplaced) {
    auto old = calotype_set_custom_can_use_target_features([](int, const uint64_t *) { return 0; });
    const uint64_t none[2] = {0, 0};
    EXPECT_EQ(0, calotype_can_use_target_features(2, none));
    calotype_set_custom_can_use_target_features(old);
}

TEST(MsanHooks, AreHarmlessWithoutTheSanitizer) {
    calotype::Runtime::Buffer<int> b(4, 4);
    b.crop(0, 1, 2);
    EXPECT_EQ(0, calotype_msan_annotate_buffer_is_initialized(nullptr, b));
    EXPECT_EQ(0, calotype_msan_check_buffer_is_initialized(nullptr, b, "b"));
    EXPECT_EQ(0, calotype_msan_annotate_memory_is_initialized(nullptr, b.data(), 4));
    EXPECT_EQ(0, calotype_msan_check_memory_is_initialized(nullptr, b.data(), 4, "b"));
    calotype_msan_annotate_buffer_is_initialized_as_destructor(nullptr, b.raw_buffer());
}

TEST(Print, GoesWhereItIsTold) {
    calotype_test::CapturePrint print;
    calotype_print(nullptr, "one ");
    calotype_print(nullptr, "two");
    EXPECT_EQ("one two", print.take());
}

TEST(Print, GoesToStderrByDefault) {
    testing::internal::CaptureStderr();
    calotype_print(nullptr, "hello\n");
    calotype_error(nullptr, "something is wrong");
    EXPECT_EQ("hello\nerror: something is wrong\n", testing::internal::GetCapturedStderr());
}

}  // namespace
