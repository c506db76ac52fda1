// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include "arith/sample_value.h"
#include "arith/simplify.h"
#include "harness/random_ir.h"
#include "ir/operators.h"
#include "ir/parser.h"
#include "ir/printer.h"

namespace calotype {

using namespace internal;

namespace {

std::optional<int64_t> sample(const char *text) {
    return SampleValues().of(parse_expr(text));
}

TEST(SampleValues, EqualExpressionsHaveOne) {
    EXPECT_EQ(sample("x * 2 + y"), sample("y + x + x"));
    EXPECT_EQ(sample("min(x, likely(y)) - 3"), sample("min(x - 3, y - 3)"));
    EXPECT_EQ(sample("(x + 8) / 4"), sample("x / 4 + 2"));
    EXPECT_EQ(sample("int32(float32(x) * 0.5f)"), sample("int32(0.5f * float32(x))"));
    EXPECT_NE(sample("x + y"), sample("x + z"));
    EXPECT_NE(sample("x / 4"), sample("x / 4 + 1"));
}

TEST(SampleValues, SetsDifferInWhatIsNotConstant) {
    const SampleValues one(0), other(1);
    for (const char *text : {"x", "x - y", "min(x, y) - max(y, z)", "f[x + 1]"}) {
        EXPECT_NE(one.of(parse_expr(text)), other.of(parse_expr(text))) << text;
    }
    for (const char *text : {"x + 3 - x", "(x * 4 + 5) % 4"}) {
        EXPECT_EQ(one.of(parse_expr(text)), other.of(parse_expr(text))) << text;
    }
}

TEST(SampleValues, WhatIsNotArithmeticHasNone) {
    EXPECT_FALSE(sample("f[x]:uint8"));
    EXPECT_FALSE(sample("x:uint8"));
    EXPECT_FALSE(sample("x * 1000000000 * 1000000000 * 1000000000"));
}

TEST(SampleValues, WhatIsReadAtOnePlaceIsTheSame) {
    EXPECT_TRUE(sample("f[x] + 1"));
    EXPECT_EQ(sample("f[x + y] - 1"), sample("f[y + x] - 1"));
    EXPECT_EQ(sample("int32(f[x * 2]:float32 * 8.0f)"), sample("int32(f[x + x]:float32 * 8.0f)"));
    EXPECT_NE(sample("f[x]"), sample("f[x + 1]"));
    EXPECT_NE(sample("f[x]"), sample("g[x]"));
}

TEST(SampleValues, WhatAPureFunctionGivesForEqualArgumentsIsTheSame) {
    EXPECT_TRUE(sample("int32(pure_extern floor_f32(float32(x)):float32)"));
    EXPECT_EQ(sample("pure_extern g(x + y):int32 - 1"), sample("pure_extern g(y + x):int32 - 1"));
    EXPECT_NE(sample("pure_extern g(x):int32"), sample("pure_extern g(x + 1):int32"));
    EXPECT_NE(sample("pure_extern g(x):int32"), sample("pure_extern h(x):int32"));
    EXPECT_FALSE(sample("extern g(x):int32"));
}

TEST(SampleValues, NothingIsSaidOfWhatRepeatsItself) {
    Expr e = Variable::make(Int(32), "x");
    for (int i = 0; i < 40; i++) {
        e = min(e, e + 1);
    }
    EXPECT_FALSE(SampleValues().of(e));
}

TEST(SampleValues, NamesStandForTheirValues) {
    SampleValues samples;
    const auto plain = samples.of(parse_expr("a * 2 + 3"));
    samples.with("b", parse_expr("a * 2"), [&] {
        EXPECT_EQ(samples.of(parse_expr("b + 3")), plain);
        samples.with("b", parse_expr("f[a]"), [&] {
            EXPECT_TRUE(samples.of(parse_expr("b + 3")));
            EXPECT_NE(samples.of(parse_expr("b + 3")), plain);
        });
    });
}

TEST(SampleValues, SimplifiedExpressionsKeepIt) {
    test::RandomIrOptions options;
    options.vectors = options.floats = options.loads_and_calls = options.handles = false;
    test::RandomIr random(17, options);
    int compared = 0;
    for (int i = 0; i < 2000; i++) {
        // Small numbers, as sums that wrap have no meaning.
        const Expr x = internal::Variable::make(Int(32), "x"), y = random.variable(Int(32));
        const Expr e =
            internal::Max::make(internal::Min::make(x * random.below(9), y + random.below(50)),
                                (x - y) / (1 + random.below(9)) + y % (1 + random.below(9)));
        const auto before = SampleValues().of(e), after = SampleValues().of(simplify(e));
        if (before && after) {
            compared++;
            EXPECT_EQ(*before, *after) << e << "\n" << simplify(e);
        }
    }
    EXPECT_GT(compared, 1500);
}

}  // namespace
}  // namespace calotype
