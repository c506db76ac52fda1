// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "arith/monotonic.h"

#include <gtest/gtest.h>

#include "harness/interpret.h"
#include "ir/operators.h"
#include "ir/printer.h"
#include "random_expr.h"

using namespace calotype;
using namespace calotype::internal;
using namespace calotype::test;

namespace {

const Expr x = Variable::make(Int(32), "x"), y = Variable::make(Int(32), "y");

TEST(Monotonic, OfSimpleExpressions) {
    EXPECT_EQ(is_monotonic(y * 3 + 1, "x"), Monotonic::Constant);
    EXPECT_EQ(is_monotonic(x * 3 - y, "x"), Monotonic::Increasing);
    EXPECT_EQ(is_monotonic(y - x / 2, "x"), Monotonic::Decreasing);
    EXPECT_EQ(is_monotonic(x - x / 2, "x"), Monotonic::Increasing);
    EXPECT_EQ(is_monotonic(max(x, y) + min(x * 2, 5), "x"), Monotonic::Increasing);
    EXPECT_EQ(is_monotonic(x % 4, "x"), Monotonic::Unknown);
    EXPECT_EQ(is_monotonic(x * y, "x"), Monotonic::Unknown) << "the sign of y is not known";
    EXPECT_EQ(is_monotonic(x < y, "x"), Monotonic::Decreasing);
    EXPECT_EQ(is_monotonic(likely(x) >= y, "x"), Monotonic::Increasing);
}

TEST(Monotonic, StepsAreBounded) {
    EXPECT_EQ(derivative_bounds(x * 3 - x, "x"), ConstantInterval::single(2));
    EXPECT_EQ(derivative_bounds(x / 4, "x"), ConstantInterval::of(0, 1));
    EXPECT_EQ(derivative_bounds(x * 5 / 2, "x"), ConstantInterval::of(2, 3));
    EXPECT_EQ(derivative_bounds(clamp(x, 0, y), "x"), ConstantInterval::of(0, 1));
    EXPECT_EQ(derivative_bounds(select(x < y, 3, 10), "x"), ConstantInterval::of(0, 7));
    EXPECT_EQ(derivative_bounds(select(x > 2, x - 1, x), "x"), ConstantInterval::of(0, 1));
    EXPECT_EQ(derivative_bounds(select(x < 2, x, x - 3), "x"), ConstantInterval::of(-2, 1));
}

TEST(Monotonic, WhatWrapsIsUnknown) {
    EXPECT_EQ(is_monotonic(cast(UInt(8), x), "x"), Monotonic::Unknown);
    EXPECT_EQ(is_monotonic(cast(Int(64), x) * 2, "x"), Monotonic::Increasing);
    const Expr bytes = Variable::make(UInt(8), "b");
    EXPECT_EQ(is_monotonic(bytes + cast(UInt(8), 1), "b"), Monotonic::Unknown);
    EXPECT_EQ(is_monotonic(cast(Int(32), bytes) + 1, "b"), Monotonic::Increasing);
}

/// The ends of a loop, from which bounds are inferred, may be where a promise does not hold.
TEST(Monotonic, PromisesAreLookedThroughByWish) {
    const auto promise = [](const Expr &value, const Expr &min, const Expr &max) {
        return Call::make(Int(32), Intrinsic::promise_clamped, {value, min, max});
    };
    EXPECT_EQ(is_monotonic(promise(x * 2, y, y + 9), "x"), Monotonic::Unknown);
    EXPECT_EQ(derivative_bounds(without_promises(promise(x * 2, y, y + 9)), "x"),
              ConstantInterval::single(2));
    // The values of both sides meet where the condition changes.
    const Expr sides = select(y < x, promise(x - 2, x - 2, y) + 2, promise(x, x, y));
    EXPECT_EQ(derivative_bounds(without_promises(sides), "x"), ConstantInterval::single(1));
}

TEST(Monotonic, OfLetsAndOtherVariables) {
    const Expr t = Variable::make(Int(32), "t");
    EXPECT_EQ(is_monotonic(Let::make("t", x * 2, t - x), "x"), Monotonic::Increasing);
    EXPECT_EQ(is_monotonic(Let::make("x", y, x), "x"), Monotonic::Constant) << "another x";
    Scope<ConstantInterval> others;
    others.push("t", ConstantInterval::of(-2, -1));
    EXPECT_EQ(is_monotonic(t, "x", others), Monotonic::Decreasing);
}

TEST(Monotonic, MemoryMayChange) {
    const Expr load = Load::make(Int(32), "buf", y, const_true(), Alignment());
    EXPECT_EQ(is_monotonic(load, "x"), Monotonic::Unknown);
    EXPECT_EQ(is_monotonic(Call::make(Int(32), "f", {y}, CallKind::Func), "x"), Monotonic::Unknown);
}

/// Every step of random expressions is within what is claimed.
void check_steps(const std::vector<Type> &types, uint32_t seed) {
    RandomExpr random(seed);
    random.types = types;
    for (const Type &t : types) {
        random.variables.emplace_back("n_" + to_string(t), t);
    }
    random.variables.emplace_back("x", types[0]);
    random.variables.emplace_back("x", types[0]);
    int known = 0;
    for (int i = 0; i < 3000; i++) {
        const Type t = random.below(4) ? types[random.below(int(types.size()))] : Bool();
        const Expr e = random.make(t, 3);
        const ConstantInterval claimed = derivative_bounds(e, "x");
        known += !claimed.is_everything();
        for (int trial = 0; trial < 8; trial++) {
            Interpreter before, after;
            for (const Type &v : types) {
                before.variables["n_" + to_string(v)] = Value::integer(v, random.below(40) - 20);
            }
            after.variables = before.variables;
            const int at = random.below(40) - (types[0].is_uint() ? 0 : 20);
            before.variables["x"] = Value::integer(types[0], at);
            after.variables["x"] = Value::integer(types[0], at + 1);
            const Value a = before.evaluate(e), b = after.evaluate(e);
            if (!before.undefined() && !after.undefined()) {
                ASSERT_TRUE(claimed.contains(int64_t(b.lanes[0].i - a.lanes[0].i)))
                    << e << "\nsteps from " << to_string(a) << " to " << to_string(b)
                    << " at x = " << at;
            }
        }
    }
    EXPECT_GT(known, 300) << "the test must see claims";
}

TEST(MonotonicProperty, Int32) {
    check_steps({Int(32)}, 21);
}

TEST(MonotonicProperty, MixedTypes) {
    check_steps({Int(32), UInt(8), Int(16), Int(64)}, 22);
    check_steps({UInt(8), Int(32)}, 23);
}

TEST(Step, ItselfWhereItIsNoConstant) {
    const Expr x = Variable::make(Int(32), "x"), stride = Variable::make(Int(32), "stride");
    EXPECT_EQ(constant_step_of(x * 3 - 7, "x"), 3);
    EXPECT_EQ(constant_step_of(stride, "x"), 0);
    EXPECT_EQ(constant_step_of(x * stride, "x"), std::nullopt);
    EXPECT_EQ(to_string(step_of(x * stride + 5, "x")), "stride");
    EXPECT_EQ(constant_step_of(x % 4, "x"), std::nullopt);
    EXPECT_EQ(constant_step_of(x % 4, "x", SimplifyContext().bound("x", 0, 2)), 1);
}

}  // namespace
