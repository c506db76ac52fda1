// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gradients against differences of the loss: each program reads the buffer `in` by one kind of
// read, update or reduction.
#include <gtest/gtest.h>

#include <cmath>

#include "calotype.h"
#include "harness/expect_error.h"

namespace calotype {
namespace {

class DerivativeTest : public testing::Test {
protected:
    static constexpr int size = 6;
    Var x{"x"}, y{"y"};
    Func f{"f"}, loss{"loss"};
    Buffer<float> in{size, "in"};
    RDom all{0, size}, inner{0, size - 1}, rest{1, size - 1};

    void SetUp() override {
        in.fill([](int i) { return 0.55f + 0.3f * float(i) + (i % 2 ? 0.2f : 0.0f); });
    }
    double value() {
        Buffer<float> result = loss.realize();
        return result();
    }
    double by_differences(int i) {
        const float step = 1e-2f, old = in(i);
        in(i) = old + step;
        const double above = value();
        in(i) = old - step;
        const double below = value();
        in(i) = old;
        return (above - below) / (2 * step);
    }
    void check() {
        const Derivative d = propagate_adjoints(loss);
        Buffer<float> gradient = d(in).realize({size});
        for (int i = 0; i < size; i++) {
            const double expected = by_differences(i);
            EXPECT_NEAR(gradient(i), expected, 2e-2 * (1 + std::fabs(expected))) << i;
        }
    }
};

TEST_F(DerivativeTest, Stencil) {
    f(x) = in(clamp(x, 0, 5)) * in(clamp(x + 1, 0, 5));
    loss() += f(all) * f(all) * cast<float>(all + 1);
    check();
}

TEST_F(DerivativeTest, StencilThatReadsNothingOutside) {
    f(x) = in(x)*in(x + 1);
    loss() += f(inner) * f(inner);
    check();
}

TEST_F(DerivativeTest, Downsampled) {
    RDom r(0, 2), q(0, 3);
    f(x) += in(2 * x + r) * cast<float>(r + 1);
    loss() += pow(f(q), 3);
    check();
}

TEST_F(DerivativeTest, Upsampled) {
    RDom q(0, 16);
    f(x) = in((x + 1) / 3);
    loss() += f(q) * cast<float>(q);
    check();
}

TEST_F(DerivativeTest, Transposed) {
    RDom q(0, 2, 0, 3);
    f(x, y) = in(y * 2 + x) * in(5 - x);
    loss() += f(q.x, q.y) * cast<float>(q.x + 3 * q.y);
    check();
}

TEST_F(DerivativeTest, Functions) {
    const Expr v = in(x);
    f(x) = sin(v) + cos(v) * tan(v / 4) + exp(v) * log(v) + sqrt(v) + pow(v, 2.5f) + tanh(v) +
           atan2(v, 2.0f) + atan(v) + sinh(v) - cosh(v) + asinh(v) + 1.0f / v + erf(v) + abs(v) +
           asin(v / 3) * acos(v / 3) + atanh(v / 3) + acosh(v + 1);
    loss() += f(all);
    check();
}

TEST_F(DerivativeTest, FunctionsByPolynomials) {
    f(x) = fast_exp(in(x)) * fast_sin(in(x)) + fast_cos(in(x));
    loss() += f(all);
    check();
}

TEST_F(DerivativeTest, Choices) {
    f(x) = select(in(x) > 1.0f, in(x)*in(x), 3 * in(x)) + max(in(x), 1.2f) * min(in(x), 1.4f) +
           mux(x, {in(x)*2, in(0) * in(x), in(x)}) + lerp(in(x), in(1), 0.3f);
    loss() += f(all);
    check();
}

TEST_F(DerivativeTest, Scan) {
    f(x) = 0.0f;
    f(0) = in(0);
    f(rest) = f(rest - 1) * in(rest) + 0.1f;
    loss() += f(all) * cast<float>(all);
    check();
}

TEST_F(DerivativeTest, ScanBackwards) {
    f(x) = in(x);
    f(5 - rest) = f(6 - rest) * in(5 - rest) + 0.1f;
    loss() += f(all) * f(all);
    check();
}

TEST_F(DerivativeTest, ScanThatReadsTwo) {
    RDom q(2, 4);
    f(x) = 0.0f;
    f(0) = in(0);
    f(1) = in(1);
    f(q) = f(q - 1) * f(q - 2) + in(q);
    loss() += f(all) * f(all);
    check();
}

TEST_F(DerivativeTest, ScanByRows) {
    RDom q(1, 2), whole(0, 2, 0, 3);
    f(x, y) = in(x + 2 * y);
    f(x, q) = f(x, q - 1) * f(x, q);
    loss() += f(whole.x, whole.y) * cast<float>(whole.x + 1);
    check();
}

TEST_F(DerivativeTest, Product) {
    f() = 1.0f;
    f() *= in(all);
    loss() = f() * f();
    check();
}

TEST_F(DerivativeTest, ReductionsThatAreNoSums) {
    RDom q(0, 3);
    f(x) = in(0);
    f(x) = f(x) * f(x) * 0.2f + in(all)*cast<float>(x);
    loss() += f(q);
    check();
}

TEST_F(DerivativeTest, ReductionOfTwoDimensionsWhereAConditionHolds) {
    RDom q(0, 2, 0, 3);
    q.where(q.x + q.y > 0);
    f() = 1.0f;
    f() = f() * in(q.x + 2 * q.y) + 0.5f;
    loss() = f();
    check();
}

TEST_F(DerivativeTest, InlineReductions) {
    loss() = sum(in(all)*in(all)) + maximum(in(all)) + product(in(all));
    check();
}

TEST_F(DerivativeTest, UpdatesOneAfterTheOther) {
    f(x) = in(x);
    f(x) = f(x) * f(x);
    f(rest) = 2.0f * f(rest) + f(0);
    f(3) = in(2);
    f(x) += f(x) * in(1);
    loss() += f(all) * f(all);
    check();
}

TEST_F(DerivativeTest, ReadsOfWhatLaterIterationsWrite) {
    f(x) = in(x);
    f(inner) = f(inner + 1) * f(inner);
    loss() += f(all) * f(all);
    check();
}

TEST_F(DerivativeTest, Tuples) {
    f(x) = Tuple(in(x), x, in(x)*2.0f);
    f(x) = Tuple(f(x)[2] * f(x)[0], f(x)[1] + 1, f(x)[0]);
    loss() += f(all)[0] * cast<float>(f(all)[1]) + f(all)[2] * f(all)[2];
    check();
}

TEST_F(DerivativeTest, Histogram) {
    RDom q(0, 4);
    f(x) = 0.0f;
    f(clamp(cast<int>(in(all)), 0, 3)) += in(all)*in(all);
    loss() += f(q) * f(q);
    check();
}

TEST_F(DerivativeTest, HistogramOfAsManyBinsAsAParameterSays) {
    Param<int> bins("bins");
    bins.set(4);
    RDom q(0, 4);
    f(x) = 0.0f;
    f(clamp(cast<int>(in(all)), 0, bins - 1)) += in(all)*in(all);
    loss() += f(q) * f(q);
    check();
}

TEST_F(DerivativeTest, UpdateWhereAConditionHolds) {
    RDom q(0, size);
    q.where(q.x % 2 == 0);
    f(x) = in(x);
    f(q.x) = f(q.x) * f(q.x);
    loss() += f(all) * cast<float>(all + 1);
    check();
}

TEST_F(DerivativeTest, Twice) {
    f(x) = in(x)*in(x)*in(x);
    Func first("first");
    first() += f(all);
    const Func gradient = propagate_adjoints(first)(in);
    loss() += gradient(all) * cast<float>(all + 1);
    check();
}

TEST_F(DerivativeTest, ParametersAndImages) {
    Param<float> p("p");
    p.set(3.0f);
    ImageParam image(Float(32), 1, "image");
    image.set(in);
    f(x) = image(x) * p * p;
    loss() += f(all);
    const Derivative d = propagate_adjoints(loss);
    Buffer<float> of_p = d(p).realize(), of_image = d(image).realize({size});
    float sum = 0;
    for (int i = 0; i < size; i++) {
        sum += in(i);
        EXPECT_FLOAT_EQ(of_image(i), 9.0f);
    }
    EXPECT_FLOAT_EQ(of_p(), 6 * sum);
    EXPECT_FALSE(d("nothing").defined());
}

TEST_F(DerivativeTest, OfOutputsOfSeveralElements) {
    f(x) = in(x)*in(x);
    Buffer<float> adjoint(4, "adjoint");
    adjoint.fill([](int i) { return float(i); });
    const Derivative d = propagate_adjoints(f, adjoint);
    Buffer<float> gradient = d(in).realize({size});
    for (int i = 0; i < size; i++) {
        EXPECT_FLOAT_EQ(gradient(i), i < 4 ? 2 * in(i) * float(i) : 0.0f);
    }
}

// Bounds are given by extents, or by last coordinates: both cover the output.
TEST_F(DerivativeTest, OfOutputsInGivenBounds) {
    Param<float> p("p");
    p.set(3.0f);
    f(x) = BoundaryConditions::constant_exterior(in, 0.0f)(x) * p;
    Buffer<float> ones(size);
    ones.fill(1.0f);
    const Func adjoint = BoundaryConditions::constant_exterior(ones, 0.0f);
    float sum = 0;
    for (int i = 0; i < size; i++) {
        sum += in(i);
    }
    for (int second : {size - 1, size}) {
        Buffer<float> of_p = propagate_adjoints(f, adjoint, {{0, second}})(p).realize();
        EXPECT_FLOAT_EQ(of_p(), sum) << second;
    }
}

// Without an adjoint the output is differentiated wherever it is, as if its values were added up.
TEST_F(DerivativeTest, OfOutputsWithoutBounds) {
    Func g("g"), h("h");
    g(x) = in(x)*in(x);
    h(x, y) = cast<float>(x + y);
    f(x) = g(x - 1) + 3 * g(x + 1) + h(x, 2);
    const Derivative d = propagate_adjoints(f);
    Buffer<float> gradient = d(in).realize({size});
    for (int i = 0; i < size; i++) {
        EXPECT_FLOAT_EQ(gradient(i), 8 * in(i));
    }
    Buffer<float> of_g = d(g).realize({4});
    EXPECT_EQ(of_g(3), 4.0f);
    Buffer<float> of_h = d(h).realize({3, 4});
    EXPECT_EQ(of_h(2, 2), 1.0f);
    EXPECT_EQ(of_h(2, 3), 0.0f);
}

// Shifts stay gathers: adjoints have no update definitions.
TEST_F(DerivativeTest, ShiftsBecomeShifts) {
    Func g("g");
    f(x) = in(clamp(x, 0, 5));
    g(x) = f(x) + 2 * f(x + 1) + f(2 * x);
    loss() += g(all);
    const Derivative d = propagate_adjoints(loss);
    EXPECT_FALSE(d(f).has_update_definition());
    EXPECT_TRUE(d(in).has_update_definition());
    check();
}

TEST_F(DerivativeTest, ZeroWhereNoValueDependsOnIt) {
    Func f("f"), g("g"), unused("unused");
    f() = 2.5f;
    g() = ceil(f()) + floor(f());
    const Derivative d = propagate_adjoints(g);
    EXPECT_EQ(Buffer<float>(d(f).realize())(), 0.0f);
    unused() = 1.0f;
    EXPECT_FALSE(d(unused).defined());
}

TEST_F(DerivativeTest, WhatHasNone) {
    f(x) = in(clamp(x, 0, 5));
    EXPECT_COMPILE_ERROR(propagate_adjoints(f),
                         "func " + f.name() +
                             " is differentiated over coordinates that have no bounds");
    Func g("g"), h("h"), k("k"), l("l");
    g(x) = in(x);
    g(0) = in(all)*2.0f;
    h() = g(0);
    EXPECT_COMPILE_ERROR(propagate_adjoints(h),
                         "update 0 of func " + g.name() +
                             " writes elements more than once and is not a sum, which cannot be "
                             "differentiated");
    k(x) = reinterpret<float>(reinterpret<int>(in(x)) + 1);
    l() += k(all);
    EXPECT_COMPILE_ERROR(propagate_adjoints(l),
                         "the bits of a value are taken for a number of type float32, which has "
                         "no derivative");
    Func m("m"), n("n"), o("o");
    Buffer<int> index(4);
    RDom q(index);
    m(x) = in(clamp(x, 0, 5));
    n() += m(index(q));
    EXPECT_COMPILE_ERROR(propagate_adjoints(n),
                         "func " + m.name() +
                             " is differentiated over coordinates that have no bounds");
}

}  // namespace
}  // namespace calotype
