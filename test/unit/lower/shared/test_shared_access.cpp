// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// May two threads meet at one element?
#include <gtest/gtest.h>

#include "ir/parser.h"
#include "lower/gpu/shared/shared_access.h"

namespace calotype::internal {
namespace {

/// In blocks of 16 x 8 threads tx, ty; a loop i of each thread over 4, a loop k of all threads.
class SharedAccessTest : public ::testing::Test {
protected:
    SharedAccess access(const char *index) const {
        SharedAccess a;
        a.buffer = "f";
        a.index = linear_index(parse_expr(index), context,
                               [](const std::string &name) { return name == "f.stride.1"; });
        return a;
    }

    bool meet(const char *a, const char *b) const {
        return may_conflict(access(a), access(b), {{"tx", 16}, {"ty", 8}});
    }

    SharedAccessTest() {
        context.own = {"tx", "ty", "i"};
        context.known.given("tx", ConstantInterval(0, 15));
        context.known.given("ty", ConstantInterval(0, 7));
        context.known.given("i", ConstantInterval(0, 3));
        context.known.given("k", ConstantInterval(0, 9));
    }
    AccessContext context;
};

TEST_F(SharedAccessTest, the_same_thread_alone) {
    EXPECT_FALSE(meet("tx + ty*16", "tx + ty*16"));
    EXPECT_FALSE(meet("tx + ty*17 + n", "n + ty*17 + tx"));
    EXPECT_TRUE(meet("tx + ty*15", "tx + ty*15"));
    EXPECT_TRUE(meet("tx", "tx"));  // of all rows
}

TEST_F(SharedAccessTest, neighbours) {
    EXPECT_TRUE(meet("tx + ty*16", "tx + ty*16 + 1"));
    EXPECT_FALSE(meet("tx*2 + ty*32", "tx*2 + ty*32 + 1"));  // even and odd
    EXPECT_FALSE(meet("tx + ty*16", "tx + ty*16 + 128"));    // too far
    EXPECT_TRUE(meet("tx + ty*16", "15 - tx + ty*16"));
}

TEST_F(SharedAccessTest, loops_of_a_thread) {
    EXPECT_FALSE(meet("tx*4 + i + ty*64", "tx*4 + i + ty*64"));
    EXPECT_FALSE(meet("tx + ty*16 + i*128", "tx + ty*16 + i*128"));
    EXPECT_TRUE(meet("tx*3 + i + ty*64", "tx*3 + i + ty*64"));
}

TEST_F(SharedAccessTest, rows_of_a_buffer) {
    EXPECT_FALSE(meet("tx + ty*f.stride.1", "tx + f.stride.1*ty"));
    EXPECT_FALSE(meet("tx + (ty*2)*f.stride.1", "tx + (ty*2 + 1)*f.stride.1"));
    EXPECT_TRUE(meet("tx + ty*w", "tx + ty*w"));  // any w
}

TEST_F(SharedAccessTest, iterations_of_all_threads) {
    SharedAccess before = access("tx + ty*16 + k"), now = before;
    EXPECT_FALSE(may_conflict(before, now, {{"tx", 16}, {"ty", 8}}));
    before.stale.insert("k");
    EXPECT_TRUE(may_conflict(before, now, {{"tx", 16}, {"ty", 8}}));
    before = now = access("tx + ty*16 + k*128");
    before.stale.insert("k");
    EXPECT_FALSE(may_conflict(before, now, {{"tx", 16}, {"ty", 8}}));
}

TEST_F(SharedAccessTest, what_is_not_understood) {
    EXPECT_TRUE(meet("g[tx]", "g[tx]"));
    EXPECT_TRUE(meet("tx*n", "tx*n"));
    EXPECT_FALSE(meet("tx + ty*16 + min(n, 3)", "tx + ty*16 + min(n, 3)"));
    EXPECT_TRUE(meet("tx + ty*16 + min(n, 3)", "tx + ty*16"));
}

}  // namespace
}  // namespace calotype::internal
