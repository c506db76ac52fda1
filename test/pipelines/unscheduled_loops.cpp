// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops without vectors in their schedule: the compiler makes vectors of them by itself, and that changes no value, whatever
// the type and however few the iterations.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "calotype.h"

namespace calotype {
namespace {

const Var x("x"), y("y");

template<typename T>
class UnscheduledLoops : public ::testing::Test {
protected:
    static constexpr int width = 67;

    /// Values of the whole range of small types, and floats whose sums are exact.
    static Buffer<T> input() {
        Buffer<T> a(width);
        unsigned state = 12345;
        for (int i = 0; i < width; i++) {
            state = state * 1664525u + 1013904223u;
            a(i) = T(int((state >> 16) % 256) - (std::is_signed_v<T> ? 128 : 0));
        }
        a.set_min(-5);
        return a;
    }

    static std::vector<T> values(Func f, int min, int extent, const std::string &feature) {
        Buffer<T> out(extent);
        out.set_min(min);
        f.realize(out, Target(get_host_target().to_string() + feature));
        return {out.begin(), out.end()};
    }

    /// Of all extents from none to that of a few vectors, at both ends of what there is.
    static void expect_same(Func f, int first, int last) {
        for (int extent = 0; extent <= 40; extent++) {
            for (const int min : {first, last + 1 - extent}) {
                EXPECT_EQ(values(f, min, extent, ""),
                          values(f, min, extent, "-disable_llvm_loop_opt"))
                    << extent << " from " << min;
            }
        }
    }
};

using Types = ::testing::Types<uint8_t, int8_t, uint16_t, int16_t, uint32_t, int32_t, uint64_t,
                               int64_t, float, double>;
TYPED_TEST_SUITE(UnscheduledLoops, Types);

TYPED_TEST(UnscheduledLoops, OfElements) {
    const Buffer<TypeParam> a = this->input();
    Func f("f");
    f(x) = select(a(x) > a(x + 1), a(x) * a(x + 1), a(x) / 3 - cast<TypeParam>(x));
    this->expect_same(f, -5, 60);
}

TYPED_TEST(UnscheduledLoops, OfElementsThatAreLookedUp) {
    const Buffer<TypeParam> a = this->input();
    Func f("f");
    f(x) = a(clamp(cast<int>(a(x)), -5, 61)) + a(x);
    this->expect_same(f, -5, 61);
}

TYPED_TEST(UnscheduledLoops, OfReductions) {
    const Buffer<TypeParam> a = this->input();
    RDom r(-5, 47);
    Func f("f");
    f(x) = cast<TypeParam>(x);
    f(x) += a(r + clamp(x, 0, 20));
    f(x) = max(f(x), a(r));
    this->expect_same(f, -5, 61);
}

/// Vectors are made of the loop around, of which each lane has a reduction of its own.
TYPED_TEST(UnscheduledLoops, AroundWindowsOfAnySize) {
    const Buffer<TypeParam> a = this->input();
    for (const int size : {0, 1, 3, 20}) {
        const Param<int> n("n", size);
        RDom r(0, n, 0, 2);
        const Expr value = a(clamp(x + r.x - 1, -5, 61));
        Func largest("largest"), f("f");
        largest(x) = argmax(r, value * cast<TypeParam>(r.y + 1));
        f(x) = sum(value * a(r.x)) + cast<TypeParam>(largest(x)[0]) + largest(x)[2];
        this->expect_same(f, -5, 61);
    }
}

TYPED_TEST(UnscheduledLoops, AroundUpdatesInPlace) {
    const Buffer<TypeParam> a = this->input();
    const Param<int> n("n", 5);
    RDom r(0, n);
    r.where(r != 2);
    Func f("f"), g("g");
    f(x) = cast<TypeParam>(x);
    f(x) = f(x) * cast<TypeParam>(3) / 2 + a(clamp(x + r, -5, 61));
    f(x) += cast<TypeParam>(f(x) > a(x));
    g(x) = f(x);
    f.compute_root();
    this->expect_same(g, -5, 61);
}

TYPED_TEST(UnscheduledLoops, OfScansAndHistograms) {
    const Buffer<TypeParam> a = this->input();
    RDom r(-4, 40);
    Func f("f");
    f(x) = a(clamp(x, -5, 61));
    f(r) += f(r - 1);
    f(clamp(cast<int>(a(r)), -5, 35)) += cast<TypeParam>(1);
    Func g("g");
    g(x) = f(x);
    f.compute_root().bound(x, -5, 41);
    this->expect_same(g, -5, 35);
}

TYPED_TEST(UnscheduledLoops, OfFunctions) {
    const Buffer<TypeParam> a = this->input();
    Func f("f");
    const Expr v = cast<float>(a(x));
    f(x) = saturating_cast<TypeParam>(sin(v) * 50 + pow(abs(v) + 1, 0.5f) + log(abs(v) + 0.25f));
    f(x) = f(x) + saturating_cast<TypeParam>(cos(cast<float>(f(x))) * 20);
    this->expect_same(f, -5, 61);
}

/// Sums of floats are reassociated unless the program is strict about them.
TEST(UnscheduledLoops, SumsOfStrictFloatsKeepTheirOrder) {
    const int n = 1001;
    Buffer<float> a(n);
    float expected = 0;
    for (int i = 0; i < n; i++) {
        a(i) = std::sin(float(i)) * float(1 << (i % 20));
        expected += a(i);
    }
    RDom r(0, n);
    Func f("f");
    f() = 0.f;
    f() = strict_float(f() + a(r));
    const Buffer<float> in_expression = f.realize();
    EXPECT_EQ(in_expression(), expected);
    Func g("g");
    g() = 0.f;
    g() += a(r);
    const Buffer<float> by_target =
        g.realize({}, get_host_target().with_feature(Target::StrictFloat));
    EXPECT_EQ(by_target(), expected);
    const Buffer<float> by_feature =
        g.realize({}, get_host_target().with_feature(Target::DisableLLVMLoopOpt));
    EXPECT_EQ(by_feature(), expected);
}

}  // namespace
}  // namespace calotype
