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

/// Each of the table, and none before it.
TEST(NrtDebug, TrapsOnEachMisuse) {
    const struct {
        const char *name;
        void (*call)(NRT_MemInfo *mi, void *block);
    } misuses[] = {
#define MISUSE(name, call)                                                                         \
    {#name, [](NRT_MemInfo *mi, void *block) {                                                     \
         (void)mi, (void)block, call;                                                              \
     }},
#include "gpu/nrt/misuses.def"
#undef MISUSE
    };
    for (const auto &misuse : misuses) {
        reset_heap();
        NRT_MemInfo *mi = NRT_MemInfo_new_varsize(8);
        void *block = NRT_Allocate(8);
        NRT_incref(mi);
        NRT_decref(mi);
        NRT_decref(mi);
        NRT_Free(block);
        EXPECT_EQ(0, traps()) << misuse.name;
        misuse.call(mi, block);
        EXPECT_LE(1, traps()) << misuse.name;
    }
    reset_heap();
}

}  // namespace
