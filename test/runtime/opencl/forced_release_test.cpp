// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A forced release while launches of what it unloads are on their way.
#include "opencl_test.h"

#include <atomic>
#include <thread>

#include "harness/cache_stats.h"

using namespace calotype_test;

namespace {

class OpenClForcedRelease : public FakeOpenClTest {
protected:
    OneKernel kernel{"k", "__kernel void k(int a) {}", {int_argument}};

    calotype_hold hold() {
        calotype_hold hold = {};
        EXPECT_EQ(calotype_initialize_kernels(nullptr, &kernel.desc(), nullptr, &hold),
                  CALOTYPE_OK);
        return hold;
    }
    static calotype_status launch(const calotype_hold &hold) {
        const uint32_t one[3] = {1, 1, 1};
        int value = 1;
        void *args[] = {&value};
        return calotype_launch(nullptr, hold, 0, one, one, 0, nullptr, args);
    }
    static calotype_status release() {
        return calotype_release_context(nullptr, CALOTYPE_REL_FORCE, 0);
    }
};

TEST_F(OpenClForcedRelease, a_launch_that_has_its_kernel_object_is_done) {
    const uint64_t orphans = cache_stats().orphans;
    calotype_hold held = hold();
    fake().delay("clSetKernelArg", 100);
    std::thread thread([&] { EXPECT_EQ(launch(held), CALOTYPE_OK); });
    while (fake().calls("clSetKernelArg") == 0) {
        std::this_thread::yield();
    }
    EXPECT_EQ(release(), CALOTYPE_OK);
    EXPECT_EQ(fake().live("kernel"), 1) << "the launch has it";
    thread.join();
    EXPECT_EQ(fake().calls("clEnqueueNDRangeKernel"), 1u);
    EXPECT_EQ(fake().live("kernel"), 0);
    EXPECT_EQ(fake().live("program"), 0);
    EXPECT_EQ(launch(held), CALOTYPE_E_CONTEXT_LOST);
    EXPECT_STREQ(calotype_last_error()->log, "the module was unloaded although it is held");
    EXPECT_EQ(calotype_finalize_kernels(nullptr, &held), CALOTYPE_OK);
    EXPECT_EQ(cache_stats().orphans, orphans + 1);
}

/** What the hook does once, in the middle of a launch. */
std::atomic<bool> is_to_release{false};

TEST_F(OpenClForcedRelease, a_launch_that_has_none_yet_is_refused) {
    calotype_hold held = hold();
    calotype_set_acquire_cl_context(
        [](void *, _cl_context **context, _cl_command_queue **queue, bool) {
            if (is_to_release.exchange(false)) {
                EXPECT_EQ(release(), CALOTYPE_OK);
            }
            calotype_set_acquire_cl_context(nullptr);
            return calotype_acquire_cl_context(nullptr, context, queue, true);
        });
    is_to_release = true;
    EXPECT_EQ(launch(held), CALOTYPE_E_CONTEXT_LOST);
    EXPECT_STREQ(calotype_last_error()->log,
                 "kernel k, grid 1 x 1 x 1, block 1 x 1 x 1, 0 bytes of dynamic shared memory: "
                 "OpenCL 3.0 Fake, Fake GPU 0, driver 1.0: "
                 "the module was unloaded although it is held");
    EXPECT_EQ(fake().live("kernel"), 0);
    EXPECT_EQ(fake().live("program"), 0);
    EXPECT_EQ(fake().calls("clCreateKernel"), 1u);
    EXPECT_EQ(fake().calls("clEnqueueNDRangeKernel"), 0u);
    EXPECT_EQ(calotype_finalize_kernels(nullptr, &held), CALOTYPE_OK);
}

TEST_F(OpenClForcedRelease, threads_launch_meanwhile) {
    std::atomic<bool> is_over{false};
    std::atomic<int> done{0}, others{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; t++) {
        threads.emplace_back([&] {
            while (!is_over) {
                calotype_hold held = {};
                if (calotype_initialize_kernels(nullptr, &kernel.desc(), nullptr, &held) !=
                    CALOTYPE_OK) {
                    continue;  // during a release
                }
                for (int i = 0; i < 20; i++) {
                    const calotype_status status = launch(held);
                    done += status == CALOTYPE_OK;
                    others += status != CALOTYPE_OK && status != CALOTYPE_E_CONTEXT_LOST;
                }
                calotype_finalize_kernels(nullptr, &held);
            }
        });
    }
    for (int i = 0; i < 200; i++) {
        std::this_thread::sleep_for(std::chrono::microseconds(300));
        EXPECT_EQ(release(), CALOTYPE_OK);
    }
    is_over = true;
    for (std::thread &thread : threads) {
        thread.join();
    }
    EXPECT_LT(0, done);
    EXPECT_EQ(0, others);
    EXPECT_EQ(release(), CALOTYPE_OK);
    EXPECT_EQ(fake().live("kernel"), 0);
    EXPECT_EQ(fake().live("program"), 0);
}

}  // namespace
