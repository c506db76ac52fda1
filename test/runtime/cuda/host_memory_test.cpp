// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every allocation on the way from the first call of the driver to the last fails once: pipelines
// go on or report why not, and nothing is left over.
#include <thread>

#include "harness/cache_stats.h"
#include "harness/failing_memory.h"
#include "harness/nothing_module.h"
#include "harness/processes.h"
#include "runtime/abi/recording.h"
#include "runtime/cuda/fixture.h"

namespace {

using calotype_test::cache_stats;
using calotype_test::FailingMemory;
using calotype_test::Ints;
using calotype_test::NothingModule;

class CudaHostMemory : public calotype_test::FakeCuda {
protected:
    /// Calls that have failed.
    int failures = 0;

    bool ok(int code) {
        failures += code != 0;
        return code == 0;
    }
    void use_buffers(Ints &a, Ints &b) {
        if (ok(calotype_copy_to_device(nullptr, &a.buf, cuda()))) {
            a.buf.set_device_dirty();
            ok(calotype_copy_to_host(nullptr, &a.buf));
        }
        ok(calotype_device_malloc(nullptr, &b.buf, cuda()));
        calotype_device_free(nullptr, &a.buf);
        calotype_device_free(nullptr, &b.buf);
    }
    void use_kernels(const NothingModule &module) {
        ok(module.call(nullptr));
        calotype_hold hold;
        if (!ok(calotype_begin_kernels(nullptr, &module.desc, &hold))) {
            return;
        }
        calotype_recording recording;
        calotype_begin_recording(nullptr, &hold, &recording);
        const int32_t shape[7] = {1, 1, 1, 1, 1, 1, 0};
        for (int i = 0; i < 9; i++) {
            ok(calotype_record_kernel(nullptr, &recording, 0, shape, nullptr));
            if (i % 3 == 2) {
                ok(calotype_launch_recording(nullptr, &recording));
            }
        }
        calotype_end_recording(nullptr, &recording);
        calotype_end_kernels(nullptr, &hold);
    }
};

TEST_F(CudaHostMemory, EveryAllocationFailsOnce) {
    const calotype_test::Folder store;
    EXPECT_EQ(CALOTYPE_OK, calotype_set_store_dir((store.path + "/kernels").c_str(), 1 << 20, 0));
    int nth = 0, failed = 0;
    for (bool has_failed = true; has_failed; nth++) {
        ASSERT_LT(nth, 300);
        NothingModule module;
        module.desc.uid.b[3] = uint8_t(nth);
        module.desc.uid.b[4] = uint8_t(nth >> 8);
        Ints a(100), b(50);
        a.buf.set_host_dirty();
        failures = 0;
        std::thread([&] {
            const FailingMemory memory(nth + 1);
            start();  // or the driver stays as it is
            use_buffers(a, b);
            use_kernels(module);
            calotype_device_release(nullptr, cuda());
            has_failed = FailingMemory::has_failed();
        }).join();
        // What fails is reported once, and nothing else is.
        EXPECT_EQ(size_t(failures), errors.count()) << nth;
        failed += failures != 0;
        EXPECT_LE(failures, 1) << nth;
        if (errors.count() != 0) {
            errors.take();
        }
        EXPECT_EQ(0, start());
        calotype_device_release(nullptr, cuda());
        EXPECT_EQ(0, fake_cuda::live_modules()) << nth;
        EXPECT_EQ(0, fake_cuda::live_allocations()) << nth;
        EXPECT_EQ(0, fake_cuda::live_events()) << nth;
        EXPECT_EQ(0, fake_cuda::live_graphs()) << nth;
        EXPECT_EQ(0, fake_cuda::current_depth()) << nth;
        EXPECT_EQ(0u, cache_stats().holds) << nth;
        EXPECT_EQ(0u, cache_stats().live_modules) << nth;
    }
    EXPECT_GE(nth, 20);
    EXPECT_GE(failed, 5);
    calotype_set_store_dir(nullptr, 0, CALOTYPE_STORE_OFF);
}

}  // namespace
