// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is computed for iterations under a guard: only where the guard holds, and no more than fits.
#include <calotype/calotype.h>

#include <gtest/gtest.h>

#include <atomic>

namespace calotype::test {
namespace {

const Var x("x"), y("y"), xo("xo"), xi("xi"), yo("yo");

std::atomic<int> evaluations{0};

extern "C" int calotype_test_guarded(int v) {
    evaluations++;
    return v;
}

Expr counted(const Expr &e) {
    return internal::Call::make(Int(32), "calotype_test_guarded", {e}, internal::CallKind::Extern);
}

int count(Func f, const std::vector<int> &sizes) {
    Pipeline p(f);
    p.set_jit_externs({{"calotype_test_guarded", JITExtern(calotype_test_guarded)}});
    evaluations = 0;
    p.realize(sizes);
    return evaluations;
}

TEST(Guards, tails_need_no_more_of_an_input) {
    ImageParam in(Int(32), 2, "in");
    for (int factor : {1, 3, 64}) {
        Func g("g"), f("f");
        g(x, y) = in(x, y) * 2;
        f(x, y) = g(x, y) + g(x, y + 1);
        f.split(y, yo, y, factor, TailStrategy::GuardWithIf);
        g.compute_at(f, y);
        Buffer<int> image(10, 101);
        image.fill([](int i, int j) { return i + 1000 * j; });
        in.set(image);
        Buffer<int> result = f.realize({10, 100});
        result.for_each_element([&](int i, int j) {
            ASSERT_EQ(result(i, j), 4 * (i + 1000 * j) + 2000) << i << ", " << j;
        });
    }
}

TEST(Guards, tails_of_factors_that_are_not_constant_need_no_more) {
    ImageParam in(Int(32), 1, "in");
    Func g("g"), f("f");
    g(x) = in(x) + 1;
    f(x) = g(x);
    f.split(x, xo, xi, f.output_buffer().width() / 8, TailStrategy::GuardWithIf);
    g.compute_at(f, xi).unroll(x).store_in(MemoryType::Register);
    Buffer<int> image(123);
    image.fill([](int i) { return i * i; });
    in.set(image);
    Buffer<int> result = f.realize({123});
    result.for_each_element([&](int i) { ASSERT_EQ(result(i), i * i + 1); });
}

TEST(Guards, nothing_is_computed_where_they_do_not_hold) {
    Func g("g"), f("f");
    g(x) = counted(x);
    f(x) = g(x) + 1;
    f.split(x, xo, xi, 16, TailStrategy::GuardWithIf);
    g.compute_at(f, xi);
    EXPECT_EQ(count(f, {100}), 100);
}

TEST(Guards, windows_slide_under_them) {
    Func g("g"), f("f");
    g(x, y) = counted(x + 10 * y);
    f(x, y) = g(x, y) + g(x, y + 1) + g(x, y + 2);
    f.split(y, yo, y, 8, TailStrategy::GuardWithIf);
    g.compute_at(f, y).store_at(f, yo);
    EXPECT_EQ(count(f, {10, 21}), 10 * (10 + 10 + 7));
}

TEST(Guards, lanes_and_copies_stop_at_the_extent) {
    for (bool vectors : {false, true}) {
        Func g("g"), f("f");
        g(x) = x * 3;
        f(x) = g(x) + 1;
        f.vectorize(x, 8, TailStrategy::GuardWithIf);
        g.compute_at(f, x).store_in(MemoryType::Register);
        vectors ? g.vectorize(x) : g.unroll(x);
        Buffer<int> result = f.realize({37});
        result.for_each_element([&](int i) { ASSERT_EQ(result(i), i * 3 + 1); });
    }
}

TEST(Guards, a_specialization_may_fix_the_extent) {
    Func g("g"), f("f");
    g(x, y) = x + y;
    f(x, y) = g(x, y) * 2;
    const OutputImageParam out = f.output_buffer();
    g.compute_root().specialize(out.dim(1).extent() == 3 && out.dim(1).min() == 0).vectorize(y);
    Buffer<int> three = f.realize({5, 3}), four = f.realize({5, 4});
    three.for_each_element([&](int i, int j) { ASSERT_EQ(three(i, j), 2 * (i + j)); });
    four.for_each_element([&](int i, int j) { ASSERT_EQ(four(i, j), 2 * (i + j)); });
}

TEST(ExplicitBounds, hold_where_the_func_is_computed) {
    for (TailStrategy tail : {TailStrategy::GuardWithIf, TailStrategy::Predicate}) {
        Func g("g"), f("f");
        g(x) = x * 5;
        f(x) = g(x);
        f.split(x, xo, xi, 8, tail);
        g.compute_at(f, xo).bound_extent(x, 8).vectorize(x);
        Buffer<int> result = f.realize({21});
        result.for_each_element([&](int i) { ASSERT_EQ(result(i), i * 5); });
    }
}

TEST(ExplicitBounds, of_inner_funcs_tell_what_outer_ones_need) {
    Func h("h"), g("g"), f("f");
    h(x) = counted(x * 2);
    g(x) = h(x) + h(x + 1);
    f(x) = g(x);
    f.split(x, xo, xi, 8, TailStrategy::GuardWithIf);
    g.compute_at(f, xo).bound_extent(x, 8);
    h.compute_root();
    EXPECT_EQ(count(f, {40}), 41);
}

/// Of both dimensions less than nothing is left, whose product is positive.
TEST(EmptyRegions, are_no_iterations_of_fused_loops) {
    Param<int> from("from");
    for (const bool inner_split : {false, true}) {
        Func g("g"), f("f");
        g(x, y) = counted(x + y);
        f(x, y) = select(x >= from && x < 20 && y >= from && y < 20, g(x, y), 7);
        g.compute_root().fuse(x, y, x);
        if (inner_split) {
            g.split(x, xo, xi, 8, TailStrategy::PredicateStores);
        }
        from.set(5);
        EXPECT_EQ(count(f, {10, 12}), 5 * 7);
        from.set(30);
        EXPECT_EQ(count(f, {10, 12}), 0);
    }
}

}  // namespace
}  // namespace calotype::test
