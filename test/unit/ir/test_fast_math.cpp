// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The accuracy that ir/language/math.h promises of the fast_ functions, over random operands.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "harness/interpret.h"
#include "ir/operators.h"

namespace calotype {

using namespace internal;
namespace {

class FastMath : public ::testing::Test {
protected:
    double evaluate(const Expr &e, double x, double y = 0) {
        test::Interpreter interpreter;
        interpreter.variables = {{"x", test::Value::real(Float(32), x)},
                                 {"y", test::Value::real(Float(32), y)}};
        return interpreter.evaluate(e).lanes[0].f;
    }
    double uniform(double low, double high) {
        return double(float(std::uniform_real_distribution<double>(low, high)(random_)));
    }
    const Expr x_ = Variable::make(Float(32), "x"), y_ = Variable::make(Float(32), "y");

private:
    std::mt19937 random_{5};
};

TEST_F(FastMath, SineAndCosine) {
    const Expr sine = fast_sin(x_), cosine = fast_cos(x_);
    for (int i = 0; i < 3000; i++) {
        const double x = uniform(i % 2 ? -7 : -8192, i % 2 ? 7 : 8192);
        ASSERT_NEAR(evaluate(sine, x), std::sin(x), 3e-6) << x;
        ASSERT_NEAR(evaluate(cosine, x), std::cos(x), 3e-6) << x;
    }
}

TEST_F(FastMath, SineAndCosineOfOtherTypes) {
    const Expr n = Variable::make(Int(32), "n"), wide = Variable::make(Float(64), "w");
    EXPECT_EQ(fast_sin(n).type(), Float(32));
    EXPECT_EQ(fast_cos(cast(UInt(8), n)).type(), Float(32));
    EXPECT_EQ(fast_sin(wide).type(), Float(64));
    EXPECT_EQ(fast_cos(cast(Float(16), wide)).type(), Float(16));
}

TEST_F(FastMath, Exponential) {
    const Expr e = fast_exp(x_);
    for (int i = 0; i < 3000; i++) {
        const double x = uniform(-86.6, 88.7);
        // Without fused operations what is left of x is rounded to a part of x.
        ASSERT_NEAR(evaluate(e, x) / std::exp(x), 1, 1e-6 + 5e-8 * std::fabs(x)) << x;
    }
    EXPECT_EQ(evaluate(e, 200), std::numeric_limits<double>::infinity());
    EXPECT_EQ(evaluate(e, -200), 0);
    EXPECT_EQ(evaluate(e, 1e30), std::numeric_limits<double>::infinity());
    EXPECT_NEAR(evaluate(e, 0), 1, 1e-6);
}

TEST_F(FastMath, Logarithm) {
    const Expr e = fast_log(x_);
    for (int i = 0; i < 3000; i++) {
        const double x = double(float(std::exp(uniform(-80, 80))));
        ASSERT_NEAR(evaluate(e, x), std::log(x), 3e-6 * std::max(1.0, std::fabs(std::log(x)))) << x;
    }
    EXPECT_EQ(evaluate(e, 1), 0);
}

TEST_F(FastMath, Power) {
    const Expr e = fast_pow(x_, y_);
    for (int i = 0; i < 3000; i++) {
        const double x = uniform(0.1, 10), y = uniform(-3, 3);
        ASSERT_NEAR(evaluate(e, x, y) / std::pow(x, y), 1, 3e-6) << x << " " << y;
    }
    EXPECT_EQ(evaluate(e, 0, 2.5), 0);
    EXPECT_EQ(evaluate(e, 0, 0), 1);
}

}  // namespace
}  // namespace calotype
