// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "arith/difference_range.h"
#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/operators.h"
#include "ir/parser.h"
#include "ir/printer.h"
#include "ir/queries.h"

namespace calotype {
namespace {

using namespace internal;

ConstantInterval apart(const char *a, const char *b) {
    return difference_range(parse_expr(a), parse_expr(b));
}

TEST(DifferenceRange, FollowsFromTheForms) {
    EXPECT_EQ(apart("min(x, 16)", "min(x, 17)"), ConstRange::of(-1, 0));
    EXPECT_EQ(apart("max(x + 3, y)", "max(y, x)"), ConstRange::of(0, 3));
    EXPECT_EQ(apart("min(x, y) + 2", "x"), ConstRange::at_most(2));
    EXPECT_EQ(apart("x", "max(x + 1, y)"), ConstRange::at_most(-1));
    EXPECT_EQ(apart("min(max(x, y), 5)", "min(max(x + 2, y), 7)"), ConstRange::of(-2, 0));
    EXPECT_TRUE(apart("min(x, y)", "min(z, 4)").is_everything());
    EXPECT_TRUE(apart("min(x:int8, (int8)3)", "min(x:int8, (int8)4)").is_everything());
}

TEST(DifferenceRange, OfSums) {
    const auto range = [](const char *e) {
        return sum_range(parse_expr(e));
    };
    EXPECT_EQ(range("min(x, min(z, y * 4 + 4) * 8) + w - 1 - min(x + w - 8, y * 32 + w)"),
              ConstRange::at_most(31));
    EXPECT_EQ(range("max(x, y) * 3 - max(x + 2, y) * 3 + 1"), ConstRange::of(-5, 1));
    EXPECT_EQ(range("x * 4 - (x + 2) * 4"), ConstRange::single(-8));
    EXPECT_TRUE(range("min(x, y) * 3 - min(x, y) * 2").is_everything());
    EXPECT_TRUE(range("min(x:int8, (int8)3) - min(x:int8, (int8)4)").is_everything());
}

TEST(DifferenceRange, HoldsOfAllValues) {
    const char *const forms[] = {"min(x, 2)",
                                 "min(x, y)",
                                 "max(x, y) + 1",
                                 "min(x - 1, y)",
                                 "max(x, 1)",
                                 "min(max(x, y), 2)",
                                 "max(min(x, y), z)",
                                 "min(y, x) + 2",
                                 "max(y + 2, z)",
                                 "x + 1",
                                 "y"};
    for (const char *f : forms) {
        for (const char *g : forms) {
            const ConstantInterval r = apart(f, g),
                                   of_sum = sum_range(parse_expr(f) - parse_expr(g));
            for (int i = 0; i < 125; i++) {
                const std::map<std::string, Expr> values = {
                    {"x", i % 5 - 2}, {"y", i / 5 % 5 - 1}, {"z", i / 25 - 2}};
                const auto d =
                    as_const_int(simplify(substitute(values, parse_expr(f) - parse_expr(g))));
                ASSERT_TRUE(d && r.contains(*d) && of_sum.contains(*d)) << f << " - " << g;
            }
        }
    }
}

ConstantInterval nested(const char *a, const char *b) {
    return sum_range(parse_expr(a) - parse_expr(b));
}

TEST(DifferenceRange, OfTilesWithinTiles) {
    EXPECT_EQ(nested("min(min(x, n) * 8 + 7, m)", "min(x * 8, m - 1)"), ConstRange::at_most(7));
    EXPECT_EQ(nested("min(min(min(x * 4 + 3, n) * 4 + 3, m) * 16 + y + 15, z)",
                     "min(z - 15, x * 256 + y)"),
              ConstRange::at_most(255));
    EXPECT_EQ(nested("max(max(x, n) * 8, m)", "max(x * 8 + 3, m)"), ConstRange::at_least(-3));
    EXPECT_EQ(nested("x + 5", "x"), ConstRange::single(5));
    EXPECT_TRUE(nested("min(x, n) * 8", "min(y, m)").is_everything());
    EXPECT_EQ(nested("min(x, n) * -8", "x * -8"), ConstRange::at_least(0));
}

TEST(DifferenceRange, OfTilesHoldsOfAllValues) {
    const char *const forms[] = {"min(min(x, y) * 2 + 1, z)", "min(x * 2, z - 1)",
                                 "max(max(x, y) * 3, z) + 2", "max(x * 3 + y, y)",
                                 "min(x + min(y, z), 3)",     "x * 2",
                                 "min(max(x, y), z * 2) * 2", "x + y"};
    for (const char *f : forms) {
        for (const char *g : forms) {
            const ConstantInterval r = nested(f, g);
            for (int i = 0; i < 343; i++) {
                const std::map<std::string, Expr> values = {
                    {"x", i % 7 - 3}, {"y", i / 7 % 7 - 2}, {"z", i / 49 - 3}};
                const auto d =
                    as_const_int(simplify(substitute(values, parse_expr(f) - parse_expr(g))));
                ASSERT_TRUE(d && r.contains(*d)) << f << " - " << g;
            }
        }
    }
}

TEST(DifferenceRange, SettlesComparisons) {
    for (const char *text :
         {"min(x, 16) <= min(x, 17)", "max(min(x, 16), min(x, 17) + 2) == min(x, 17) + 2",
          "max(min(x, 16), min(x, 17) + 2) + min(min(x, 16) - min(x, 17), 2) == min(x, 16) + 2"}) {
        EXPECT_TRUE(can_prove(parse_expr(text))) << text;
    }
}

}  // namespace
}  // namespace calotype
