// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// With CALOTYPE_NRT_DEBUG: what has been destroyed is found out.
#include "runtime/nrt/on_host.h"

#include <gtest/gtest.h>

namespace {

using namespace nrt_on_host;

TEST(NrtDebug, TrapsOnWhatIsGone) {
    reset_heap();
    NRT_MemInfo *mi = NRT_MemInfo_alloc(8);
    NRT_Check(mi);
    NRT_Check(nullptr);
    EXPECT_EQ(0, traps());
    NRT_MemInfo_destroy(mi);
    EXPECT_EQ(0, traps());
    NRT_Check(mi);
    EXPECT_EQ(1, traps());
    reset_heap();
}

TEST(NrtDebug, TrapsOnASecondFree) {
    reset_heap();
    void *block = NRT_Allocate(8);
    NRT_Free(block);
    EXPECT_EQ(0, traps());
    EXPECT_EQ(nullptr, (nrt_on_host::fail_allocation(1), NRT_Reallocate(block, 1)));
    EXPECT_EQ(1, traps());
    reset_heap();
}

}  // namespace
