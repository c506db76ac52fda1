// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How the cache shows what it does and has: the log, ranges of NVTX, the trace, the modules.
#include <algorithm>
#include <regex>

#include "harness/fake_backend/fake_backend.h"
#include "harness/on_context.h"
#include "runtime/abi/hooks.h"
#include "runtime/abi/symbols.h"
#include "runtime/cache/fake_backend_driver.h"

namespace calotype_test {

static int count_lines(const std::string &text) {
    return int(std::count(text.begin(), text.end(), '\n'));
}

static std::string seen;  ///< by the functions below, one a line

/** Numbers that differ from run to run are #. */
static std::string without_numbers(const std::string &text) {
    return std::regex_replace(text, std::regex("(context |, )[0-9]+( us)?"), "$1#$2");
}

class Observation : public Scenario {
protected:
    void SetUp() override {
        Scenario::SetUp();
        seen.clear();
        calotype_set_custom_print([](void *, const char *text) { seen += text; });
    }
    void TearDown() override {
        calotype_set_log("");
        calotype_set_trace(nullptr, nullptr);
        Scenario::TearDown();
        calotype_set_custom_print(nullptr);
    }
};

TEST_P(Observation, OfStepsAndLaunchesInTheLog) {
    void *context = driver->make_context();
    const TestLinkable linkable("l");
    const auto *m = module("blur", {&linkable});
    run(context, m);
    EXPECT_EQ("", seen) << "nobody has asked";
    calotype_evict(on(context), m, CALOTYPE_EVICT_IMAGE_TOO);
    calotype_set_log("launch,cache");
    run(context, m);
    calotype_evict(on(context), m, 0);
    EXPECT_EQ("calotype cache: linked blur in context #, # us\n"
              "calotype cache: loaded blur in context #, # us\n"
              "calotype cache: set up a linkable of blur in context #, # us\n"
              "calotype launch: kernel k0, grid 1 x 1 x 1, block 1 x 1 x 1, # bytes of dynamic "
              "shared memory: blur in context #\n"
              "calotype cache: tore down a linkable of blur in context #, # us\n"
              "calotype cache: unloaded blur in context #, # us\n",
              without_numbers(seen));
    seen.clear();
    calotype_set_log("store");
    run(context, m);
    EXPECT_EQ("", seen) << "nothing is kept";
}

TEST_P(Observation, OfFailuresInTheLog) {
    void *context = driver->make_context();
    calotype_set_log("all");
    calotype_hold held;
    try_hold(context, module("broken", {}, {"broken", false, true}), &held);
    EXPECT_EQ("calotype cache: compiled broken in context #, # us: device code does not compile\n",
              without_numbers(seen));
}

TEST_P(Observation, WhatIsNoTopicIsSaid) {
    calotype_set_log("cache,noise,,launch");
    EXPECT_EQ(
        "note: there is no topic \"noise\" to log, but cache, memory, store, launch and all\n",
        seen);
    seen.clear();
    setenv("CT_LOG", "memory,cache", 1);
    calotype_set_log(nullptr);
    run(driver->make_context(), module("m"));
    EXPECT_NE(std::string::npos, seen.find("calotype cache: loaded m"));
    unsetenv("CT_LOG");
}

TEST_P(Observation, TheTraceNamesModules) {
    calotype_set_trace(
        [](void *, const calotype_trace_event *event) {
            EXPECT_EQ(sizeof *event, event->size);
            EXPECT_LE(event->begin_ns, event->end_ns);
            seen += std::string(event->module_name) + " " + std::to_string(event->stage) + "\n";
        },
        nullptr);
    run(driver->make_context(), module("m"));
    EXPECT_EQ("m " + std::to_string(CALOTYPE_ST_COMPILE) + "\nm " +
                  std::to_string(CALOTYPE_ST_LOAD) + "\n",
              seen);
}

/** "one 0 1" for each module: its name, holds and hits. */
static std::string modules_of(uint64_t context_uid) {
    seen.clear();
    const auto add = [](void *, const calotype_module_info *info) {
        EXPECT_EQ(sizeof *info, info->size);
        EXPECT_EQ(1u, info->n_kernels);
        EXPECT_GT(info->bytes, 0u);
        calotype_stats stats = {};
        stats.size = sizeof stats;
        EXPECT_EQ(CALOTYPE_OK, calotype_get_stats(info->ctx_uid, &stats)) << "it may use the cache";
        seen += std::string(info->name) + " " + std::to_string(info->holds) + " " +
                std::to_string(info->hits) + "\n";
    };
    EXPECT_EQ(CALOTYPE_OK, calotype_enumerate_modules(context_uid, add, nullptr));
    return seen;
}

TEST_P(Observation, OfModules) {
    void *a = driver->make_context(), *b = driver->make_context();
    EXPECT_EQ("", modules_of(0));
    run(a, module("one"));
    run(a, &modules[0]->desc);
    calotype_hold held = hold(a, module("two"));
    run(b, &modules[0]->desc);
    EXPECT_EQ("two 1 0\none 0 1\n", modules_of(uid_of(a)));
    EXPECT_EQ("one 0 0\n", modules_of(uid_of(b)));
    EXPECT_EQ(3, count_lines(modules_of(0))) << seen;
    give_back(a, held);
    EXPECT_EQ(CALOTYPE_E_INVALID, calotype_enumerate_modules(0, nullptr, nullptr));
}

static int push(const char *text) {
    seen += std::string(text) + " (";
    return 0;
}
static int pop() {
    seen += ")";
    return 0;
}

/// For good, so that what comes after it in this process has them too.
TEST_P(Observation, RangesOfNvtx) {
    EXPECT_EQ(CALOTYPE_E_INVALID, calotype_use_nvtx("/nowhere/libnvtx.so"));
    EXPECT_STREQ("no library with nvtxRangePushA and nvtxRangePop can be loaded",
                 calotype_last_error()->log);
    calotype_set_custom_load_library([](const char *name) -> void * {
        return std::string(name) == "libnvToolsExt.so.1" ? &seen : nullptr;
    });
    calotype_set_custom_get_library_symbol([](void *, const char *name) -> void * {
        return std::string(name) == "nvtxRangePushA" ? reinterpret_cast<void *>(push)
                                                     : reinterpret_cast<void *>(pop);
    });
    EXPECT_EQ(CALOTYPE_OK, calotype_use_nvtx(nullptr));
    calotype_set_custom_load_library(nullptr);
    calotype_set_custom_get_library_symbol(nullptr);
    void *context = driver->make_context();
    calotype_hold held = {};
    calls++;
    EXPECT_EQ(0, calotype_begin_kernels(context, module("blur"), &held));
    calotype_end_kernels(context, &held);
    EXPECT_EQ("calotype build blur ()calotype load blur ()calotype run blur ()", seen);
}

INSTANTIATE_TEST_SUITE_P(FakeBackend, Observation, ::testing::Values(make_fake_backend_driver));

}  // namespace calotype_test
