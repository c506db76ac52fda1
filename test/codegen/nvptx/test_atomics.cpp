// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Atomic updates of one element by the lanes of a warp.
#include <gtest/gtest.h>

#include "codegen/nvptx/device_module.h"

namespace calotype::internal {
namespace {

std::string updates(const std::string &body, Type t) {
    return checked_ptx(kernel("let t = gpu_thread_index(0)\n" + body,
                              {input("src", t), output("out", t), scalar("n", Int(32))}));
}

struct Combined {
    Type type;
    std::string update;
    int exchanges;
};

class AtomicUpdates : public testing::TestWithParam<Combined> {};

TEST_P(AtomicUpdates, OfOneElementAreOneAWarp) {
    const std::string ptx =
        updates("atomic out { out[n] = " + GetParam().update + " }", GetParam().type);
    EXPECT_EQ(count(ptx, "activemask.b32"), 1) << ptx;
    EXPECT_EQ(count(ptx, "shfl.sync.bfly.b32"), GetParam().exchanges) << ptx;
}

INSTANTIATE_TEST_SUITE_P(
    OfEachType, AtomicUpdates,
    testing::Values(Combined{Float(32), "out[n]:float32 + src[t]:float32", 5},
                    Combined{Float(64), "out[n]:float64 + src[t]:float64", 10},
                    Combined{Int(32), "out[n]:int32 + src[t]:int32", 5},
                    Combined{UInt(64), "max(out[n]:uint64, src[t]:uint64)", 10},
                    Combined{Int(32), "min(out[n]:int32, src[t]:int32)", 5},
                    Combined{Float(32), "max(out[n]:float32, src[t]:float32)", 5}));

TEST(Ptx, AtomicUpdatesOfSeveralElementsAreOfEachLane) {
    for (const std::string index : {"t", "t / 32", "src[n]:int32"}) {
        const std::string ptx = updates(
            "atomic out { out[" + index + "] = out[" + index + "]:int32 + src[t]:int32 }", Int(32));
        EXPECT_EQ(count(ptx, "activemask"), 0) << ptx;
    }
    // Lanes may be in different iterations.
    const std::string loop =
        updates("for (i, 0, src[t]:int32) { atomic out { out[i] = out[i]:int32 + src[t]:int32 } }",
                Int(32));
    EXPECT_EQ(count(loop, "activemask"), 0) << loop;
}

TEST(Ptx, SumsInSharedMemoryAreStoredOnce) {
    const std::string ptx =
        updates("allocate a[float32, 256] in gpu_shared\n allocate b[float32, 128] in gpu_shared\n"
                "a[t] = src[t]:float32\n a[t + 128] = src[t + 128]:float32\n"
                "evaluate gpu_thread_barrier(2)\n b[t] = 0.0f\n"
                "for (i, 0, 8) { b[t] = b[t]:float32 + a[t + i * 16]:float32 }\n"
                "evaluate gpu_thread_barrier(2)\n out[t] = b[127 - t]:float32",
                Float(32));
    EXPECT_EQ(count(ptx, "st.shared"), 3) << ptx;
}

}  // namespace
}  // namespace calotype::internal
