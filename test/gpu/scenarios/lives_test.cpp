// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Contexts and processes that end while modules are loaded, on the CUDA driver of this machine.
#include <gtest/gtest.h>

#include <cstring>

#include <dlfcn.h>

#include <calotype/buffer.h>

#include "gpu/scenarios/driver_functions.h"
#include "gpu/scenarios/watched.h"
#include "harness/cache_stats.h"
#include "harness/on_context.h"
#include "harness/processes.h"
#include "runtime/abi/device_context.h"
#include "runtime/abi/kernel_cache.h"

namespace {

using calotype_test::cache_stats;
using calotype_test::cuda_functions;
using calotype_test::CudaFunctions;
using calotype_test::is_process_of_test;
using calotype_test::process_report;
using calotype_test::process_setting;
using calotype_test::Processes;
using calotype_test::Watched;

/// What callbacks saw: "s" and "t", and of teardowns the reason and whether there was a module.
std::string seen;

int note(const calotype_callback_args *args) {
    seen += args->event == CALOTYPE_EV_SETUP ? "s" : "t" + std::to_string(args->reason);
    seen += args->module ? "m " : "- ";
    return 0;
}

int note_in_report(const calotype_callback_args *args) {
    note(args);
    process_report() << seen << std::flush;
    return 0;
}

/// Beside this executable.
void *open_plugin(int more = 0) {
    char path[4096] = {};
    EXPECT_LT(0, readlink("/proc/self/exe", path, sizeof path - 1));
    const std::string folder(path, strrchr(path, '/') + 1);
    return dlopen((folder + "gpu_plugin").c_str(), RTLD_NOW | RTLD_LOCAL | more);
}
bool is_plugin_there() {
    void *plugin = open_plugin(RTLD_NOLOAD);
    return plugin && dlclose(plugin) == 0;
}
template<typename F>
F *function_of(void *plugin, const char *name) {
    void *found = plugin ? dlsym(plugin, name) : nullptr;
    EXPECT_NE(nullptr, found) << name << ": " << dlerror();
    return reinterpret_cast<F *>(found);
}
void report(const char *text) {
    process_report() << text << std::flush;
}

class CudaLives : public testing::Test {
protected:
    const CudaFunctions &cuda = cuda_functions();
    Watched module{note, note};

