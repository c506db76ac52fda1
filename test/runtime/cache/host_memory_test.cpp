// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every allocation of the kernel cache fails once: what is asked for then succeeds or is refused
// with a text, and nothing is left over.
#include <thread>

#include "harness/cache_stats.h"
#include "harness/failing_memory.h"
#include "harness/fake_backend/fake_backend.h"
#include "harness/module_desc.h"
#include "harness/on_context.h"
#include "runtime/cache/scenario_fixture.h"

namespace calotype_test {

namespace {

/// A module of its own for each number, with two linkables that have callbacks.
struct Numbered {
    TestLinkable a{"a"}, b{"b"};
    const calotype_linkable_desc *linkables[2] = {&a.desc, &b.desc};
    static constexpr char text[] = "kernel k0";
    calotype_image image = {CALOTYPE_PTX, 0, 0, text, sizeof text - 1};
    calotype_kernel_desc kernel = {"k0", nullptr, 0, 0, 0, 0};
    calotype_module_desc desc = module_desc("m", fake_backend_interface, image, &kernel, 1);

    explicit Numbered(int number) {
        desc.uid.b[5] = uint8_t(number);
        desc.uid.b[6] = uint8_t(number >> 8);
        desc.linkables = linkables;
        desc.n_linkables = 2;
    }
};

class HostMemory : public ::testing::Test {
protected:
    FakeContext *context = nullptr;
    int refused = 0;

    /// Whether it succeeded.
    bool expect_reason(calotype_status status) {
        if (status != CALOTYPE_OK) {
            refused++;
            EXPECT_EQ(CALOTYPE_E_OOM, status);
            EXPECT_EQ(status, calotype_last_error()->status);
            EXPECT_STRNE("", calotype_last_error()->log);
        }
        return status == CALOTYPE_OK;
    }
    void hold_and_launch(const calotype_module_desc &desc) {
        calotype_hold held = {}, pin = {};
        if (!expect_reason(calotype_initialize_kernels(context, &desc, nullptr, &held))) {
            EXPECT_EQ(nullptr, held.entry);
            return;
        }
        const uint32_t one[3] = {1, 1, 1};
        expect_reason(calotype_launch(context, held, 0, one, one, 0, nullptr, nullptr));
        if (expect_reason(calotype_pin(held, &pin))) {
            EXPECT_EQ(CALOTYPE_OK, calotype_unpin(&pin));
        }
        if (!expect_reason(calotype_finalize_kernels_after(context, &held, &context->stream))) {
            EXPECT_EQ(CALOTYPE_OK, calotype_finalize_kernels(context, &held));
        }
    }
    void prefetch(const calotype_module_desc &one, const calotype_module_desc &other) {
        const calotype_module_desc *list[] = {&one, &other};
        void *ticket = nullptr;
        if (expect_reason(calotype_prefetch(on(context), list, 2, 0, &ticket))) {
            expect_reason(calotype_prefetch_wait(ticket, 10000));
        }
    }
};

TEST_F(HostMemory, EveryAllocationFailsOnce) {
    calotype_set_store_dir(nullptr, 0, CALOTYPE_STORE_OFF);
    calotype_reset_stats();
    int nth = 0;
    for (bool has_failed = true; has_failed; nth++) {
        ASSERT_LT(nth, 200);
        context = make_fake_context();
        const Numbered m(2 * nth), n(2 * nth + 1);
        std::thread([&] {
            const FailingMemory memory(nth + 1);
            hold_and_launch(m.desc);
            prefetch(m.desc, n.desc);
            expect_reason(calotype_evict(on(context), &m.desc, CALOTYPE_EVICT_IMAGE_TOO));
            expect_reason(calotype_release_context(on(context), CALOTYPE_REL_WAIT, 10000));
            has_failed = FailingMemory::has_failed();
        }).join();
        EXPECT_EQ(CALOTYPE_OK, calotype_release_context(on(context), CALOTYPE_REL_WAIT, 10000));
        const calotype_stats s = cache_stats();
        EXPECT_EQ(0u, s.holds) << nth;
        EXPECT_EQ(0u, s.live_modules) << nth;
        EXPECT_EQ(s.loads, s.unloads) << nth;
        EXPECT_EQ(s.setups_ok, s.teardowns) << nth;
        EXPECT_EQ(0, fake_modules()) << nth;
        destroy_fake_context(context);
    }
    EXPECT_GE(nth, 20);
    EXPECT_GE(refused, 10);
    EXPECT_EQ(CALOTYPE_OK, calotype_shutdown(10000));
    EXPECT_EQ(0u, cache_stats().image_bytes);
}

}  // namespace

}  // namespace calotype_test
