// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A process ends while threads call pipelines, load modules and hold buffers: S42. Whatever the
// driver is at, nobody waits for it for good, and nothing is said.
#include <cstdlib>
#include <regex>
#include <thread>

#include "harness/nothing_module.h"
#include "harness/processes.h"
#include "runtime/cuda/fixture.h"

namespace {

using calotype_test::FakeCuda;
using calotype_test::Ints;
using calotype_test::NothingModule;

class CudaExit : public FakeCuda {
protected:
    /// What becomes of the process, with what the runtime prints as it ends.
    static std::string run(const std::string &what) {
        calotype_test::Processes processes;
        return processes.run("CudaExit.OneProcess", {"CALOTYPE_PROCESS_CASE=" + what});
    }
};

/// One that stays when main() returns.
void call_for_ever(NothingModule &module) {
    for (;;) {
        Ints a(100);
        if (module.call(nullptr) != 0 ||
            calotype_device_malloc(nullptr, &a.buf, calotype_cuda_device_interface()) != 0) {
            return;
        }
        calotype_device_free(nullptr, &a.buf);
    }
}

TEST_F(CudaExit, OneProcess) {
    if (!calotype_test::is_process_of_test()) {
        GTEST_SKIP() << "started by the tests below in a process of its own";
    }
    const std::string what = calotype_test::process_setting("CALOTYPE_PROCESS_CASE");
    // Before the runtime's own handler, which is installed later: so it runs after that one.
    std::atexit([] {
        calotype_test::process_report()
            << fake_cuda::calls("cuModuleUnload") << " " << fake_cuda::calls_for_the_dead();
    });
    calotype_set_error_handler(
        [](void *, const char *text) { calotype_test::process_report() << text << "\n"; });
    // Never destroyed, as threads go on with them, and found by the sanitizer that looks for leaks.
    static NothingModule &module = *new NothingModule;
    static Ints &kept = *new Ints(10);
    EXPECT_EQ(0, module.call(nullptr));
    EXPECT_EQ(0, calotype_device_malloc(nullptr, &kept.buf, cuda()));
    if (what == "threads") {
        for (int i = 0; i < 16; i++) {
            std::thread([] { call_for_ever(module); }).detach();
        }
    } else if (what == "hold") {
        calotype_hold held;
        EXPECT_EQ(CALOTYPE_OK, calotype_initialize_kernels(nullptr, &module.desc, nullptr, &held));
    } else if (what == "load") {
        static NothingModule &other = *new NothingModule;
        other.desc.uid.b[0] ^= 1;
        fake_cuda::delay("cuModuleLoadDataEx", 100000000);
        const calotype_module_desc *descs[] = {&other.desc};
        EXPECT_EQ(CALOTYPE_OK, calotype_prefetch(nullptr, descs, 1, 0, nullptr));
        while (fake_cuda::calls("cuModuleLoadDataEx") < 2) {
            std::this_thread::yield();
        }
    } else if (what == "work") {
        calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(nullptr, nullptr);
        uint64_t uid = 0;
        EXPECT_EQ(CALOTYPE_OK, calotype_context_uid(&on, cuda(), &uid));
        void *primary = nullptr;
        EXPECT_EQ(0, cuDevicePrimaryCtxRetain(&primary, 0));
        fake_cuda::hold_stream(primary, nullptr);
    } else if (what == "destroyed") {
        calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(make_context(), nullptr);
        EXPECT_EQ(0, module.call(&on));
        EXPECT_EQ(0, cuCtxDestroy_v2(on.context));
    }
    std::exit(0);
}

TEST_F(CudaExit, WhatIsIdleIsUnloaded) {
    EXPECT_EQ("1 0", run("nothing"));
}

TEST_F(CudaExit, ThreadsThatCallAreNotWaitedForForGood) {
    const std::string said = run("threads");
    EXPECT_TRUE(std::regex_match(said, std::regex("[01] 0"))) << said;
}

TEST_F(CudaExit, AModuleThatIsHeldStays) {
    EXPECT_EQ("0 0", run("hold"));
}

TEST_F(CudaExit, ALoadThatDoesNotEnd) {
    EXPECT_EQ(" 0", run("load").substr(1));
}

/// As of a kernel that does not end.
TEST_F(CudaExit, WorkThatDoesNotEnd) {
    EXPECT_EQ("0 0", run("work"));
}

/// The application has destroyed a context without a word.
TEST_F(CudaExit, NothingIsAskedAboutContextsOfTheApplication) {
    EXPECT_EQ("1 0", run("destroyed"));
}

}  // namespace
