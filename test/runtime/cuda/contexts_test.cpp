// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whose identity lasts how long, and that nothing is asked about a context that has ended: S43.
#include "runtime/cuda/context_table.h"

#include <algorithm>
#include <random>
#include <thread>

#include "harness/nothing_module.h"
#include "runtime/cuda/fixture.h"

namespace {

using calotype_test::FakeCuda;
using calotype_test::Ints;
using calotype_test::NothingModule;

// A driver's handle in place of a context of the runtime's does not compile.
template<typename Handle>
constexpr bool can_release = requires(Handle handle) {
    calotype_release_context(handle, CALOTYPE_REL_BUSY, 0);
    calotype_trim(handle, 0, nullptr);
};
static_assert(can_release<calotype_device_context *>);
static_assert(!can_release<CUctx_st *> && !can_release<void *>);

class CudaContexts : public FakeCuda {
protected:
    ~CudaContexts() override {
        EXPECT_EQ(0, fake_cuda::calls_for_the_dead());
    }
    static uint64_t uid_of(const calotype_device_context *on) {
        uint64_t uid = 0;
        EXPECT_EQ(CALOTYPE_OK, calotype_context_uid(on, cuda(), &uid));
        return uid;
    }
    static void release(const calotype_device_context *on) {
        EXPECT_EQ(CALOTYPE_OK, calotype_release_context(on, CALOTYPE_REL_BUSY, 0));
    }
    NothingModule module;
};

TEST_F(CudaContexts, AReleaseEndsTheIdentity) {
    calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(make_context(), nullptr);
    EXPECT_EQ(0, module.call(&on));
    const uint64_t first = uid_of(&on);
    EXPECT_EQ(first, uid_of(&on));
    release(&on);
    const uint64_t second = uid_of(&on);
    EXPECT_LT(first, second);
    EXPECT_EQ(0, module.call(&on)) << "named again, it is met anew";
    release(&on);
    EXPECT_EQ(0, cuCtxDestroy_v2(on.context));
}

/// Released, destroyed, its memory gone: the next contexts, a shutdown and late frees leave the
/// driver alone.
TEST_F(CudaContexts, NothingIsAskedAboutOneThatWasReleased) {
    fake_cuda::unmap_destroyed_contexts();
    Ints left(10);
    for (int i = 0; i < 20; i++) {
        calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(make_context(), nullptr);
        on.stream = i % 2 ? make_stream(on.context) : nullptr;
        EXPECT_EQ(0, module.call(&on));
        Ints a(10);
        ASSERT_EQ(0, calotype_device_malloc(&on, &a.buf, cuda()));
        EXPECT_EQ(0, calotype_device_free(nullptr, &left.buf)) << "of the context before";
        ASSERT_EQ(0, calotype_device_malloc(&on, &left.buf, cuda()));
        release(&on);
        EXPECT_EQ(0, cuCtxDestroy_v2(on.context));
        EXPECT_EQ(0, calotype_device_free(nullptr, &a.buf));
    }
    EXPECT_EQ(CALOTYPE_OK, calotype_shutdown(1000));
    EXPECT_EQ(0, calotype_device_free(nullptr, &left.buf));
    EXPECT_EQ(0, fake_cuda::live_allocations());
}

/// Records of contexts that have ended come to serve others while threads look through their lists.
TEST_F(CudaContexts, AnIdentityIsFoundWhileOthersComeAndGo) {
    calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(make_context(), nullptr);
    const uint64_t uid = uid_of(&on);
    std::atomic<bool> is_over{false};
    std::thread others([&] {
        std::mt19937 random(1);
        for (int round = 0; round < 150; round++) {
            std::vector<calotype_device_context> contexts;
            for (int i = 0; i < 100; i++) {
                contexts.push_back(CALOTYPE_DEVICE_CONTEXT(make_context(), nullptr));
            }
            std::shuffle(contexts.begin(), contexts.end(), random);
            for (const calotype_device_context &one : contexts) {
                uid_of(&one);
            }
            for (const calotype_device_context &one : contexts) {
                release(&one);
                EXPECT_EQ(0, cuCtxDestroy_v2(one.context));
            }
        }
        is_over = true;
    });
    int missed = 0;
    while (!is_over) {
        missed += !calotype::runtime::cuda::is_alive(uid);
    }
    others.join();
    EXPECT_EQ(0, missed);
    release(&on);
    EXPECT_EQ(0, cuCtxDestroy_v2(on.context));
}

/// A call that meets a context while another thread ends its identity meets it once more, also if
/// nobody else ever does.
TEST_F(CudaContexts, AreMetWhileOthersReleaseThem) {
    calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(make_context(), nullptr);
    constexpr int rounds = 20000;
    std::atomic<int> begun{0}, ended{0}, failures{0};
    std::thread user([&] {
        calotype_device_context mine = on;
        for (int round = 1; round <= rounds; round++) {
            while (begun < round) {
                std::this_thread::yield();
            }
            Ints a(1);
            failures += calotype_device_malloc(&mine, &a.buf, cuda()) != 0 ||
                        calotype_device_free(&mine, &a.buf) != 0;
            ended = round;
        }
    });
    for (int round = 1; round <= rounds; round++) {
        begun = round;
        failures += calotype_release_context(&on, CALOTYPE_REL_BUSY, 0) != CALOTYPE_OK;
        while (ended < round) {
            std::this_thread::yield();
        }
    }
    user.join();
    EXPECT_EQ(0, failures);
    release(&on);
    EXPECT_EQ(0, cuCtxDestroy_v2(on.context));
}

TEST_F(CudaContexts, NothingIsAskedAboutOneThatWasToldLost) {
    fake_cuda::unmap_destroyed_contexts();
    calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(make_context(), nullptr);
    calotype_hold hold;
    ASSERT_EQ(CALOTYPE_OK, calotype_initialize_kernels(&on, &module.desc, nullptr, &hold));
    Ints a(10);
    ASSERT_EQ(0, calotype_device_malloc(&on, &a.buf, cuda()));
    const uint64_t uid = uid_of(&on);
    EXPECT_EQ(0, cuCtxDestroy_v2(on.context));
    EXPECT_EQ(CALOTYPE_OK, calotype_context_lost(uid));
    EXPECT_EQ(CALOTYPE_OK, calotype_finalize_kernels(nullptr, &hold));
    EXPECT_EQ(0, calotype_device_free(nullptr, &a.buf));
    EXPECT_EQ(CALOTYPE_OK, calotype_shutdown(1000));
}

/// The driver's number tells them apart.
TEST_F(CudaContexts, AnotherAtTheSameAddressReplacesOneThatEndedWithoutAWord) {
    calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(make_context(), nullptr);
    EXPECT_EQ(0, module.call(&on));
    const uint64_t first = uid_of(&on);
    Ints late(10);
    EXPECT_EQ(0, calotype_device_malloc(&on, &late.buf, cuda()));
    EXPECT_EQ(0, cuCtxDestroy_v2(on.context));
    EXPECT_EQ(0, calotype_device_free(nullptr, &late.buf));
    void *const address = on.context;
    on.context = make_context();
    ASSERT_EQ(address, on.context) << "as the fake driver does";
    EXPECT_EQ(0, module.call(&on));
    EXPECT_NE(first, uid_of(&on));
    EXPECT_EQ(0, fake_cuda::live_allocations()) << "what the other one had is given back";
    release(&on);
    EXPECT_EQ(0, cuCtxDestroy_v2(on.context));
}

TEST_F(CudaContexts, RecordsServeOthers) {
    const int before = calotype::runtime::cuda::context_records();
    for (int i = 0; i < 300; i++) {
        calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(make_context(), nullptr);
        void *other = make_context();  // so that addresses change
        Ints a(10);
        ASSERT_EQ(0, calotype_device_malloc(&on, &a.buf, cuda()));
        EXPECT_EQ(0, calotype_device_free(&on, &a.buf));
        release(&on);
        EXPECT_EQ(0, cuCtxDestroy_v2(on.context));
        EXPECT_EQ(0, cuCtxDestroy_v2(other));
    }
    EXPECT_LE(calotype::runtime::cuda::context_records() - before, 2);
}

/// Older drivers have no numbers, so a context that is named after its release is another one.
TEST_F(CudaContexts, OldDriversGiveNoNumbers) {
    for (int i = 0; i < 3; i++) {
        fake_cuda::fail("cuCtxGetId", 801, 1, 1000);
        calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(make_context(), nullptr);
        EXPECT_EQ(0, module.call(&on));
        const uint64_t first = uid_of(&on);
        release(&on);
        EXPECT_EQ(0, module.call(&on));
        EXPECT_NE(first, uid_of(&on));
        release(&on);
        EXPECT_EQ(0, cuCtxDestroy_v2(on.context));
        fake_cuda::fail("cuCtxGetId", 0, 1, 0);
    }
}

/// Calls have named another one alone.
TEST_F(CudaContexts, TheDefaultOneIsNotMadeToBeReleased) {
    calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(make_context(), nullptr);
    EXPECT_EQ(0, module.call(&on));
    const calotype_device_context standard = CALOTYPE_DEVICE_CONTEXT(nullptr, nullptr);
    for (const calotype_device_context *none :
         {&standard, (const calotype_device_context *)nullptr}) {
        release(none);
        EXPECT_EQ(CALOTYPE_OK, calotype_trim(none, 0, nullptr));
    }
    EXPECT_EQ(0, fake_cuda::calls("cuDevicePrimaryCtxRetain"));
    release(&on);
    EXPECT_EQ(0, cuCtxDestroy_v2(on.context));
}

/// A release that is refused changes nothing for others, not even for a moment.
TEST_F(CudaContexts, ARefusedReleaseIsInvisible) {
    calotype_device_context on = CALOTYPE_DEVICE_CONTEXT(make_context(), nullptr);
    NothingModule other;
    calotype_hold hold;
    ASSERT_EQ(CALOTYPE_OK, calotype_initialize_kernels(&on, &module.desc, nullptr, &hold));
    std::atomic<bool> is_over{false};
    std::atomic<int> calls{0};
    std::thread caller([&] {
        while (!is_over || calls == 0) {
            EXPECT_EQ(0, other.call(&on));
            calls++;
        }
    });
    for (int i = 0; i < 50; i++) {
        EXPECT_EQ(CALOTYPE_E_BUSY, calotype_release_context(&on, CALOTYPE_REL_BUSY, 0));
        EXPECT_EQ(CALOTYPE_E_TIMEOUT, calotype_release_context(&on, CALOTYPE_REL_WAIT, 1));
    }
    is_over = true;
    caller.join();
    EXPECT_EQ(CALOTYPE_OK, calotype_finalize_kernels(&on, &hold));
    release(&on);
    EXPECT_EQ(0, cuCtxDestroy_v2(on.context));
}

}  // namespace
