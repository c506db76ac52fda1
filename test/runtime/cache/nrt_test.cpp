// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The device runtime where kernels have no heap. test/runtime/nrt tests it where they have one.
#include <gtest/gtest.h>

#include "harness/fake_backend/fake_backend.h"
#include "harness/module_desc.h"
#include "harness/on_context.h"

namespace {

using namespace calotype_test;

TEST(KernelCacheNrt, ABackEndWithoutAHeap) {
    FakeContext *context = make_fake_context();
    const char text[] = "kernel k\n";
    calotype_image image = {CALOTYPE_CUBIN, 90, 0, text, sizeof text - 1};
    calotype_module_desc desc = module_desc("m", fake_backend_interface, image, nullptr, 0);
    desc.flags = CALOTYPE_MOD_NRT;
    calotype_hold hold;
    EXPECT_EQ(CALOTYPE_E_INVALID, calotype_initialize_kernels(context, &desc, nullptr, &hold));
    EXPECT_EQ(CALOTYPE_ST_NRT, calotype_last_error()->stage);
    EXPECT_STREQ("the module uses the device runtime, but kernels of fake cannot allocate memory",
                 calotype_last_error()->log);
    EXPECT_EQ(0, fake_modules());
    EXPECT_EQ(CALOTYPE_OK, calotype_release_context(on(context), CALOTYPE_REL_BUSY, 0));
    destroy_fake_context(context);
}

}  // namespace
