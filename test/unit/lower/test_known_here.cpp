// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What do loops, lets and conditions say of integers?
#include <gtest/gtest.h>

#include "ir/parser.h"
#include "lower/known_here.h"

namespace calotype::internal {
namespace {

class KnownHereTest : public ::testing::Test {
protected:
    KnownHereTest() {
        known.given("t", ConstantInterval(0, 31));
    }
    ConstantInterval range(const char *e) const {
        return known.range(parse_expr(e));
    }
    KnownHere known;
};

TEST_F(KnownHereTest, conditions_narrow_ranges) {
    {
        const KnownHere::Inside inside(known, parse_expr("t < 8"));
        EXPECT_EQ(range("t"), ConstantInterval(0, 7));
        EXPECT_EQ(range("t*2 + 1"), ConstantInterval(1, 15));
        const KnownHere::Inside further(known, parse_expr("t > 2 && n > 0"));
        EXPECT_EQ(range("t"), ConstantInterval(3, 7));
        EXPECT_EQ(known.upper_bound(parse_expr("t + 1")), 8);
    }
    EXPECT_EQ(range("t"), ConstantInterval(0, 31));
    const KnownHere::Inside inside(known, parse_expr("!(t < 8)"));
    EXPECT_EQ(range("t"), ConstantInterval(8, 31));
}

TEST_F(KnownHereTest, conditions_on_lets_narrow_what_they_are_made_of) {
    const Stmt s = parse_stmt("let x = t*4\nlet far = x < 40\nf[x] = 1\n");
    const LetStmt *x = s.as<LetStmt>(), *far = x->body.as<LetStmt>();
    const KnownHere::Inside inside_x(known, x), inside_far(known, far);
    const KnownHere::Inside inside(known, parse_expr("far:bool"));
    EXPECT_EQ(range("t"), ConstantInterval(0, 9));
}

TEST_F(KnownHereTest, conditions_do_not_narrow_another_variable_of_the_same_name) {
    const KnownHere::Inside inside(known, parse_expr("t < 8"));
    const KnownHere::Inside loop(known, "t", parse_expr("20"));
    EXPECT_EQ(range("t"), ConstantInterval(0, 19));
}

TEST_F(KnownHereTest, contradictions_are_not_reachable) {
    const KnownHere::Inside inside(known, parse_expr("t < 8"));
    EXPECT_TRUE(known.is_reachable());
    const KnownHere::Inside further(known, parse_expr("t > 10"));
    EXPECT_FALSE(known.is_reachable());
}

}  // namespace
}  // namespace calotype::internal
