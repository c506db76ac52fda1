// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Directives that make other Funcs or rewrite definitions, boundary conditions, and values of the
// language.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "calotype.h"
#include "harness/expect_error.h"

namespace calotype {
namespace {

Var x("x"), y("y");

TEST(Wrappers, for_one_for_another_and_for_a_wrapper) {
    Func f("f"), g("g"), h("h");
    f(x, y) = x * y;
    g(x, y) = f(x, y) + f(x + 1, y);
    h(x, y) = g(x, y) + f(x, y);
    f.compute_root();
    g.compute_root();
    f.in(g).compute_root();
    f.in(g).in(g).compute_at(g, y);
    f.in(h).compute_root();
    Buffer<int> result = h.realize({10, 10});
    for (int j = 0; j < 10; j++) {
        for (int i = 0; i < 10; i++) {
            ASSERT_EQ(result(i, j), i * j * 2 + (i + 1) * j);
        }
    }
}

// Names of lowering have dots, which those of users cannot have: words in them are anybody's.
TEST(Names, that_lowering_uses_too) {
    const Var min("min"), extent("extent"), loop_min("loop_min");
    ImageParam in(Int(32), 2, "stride");
    Param<int> buffer("buffer");
    Func f("semaphore"), s0("s0"), query("query");
    f(min, extent) = Tuple(in(min, extent) + buffer, in(min, extent) - buffer);
    const RDom r(0, 3, "max");
    f(min, r) += Tuple(r, buffer);
    s0(min, extent) = f(min, extent)[0] * 2 + f(min, extent + 1)[1];
    query(min, extent) = s0(min, extent) + s0(min + 1, extent);
    query.split(min, loop_min, min, 4);
    f.store_root().compute_at(query, extent).vectorize(min, 4, TailStrategy::GuardWithIf).async();
    s0.store_root().compute_at(query, loop_min);
    Buffer<int> image(9, 9);
    image.for_each_element([&](int i, int j) { image(i, j) = 10 * i + j; });
    in.set(image);
    buffer.set(3);
    Buffer<int> result = query.realize({8, 8});
    const auto first = [](int i, int j) {
        return 10 * i + j + 3 + (j < 3 ? j : 0);
    };
    const auto second = [](int i, int j) {
        return 10 * i + j - 3 + (j < 3 ? 3 : 0);
    };
    for (int j = 0; j < 8; j++) {
        for (int i = 0; i < 8; i++) {
            ASSERT_EQ(result(i, j), 2 * (first(i, j) + first(i + 1, j)) + second(i, j + 1) +
                                        second(i + 1, j + 1));
        }
    }
}

TEST(Wrappers, of_an_input) {
    ImageParam in(UInt(8), 2);
    Param<int> offset;
    Func f("f");
    f(x, y) = in(x, y) + offset;
    Buffer<uint8_t> image(4, 4);
    image.fill(7);
    in.set(image);
    offset.set(4);
    in.in(f).compute_root();
    Buffer<int> result = f.realize({4, 4});
    EXPECT_EQ(result(3, 3), 11);
}

// In process images are passed as they are, with gaps between their rows and in any order.
TEST(Images, are_read_with_their_own_strides) {
    Buffer<int> image(10, 10);
    image.for_each_element([&](int i, int j) { image(i, j) = i + 100 * j; });
    Buffer<int> part = image.cropped({{0, 5}, {0, 5}});
    Buffer<int> columns = part.transposed(0, 1);
    for (const Buffer<int> &b : {part, columns, image.sliced(1, 3).embedded(1, 0)}) {
        Func f("f");
        f(x, y) = b(x, y) * 2;
        Buffer<int> result = f.realize({b.dim(0).extent(), b.dim(1).extent()});
        result.for_each_element(
            [&](int i, int j) { ASSERT_EQ(result(i, j), b(i, j) * 2) << i << ", " << j; });
    }
}

TEST(Images, of_another_shape_are_compiled_anew) {
    Buffer<int> image(8, 8, "image");
    image.for_each_element([&](int i, int j) { image(i, j) = i + 100 * j; });
    Func f("f");
    f(x, y) = image(x, y) * 2;
    EXPECT_EQ(Buffer<int>(f.realize({8, 8}))(2, 1), 204);
    image.transpose(0, 1);
    EXPECT_EQ(Buffer<int>(f.realize({8, 8}))(2, 1), 402);
    image.translate({1, 1});
    EXPECT_RUNTIME_ERROR(f.realize({8, 8}),
                         "constant image image covers [1, 8] in dimension 0, must cover [0, 7]");
}

TEST(Clones, have_a_schedule_of_their_own) {
    Func f("f"), g("g"), h("h");
    f(x) = x;
    f(x) += f(x) * 2;
    g(x) = f(x + 5);
    h(x) = g(x) + f(x);
    f.compute_root();
    f.clone_in(g).compute_at(h, x);
    Buffer<int> result = h.realize({10});
    for (int i = 0; i < 10; i++) {
        EXPECT_EQ(result(i), 3 * (i + 5) + 3 * i);
    }
}

TEST(ChangeType, SumsOfFloatsThatHoldIntegersAreSumsOfIntegers) {
    ImageParam a(Int(8), 1, "a"), b(Int(8), 1, "b");
    Func f("f"), g("g");
    RDom r(0, 100, "r");
    f(x) = 0.0f;
    f(x) += cast<float>(a(x + r)) * cast<float>(b(r));
    g(x) = f(x) / 2;
    Func in_integers = f.change_type(Int(32));
    EXPECT_EQ(in_integers.type(), Int(32));
    EXPECT_EQ(f.type(), Float(32));
    in_integers.compute_root().vectorize(x, 4);
    Buffer<int8_t> of_a(104), of_b(100);
    of_a.for_each_element([&](int i) { of_a(i) = int8_t(i * 37); });
    of_b.for_each_element([&](int i) { of_b(i) = int8_t(i * 11 + 5); });
    a.set(of_a);
    b.set(of_b);
    Buffer<float> result = g.realize({4});
    for (int i = 0; i < 4; i++) {
        int sum = 0;
        for (int k = 0; k < 100; k++) {
            sum += of_a(i + k) * of_b(k);
        }
        EXPECT_EQ(result(i), float(sum) / 2);
    }
}

TEST(ChangeType, OnceMore) {
    ImageParam a(Int(8), 1, "a");
    Func f("f");
    RDom r(0, 32, "r");
    f() = 0.0f;
    f() += cast<float>(a(r));
    Func narrow = f.change_type(Int(32)).change_type(Int(16));
    EXPECT_EQ(narrow.type(), Int(16));
    narrow.compute_root();
    Buffer<int8_t> of_a(32);
    of_a.fill(-128);
    a.set(of_a);
    Buffer<float> result = f.realize();
    EXPECT_EQ(result(), -128 * 32);
}

TEST(ChangeType, HowManyIterationsAreSafeIsCheckedByTheRun) {
    Param<int> n("n");
    Func f("some_terms");
    RDom r(0, n, "r");
    f() = 0;
    f() += clamp(r * r, 0, 100);
    const Func narrow = f.change_type(UInt(8));
    n.set(2);
    EXPECT_EQ(Buffer<int>(f.realize())(), 1);
    n.set(3);
    const char *const failed =
        "requirement failed: float64(max(n, 0)) <= (float64)2.0: change_type of func some_terms "
        "needs at most 2 iterations of update 0";
    EXPECT_RUNTIME_ERROR(f.realize(), failed);
    // What the first change relies on stays so when the type is changed again.
    Func again = narrow;
    again.change_type(Int(32)).compute_root();
    EXPECT_RUNTIME_ERROR(f.realize(), failed);
}

TEST(ChangeType, AMinimumOfNothingIsRefusedByTheRun) {
    Param<int> n("n");
    Func f("some_minimum");
    RDom r(0, n, "r");
    f(x) = Float(32).max();
    f(x) = min(f(x), cast<float>(r % 5 + 2));
    f.change_type(UInt(8)).compute_root();
    n.set(1);
    EXPECT_EQ(Buffer<float>(f.realize({1}))(0), 2);
    n.set(0);
    EXPECT_RUNTIME_ERROR(f.realize({1}),
                         "requirement failed: 0 < n: change_type of func some_minimum needs an "
                         "iteration of its first update");
}

TEST(ChangeType, ScansAndDifferences) {
    Func f("f"), g("g");
    RDom r(1, 20, "r");
    f(x) = 100;
    f(r) = f(r - 1) - clamp(r, 0, 5);
    f.change_type(Int(8)).compute_root();
    g(x) = f(x) * 1000;
    EXPECT_EQ(Buffer<int>(g.realize({21}))(20), (100 - 1 - 2 - 3 - 4 - 16 * 5) * 1000);
}

TEST(ChangeType, TruthValuesAsNumbers) {
    ImageParam a(Int(8), 1, "a");
    Func any("any"), g("g");
    RDom r(0, 4, "r");
    any(x) = cast<bool>(false);
    any(x) = any(x) || a(x + r) > 3;
    g(x) = cast<int>(any(x));
    any.change_type(UInt(8)).compute_root();
    Buffer<int8_t> of_a(8);
    of_a.for_each_element([&](int i) { of_a(i) = int8_t(i == 6 ? 4 : 3); });
    a.set(of_a);
    Buffer<int> result = g.realize({5});
    EXPECT_EQ(result(2), 0);
    EXPECT_EQ(result(3), 1);
}

TEST(ChangeType, MinimaBeginWithTheLargestValueOfTheOtherType) {
    Func p("p"), f("f");
    RDom r(0, 10, "r");
    p(x) = clamp(x * 20 - 30, -100, 100);
    f(x) = std::numeric_limits<int>::max();
    f(x) = min(f(x), p(x + r));
    p.compute_root();
    f.change_type(Int(8)).compute_root();
    Buffer<int> result = f.realize({3});
    EXPECT_EQ(result(0), -30);
    EXPECT_EQ(result(2), 10);
}

TEST(ChangeType, UnsafelyWhateverTheValues) {
    Func f("f"), g("g");
    f(x) = x + 250;
    g(x) = f(x) * 2;
    f.change_type(UInt(8), true).compute_root();
    Buffer<int> result = g.realize({10});
    EXPECT_EQ(result(3), 2 * 253);
    EXPECT_EQ(result(9), 2 * (259 - 256));
}

TEST(Rewrites, eager_inline) {
    Func f("f"), g("g");
    f(x) = x;
    g(x) = f(x + 1) * 2;
    g.eager_inline(f);
    Buffer<int> result = g.realize({10});
    EXPECT_EQ(result(9), 20);
}

TEST(Specializations, by_a_parameter) {
    Param<int> k("k");
    Func f("f");
    f(x) = x * k;
    f.specialize(k == 1).vectorize(x, 8);
    f.specialize(k == 2).unroll(x, 2);
    for (int value : {1, 2, 3}) {
        k.set(value);
        Buffer<int> result = f.realize({32});
        EXPECT_EQ(result(31), 31 * value);
    }
    f.specialize_fail("k is neither 1 nor 2");
    EXPECT_RUNTIME_ERROR(f.realize({32}), "no specialization matches: k is neither 1 nor 2");
}

TEST(Requirements, stop_the_pipeline) {
    Param<int> k("k");
    Func f("f");
    f(x) = x;
    Pipeline p(f);
    p.add_requirement(k > 3, "k is", k);
    k.set(5);
    p.realize({4});
    k.set(2);
    EXPECT_RUNTIME_ERROR(p.realize({4}), "requirement failed: k > 3: k is 2");
}

// Values at -12 .. 16 of a Func made of 0 1 2 3 4.
std::vector<int> extended(const std::function<Func(const Buffer<int> &)> &condition) {
    Buffer<int> image(5);
    for (int i = 0; i < 5; i++) {
        image(i) = i;
    }
    Func f("f");
    f(x) = condition(image)(x - 12);
    f.vectorize(x, 4);
    Buffer<int> result = f.realize({29});
    return std::vector<int>(result.begin(), result.end());
}

int modulo(int a, int b) {
    return (a % b + b) % b;
}

TEST(BoundaryConditions, extend_an_image) {
    using namespace BoundaryConditions;
    const auto edge = extended([](const Buffer<int> &b) { return repeat_edge(b); });
    const auto constant = extended([](const Buffer<int> &b) { return constant_exterior(b, 42); });
    const auto repeated = extended([](const Buffer<int> &b) { return repeat_image(b); });
    const auto mirrored = extended([](const Buffer<int> &b) { return mirror_image(b); });
    const auto interior = extended([](const Buffer<int> &b) { return mirror_interior(b); });
    for (int i = -12; i < 17; i++) {
        const size_t at = size_t(i + 12);
        EXPECT_EQ(edge[at], std::clamp(i, 0, 4));
        EXPECT_EQ(constant[at], i >= 0 && i < 5 ? i : 42);
        EXPECT_EQ(repeated[at], modulo(i, 5));
        EXPECT_EQ(mirrored[at], std::min(modulo(i, 10), 9 - modulo(i, 10)));
        EXPECT_EQ(interior[at], std::min(modulo(i, 8), 8 - modulo(i, 8)));
    }
}

/// What a parameter must cover is never more than the parameter.
TEST(BoundaryConditions, nothing_outside_of_a_parameter_is_required) {
    ImageParam image(Int(32), 1);
    const Buffer<int> data = Buffer<int>::make_with_shape_of(Buffer<int>(20));
    image.set(data);
    for (const Func &f :
         {BoundaryConditions::repeat_image(image), BoundaryConditions::mirror_image(image),
          BoundaryConditions::mirror_interior(image)}) {
        Func sum("sum"), pairs("pairs");
        sum(x) = f(x - 2) + f(x + 2);
        pairs(x) = sum(x - 1) * sum(x + 1);
        sum.compute_root().align_bounds(x, 2).vectorize(x, 8);
        EXPECT_NO_THROW(pairs.realize({20}));
    }
}

TEST(Values, evaluate) {
    EXPECT_EQ(evaluate<int>(Expr(3) + 4), 7);
    int a = 0;
    float b = 0;
    evaluate(Tuple(Expr(1), Expr(2.5f)), a, b);
    EXPECT_EQ(a, 1);
    EXPECT_EQ(b, 2.5f);
}

TEST(Values, tuples) {
    Func f("f");
    f(x) = Tuple(x, cast<float>(x));
    f(x)[1] += 1.5f;
    f(x) = Tuple(f(x)[0] * 2, f(x)[1]);
    Realization result = f.realize({5});
    EXPECT_EQ(Buffer<int>(result[0])(4), 8);
    EXPECT_EQ(Buffer<float>(result[1])(4), 5.5f);
}

TEST(Values, any_number_of_dimensions) {
    Buffer<float> image(4, 5, 6);
    image.fill(2.0f);
    Func f(image), g("g");
    g(_) = f(_) * 2;
    Buffer<float> result = g.realize({4, 5, 6});
    EXPECT_EQ(result(3, 4, 5), 4.0f);
}

CalotypePureExtern_2(float, hypotf, float, float)

