// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random pipelines under random schedules give what a plain evaluator gives. To look at one seed
// alone:
//     test_pipelines --gtest_filter='*RandomSchedules*' with CT_TEST_SEED=<seed>
// without some of its directives, as numbered in the text, with CT_TEST_SKIP='3 7', and at more of them,
// with CT_TEST_SEEDS=<how many> and CT_TEST_FIRST=<from which on>.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <iostream>
#include <iterator>
#include <sstream>

#include "random_run.h"

namespace calotype::test {
namespace {

void expect_result(const RandomPipeline &p, const Realization &result) {
    Evaluator evaluate(p);
    const int output = int(p.stages.size()) - 1;
    for (size_t v = 0; v < result.size(); v++) {
        const Buffer<void> buffer = result[v];
        for (int py = p.min_y; py < p.min_y + p.height; py++) {
            for (int px = p.min_x; px < p.min_x + p.width; px++) {
                ASSERT_EQ(element(buffer, px, py), evaluate(output, int(v), px, py))
                    << "value " << v << " at " << px << ", " << py;
            }
        }
    }
}

/// Whether the schedule drawn was legal.
bool run(uint64_t seed) {
    const RandomPipeline p = random_pipeline(seed);
    BuiltPipeline built = build(p);
    Directives directives;
    std::vector<Buffer<void>> buffers;
    try {
        random_schedule(p, built, seed * 77 + 5, directives);
        for (const Type &t : built.funcs.back().types()) {
            buffers.emplace_back(t, p.width, p.height);
            buffers.back().set_min(p.min_x, p.min_y);
        }
        built.funcs.back().realize(Realization(buffers));
    } catch (const CompileError &) {
        return false;
    } catch (const RuntimeError &) {
        return false;  // the output is smaller than a tail strategy asks for
    }
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + directives.text());
    expect_result(p, Realization(buffers));
    return true;
}

TEST(RandomSchedules, change_no_result) {
    if (const char *seed = std::getenv("CT_TEST_SEED")) {
        EXPECT_TRUE(run(std::strtoull(seed, nullptr, 10)));
        return;
    }
#ifdef __SANITIZE_THREAD__
    const uint64_t seeds = 6;  // its shadow of code compiled in process is never given back
#else
    const uint64_t seeds = 60;
#endif
    uint64_t compared = 0;
    for (uint64_t seed = 0; seed < seeds; seed++) {
        compared += run(seed) ? 1 : 0;
    }
    EXPECT_GT(compared, seeds * 2 / 5);
}

/// Memory in which nothing has been written looks like it.
void *malloc_garbage(JITUserContext *, size_t size) {
    void *p = nullptr;
    if (posix_memalign(&p, 128, size) != 0) {
        return nullptr;
    }
    std::memset(p, 0xa5, size);
    return p;
}

void free_garbage(JITUserContext *, void *p) {
    std::free(p);
}

/// Runs with its choice, with another, and elsewhere: what is kept from one is not for the next.
void run_thrice(RandomRun &run) {
    Pipeline pipeline = run.pipeline();
    pipeline.jit_handlers().custom_malloc = malloc_garbage;
    pipeline.jit_handlers().custom_free = free_garbage;
    const int other_choice = (run.p.choice + 3) % 4 - 1;
    const int offset = run.p.min_x % 2 == 0 ? 5 : -4;
    for (const auto &[choice, moved] :
         {std::pair(run.p.choice, 0), {other_choice, 0}, {other_choice, offset}}) {
        run.set_choice(choice);
        run.p.min_x += moved;
        run.p.min_y -= moved;
        const std::vector<Buffer<void>> outputs = run.outputs();
        run.set_inputs(outputs, get_jit_target_from_environment());
        pipeline.realize(Realization(outputs));
        EXPECT_EQ(run.difference(outputs), "") << "choice " << choice << "\n" << run.text();
    }
}

/// False; says why where one seed is looked at.
bool refused(const std::exception &e) {
    if (std::getenv("CT_TEST_SEED")) {
        std::cout << e.what() << "\n";
    }
    return false;
}

/// Whether the schedule drawn was legal.
bool run_full(const RandomPipeline &p, uint64_t seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomRun run(p);
    if (const char *skipped = std::getenv("CT_TEST_SKIP")) {
        std::istringstream numbers(skipped);
        run.directives.skipped.insert(std::istream_iterator<int>(numbers), {});
    }
    try {
        random_schedule(run.p, run.built, seed * 77 + 5, run.directives);
        if (std::getenv("CT_TEST_SEED")) {
            std::cout << run.text() << std::flush;  // the program may end here
        }
        run_thrice(run);
    } catch (const CompileError &e) {
        return refused(e);
    } catch (const RuntimeError &e) {
        return refused(e);  // the output is smaller than a tail strategy asks for
    } catch (const InternalError &e) {
        ADD_FAILURE() << e.what() << "\n" << run.text();
    }
    return true;
}

/// Of so many seeds, or of the one asked for.
void run_seeds(RandomPipeline (*pipeline)(uint64_t), uint64_t seeds) {
    if (const char *seed = std::getenv("CT_TEST_SEED")) {
        const uint64_t one = std::strtoull(seed, nullptr, 10);
        EXPECT_TRUE(run_full(pipeline(one), one));
        return;
    }
#ifdef __SANITIZE_THREAD__
    seeds = 6;
#endif
    const auto number = [](const char *name, uint64_t otherwise) {
        const char *text = std::getenv(name);
        return text ? std::strtoull(text, nullptr, 10) : otherwise;
    };
    const uint64_t first = number("CT_TEST_FIRST", 0);
    seeds = number("CT_TEST_SEEDS", seeds);
    uint64_t compared = 0;
    for (uint64_t seed = first; seed < first + seeds; seed++) {
        compared += run_full(pipeline(seed), seed) ? 1 : 0;
    }
    EXPECT_GT(compared, seeds / 3);
}

TEST(RandomSchedules, change_no_result_of_full_pipelines) {
    run_seeds(full_random_pipeline, 60);
}

TEST(RandomSchedules, change_no_result_of_windows) {
    run_seeds(windows_random_pipeline, 60);
}

}  // namespace
}  // namespace calotype::test