    void SetUp() override {
        if (!cuda.is_there) {
            GTEST_SKIP() << "no CUDA driver";
        }
        seen.clear();
        calotype_set_store_dir(nullptr, 0, CALOTYPE_STORE_OFF);
        calotype_reset_stats();
    }
    static uint64_t uid_of(void *user_context) {
        uint64_t uid = 0;
        EXPECT_EQ(CALOTYPE_OK, calotype_context_uid(calotype_test::on(user_context),
                                                    calotype_cuda_device_interface(), &uid));
        return uid;
    }
    /// "loads unloads orphans"
    static std::string counts() {
        const calotype_stats s = cache_stats();
        return std::to_string(s.loads) + " " + std::to_string(s.unloads) + " " +
               std::to_string(s.orphans);
    }
};

TEST_F(CudaLives, PrimaryContextResetWithTheSameAddress) {
    ASSERT_EQ(0, module.call(nullptr)) << calotype_last_error()->log;
    ASSERT_EQ(0, module.call(nullptr));
    void *before = nullptr, *after = nullptr;
    ASSERT_EQ(0, cuda.primary_retain(&before, 0));
    const uint64_t first = uid_of(nullptr);
    EXPECT_EQ("1 0 0", counts());
    ASSERT_EQ(0, cuda.primary_reset(0));
    ASSERT_EQ(0, module.call(nullptr)) << calotype_last_error()->log;
    ASSERT_EQ(0, module.call(nullptr));
    ASSERT_EQ(0, cuda.primary_retain(&after, 0));
    EXPECT_EQ(before, after) << "this driver gives primary contexts other addresses";
    EXPECT_NE(first, uid_of(nullptr));
    EXPECT_EQ("2 0 0", counts());
    EXPECT_EQ("sm t6- sm ", seen);
    EXPECT_EQ(CALOTYPE_OK, calotype_release_context(nullptr, CALOTYPE_REL_BUSY, 0));
    EXPECT_EQ("sm t6- sm t2m ", seen);
    EXPECT_EQ("2 1 0", counts());
}

TEST_F(CudaLives, ContextsDestroyedWhileHeld) {
    void *popped = nullptr;
    for (int i = 0; i < 3; i++) {
        calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(nullptr, nullptr);
        ASSERT_EQ(0, cuda.ctx_create(&on.context, 0, 0));
        ASSERT_EQ(0, cuda.ctx_pop(&popped));
        calotype_hold hold;
        ASSERT_EQ(CALOTYPE_OK, calotype_initialize_kernels(&on, &module.desc, nullptr, &hold));
        const uint64_t uid = uid_of(&on);
        ASSERT_EQ(0, cuda.ctx_destroy(on.context));
        EXPECT_EQ(CALOTYPE_OK, calotype_context_lost(uid));
        const uint32_t one[3] = {1, 1, 1};
        EXPECT_EQ(CALOTYPE_E_CONTEXT_LOST,
                  calotype_launch(&on, hold, 0, one, one, 0, nullptr, nullptr));
        EXPECT_EQ(CALOTYPE_OK, calotype_finalize_kernels(&on, &hold));
    }
    EXPECT_EQ("3 0 3", counts());
    EXPECT_EQ("sm t6- sm t6- sm t6- ", seen);
    EXPECT_EQ(0u, cache_stats().live_modules);
}

/// A pool outlives the context that it was made in: what it keeps is the device's.
TEST_F(CudaLives, MemoryOfDestroyedContextsIsGivenBack) {
    constexpr int bytes = 64 << 20;
    void *watching = nullptr, *popped = nullptr;
    ASSERT_EQ(0, cuda.ctx_create(&watching, 0, 0));
    size_t before = 0, after = 0, total = 0;
    for (int i = 0; i < 16; i++) {
        calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(nullptr, nullptr);
        ASSERT_EQ(0, cuda.ctx_create(&on.context, 0, 0));
        ASSERT_EQ(0, cuda.ctx_pop(&popped));
        calotype::Runtime::Buffer<uint8_t, 1> kept(nullptr, bytes), late(nullptr, bytes);
        ASSERT_EQ(0, kept.device_malloc(calotype_cuda_device_interface(), &on));
        ASSERT_EQ(0, late.device_malloc(calotype_cuda_device_interface(), &on));
        ASSERT_EQ(0, kept.device_free(&on));
        ASSERT_EQ(CALOTYPE_OK, calotype_release_context(&on, CALOTYPE_REL_BUSY, 0));
        ASSERT_EQ(0, cuda.ctx_destroy(on.context));
        calotype_device_context there = CALOTYPE_DEVICE_CONTEXT(watching, nullptr);
        ASSERT_EQ(0, late.device_free(&there));
        ASSERT_EQ(0, calotype_cuda_release_unused_device_allocations(&there));  // the pool's
        ASSERT_EQ(0, cuda.memory(i == 3 ? &before : &after, &total));
    }
    // What was freed just now may still be the pool's.
    EXPECT_LE(before, after + 2 * bytes) << "of 12 contexts with 128 MiB each nothing is left";
    ASSERT_EQ(0, cuda.ctx_pop(&popped));
    ASSERT_EQ(0, cuda.ctx_destroy(watching));
}

/// A child has no driver, and says so; the parent's modules are left alone.
TEST_F(CudaLives, Fork) {
    ASSERT_EQ(0, module.call(nullptr));
    calotype_hold held;
    ASSERT_EQ(CALOTYPE_OK, calotype_initialize_kernels(nullptr, &module.desc, nullptr, &held));
    const pid_t child = fork();
    if (child == 0) {
        alarm(20);
        bool good = calotype_finalize_kernels(nullptr, &held) == CALOTYPE_OK;  // an orphan
        calotype_hold mine;
        good &= calotype_initialize_kernels(nullptr, &module.desc, nullptr, &mine) != CALOTYPE_OK;
        good &= calotype_shutdown(1000) == CALOTYPE_OK && seen == "sm ";
        _exit(good ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(child, waitpid(child, &status, 0));
    EXPECT_EQ(0, status);
    EXPECT_EQ(CALOTYPE_OK, calotype_finalize_kernels(nullptr, &held));
    ASSERT_EQ(0, module.call(nullptr)) << calotype_last_error()->log;
    EXPECT_EQ(CALOTYPE_OK, calotype_release_context(nullptr, CALOTYPE_REL_BUSY, 0));
    EXPECT_EQ("1 1 0", counts());
}

/// Ends the process as a test of Processes says.
TEST_F(CudaLives, OneProcess) {
    if (!is_process_of_test()) {
        GTEST_SKIP() << "started by the tests below in processes of their own";
    }
    static Watched &lasting = *new Watched(note, note_in_report);
    ASSERT_EQ(0, lasting.call(nullptr)) << calotype_last_error()->log;
    const std::string end = process_setting("CALOTYPE_END");
    if (end == "held") {
        calotype_hold hold;
        ASSERT_EQ(CALOTYPE_OK, calotype_initialize_kernels(nullptr, &lasting.desc, nullptr, &hold));
    } else if (end == "reset") {
        ASSERT_EQ(0, cuda.primary_reset(0));
    } else if (end == "compiles") {
        process_report() << "compiles " << cache_stats().compiles << " ";
    }
    exit(0);
}

// G1.
TEST_F(CudaLives, ExitWithLiveModules) {
    Processes processes;
    EXPECT_EQ("sm t4m ", processes.run("CudaLives.OneProcess"));
    EXPECT_EQ("sm t4m ", processes.run("CudaLives.OneProcess", {"CALOTYPE_END=held"}));
    EXPECT_EQ("sm t4- ", processes.run("CudaLives.OneProcess", {"CALOTYPE_END=reset"}));
}

/// No cache of the driver is needed for one compile a process, and none for none.
TEST_F(CudaLives, WithoutTheDriversCache) {
    Processes processes;
    EXPECT_EQ(
        "compiles 1 sm t4m ",
        processes.run("CudaLives.OneProcess", {"CUDA_CACHE_DISABLE=1", "CALOTYPE_END=compiles"}));
}

/// A library with a runtime of its own releases what that has when it is closed; one whose
/// descriptor another runtime has loaded stays until its teardown has run.
TEST_F(CudaLives, OneProcessThatClosesALibrary) {
    if (!is_process_of_test()) {
        GTEST_SKIP() << "started by the test below in a process of its own";
    }
    const std::string end = process_setting("CALOTYPE_END");
    for (int i = 0; end == "own" && i < 2; i++) {
        void *plugin = open_plugin();
        report(function_of<int()>(plugin, "plugin_run")() == 0 ? "ran " : "failed ");
        EXPECT_EQ(0, dlclose(plugin));
        report(is_plugin_there() ? "there " : "gone ");
    }
    if (end != "own") {
        void *plugin = open_plugin();
        const auto describe = function_of<const calotype_module_desc *(
            const calotype_device_interface_t *(*)(), void (*)(const char *))>(plugin,
                                                                               "plugin_module");
        calotype_hold hold;
        ASSERT_EQ(0, calotype_begin_kernels(
                         nullptr, describe(calotype_cuda_device_interface, report), &hold));
        calotype_end_kernels(nullptr, &hold);
        EXPECT_EQ(0, dlclose(plugin));
        report(is_plugin_there() ? "there " : "gone ");
    }
    if (end == "release") {
        EXPECT_EQ(CALOTYPE_OK, calotype_release_context(nullptr, CALOTYPE_REL_BUSY, 0));
        report(is_plugin_there() ? "there " : "gone ");
    }
    exit(0);
}

TEST_F(CudaLives, LibrariesAreClosedWithLiveModules) {
    Processes processes;
    const char *test = "CudaLives.OneProcessThatClosesALibrary";
    EXPECT_EQ("ran gone ran gone ", processes.run(test, {"CALOTYPE_END=own"}));
    EXPECT_EQ("s there t gone ", processes.run(test, {"CALOTYPE_END=release"}));
    EXPECT_EQ("s there t ", processes.run(test, {"CALOTYPE_END=exit"}));
}

}  // namespace