    TEST(Values, extern_functions) {
    Func f("f");
    f(x) = hypotf(cast<float>(x), 4.0f);
    Buffer<float> result = f.realize({4});
    EXPECT_EQ(result(3), 5.0f);
}

// An end that is left out is that of the type.
TEST(Promises, OfOneEnd) {
    ImageParam in(UInt(8), 1, "in"), table(Float(32), 1, "table");
    Func low("low"), high("high");
    Var v("v");
    low(v) = table(unsafe_promise_clamped(in(v), Expr(), 99));
    low.infer_input_bounds({10});
    EXPECT_EQ(table.get().dim(0).min(), 0);
    EXPECT_EQ(table.get().dim(0).extent(), 100);
    in.reset();
    table.reset();
    high(v) = table(unsafe_promise_clamped(in(v), 10, Expr()));
    high.infer_input_bounds({10});
    EXPECT_EQ(table.get().dim(0).min(), 10);
    EXPECT_EQ(table.get().dim(0).extent(), 246);
}

// Quotients by a float that is only known at run time have bounds: it has one sign.
TEST(Regions, ThroughQuotientsOfFloats) {
    Param<float> scale("scale");
    Func in("in"), resized("resized");
    Var v("v");
    in(v) = v * 3;
    in.compute_root();
    resized(v) = in(cast<int>(floor((v + 0.5f) / scale - 0.5f / scale)));
    for (const float s : {0.25f, -2.0f, 3.0f}) {
        scale.set(s);
        Buffer<int> result = resized.realize({40});
        for (int i = 0; i < 40; i++) {
            const float at = (float(i) + 0.5f) / s - 0.5f / s;
            EXPECT_EQ(result(i), 3 * int(std::floor(at))) << i << " / " << s;
        }
    }
}

}  // namespace
}  // namespace calotype
