// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// in() and clone_in() for Funcs that read the wrapped one by way of others, and wrappers that are
// run by themselves.
#include <calotype/calotype.h>

#include <gtest/gtest.h>

namespace calotype::test {
namespace {

const Var x("x"), y("y");

class WrapperPaths : public testing::Test {
protected:
    WrapperPaths() {
        base(x, y) = x + 10 * y;
        a(x, y) = base(x, y) + 1;
        b(x, y) = base(x, y) * 2;
        top(x, y) = a(x, y) + b(x, y);
        sibling(x, y) = base(x, y) - 1;
        out(x, y) = top(x, y) + sibling(x, y);
        for (Func *f : {&base, &a, &b, &top, &sibling}) {
            f->compute_root();
        }
    }

    void check() {
        Buffer<int> result = out.realize({8, 4});
        result.for_each_element([&](int i, int j) {
            const int v = i + 10 * j;
            ASSERT_EQ(result(i, j), v + 1 + 2 * v + v - 1);
        });
    }

    Func base{"base"}, a{"a"}, b{"b"}, top{"top"}, sibling{"sibling"}, out{"out"};
};

TEST_F(WrapperPaths, stand_on_all_ways_from_the_consumer) {
    Func clone = base.clone_in(top);
    clone.compute_root();
    check();
}

TEST_F(WrapperPaths, are_used_on_these_ways_alone) {
    base.in(top).compute_root();
    base.in(sibling).compute_at(sibling, y);
    check();
}

TEST_F(WrapperPaths, of_a_helper_count_more_than_those_from_afar) {
    base.in(top).compute_root();
    base.in(a).compute_at(a, y);
    base.in().compute_at(sibling, y);
    check();
}

TEST_F(WrapperPaths, are_pipelines_of_their_own) {
    Func wrapper = base.in(a);
    Buffer<int> result = wrapper.realize({3, 2});
    EXPECT_EQ(result(2, 1), 12);
    ImageParam in(Int(32), 1, "in");
    Func f("f");
    f(x) = in(x) + 1;
    Func of_image = in.in(f).in(f);
    Buffer<int> image(4);
    image.fill(7);
    in.set(image);
    Buffer<int> copied = of_image.realize({4});
    EXPECT_EQ(copied(3), 7);
}

TEST(WrappersAlone, keep_what_they_wrap) {
    Func wrapper, second, sum("sum");
    {
        Func f("gone_func"), g("g");
        f(x) = x;
        f(x) += 2 * x;
        g(x) = f(x);
        wrapper = f.in(g);
        second = wrapper.in(g);
        sum(x) = f.in()(x) + second(x);
        f.compute_root();
    }
    for (Func *f : {&wrapper, &second}) {
        Buffer<int> result = f->realize({3});
        EXPECT_EQ(result(2), 6);
    }
    wrapper = second = Func();
    Buffer<int> result = sum.realize({3});
    EXPECT_EQ(result(2), 12);
}

TEST(WrappersAlone, keep_the_func_of_an_image) {
    Buffer<int> image(4);
    image.fill(7);
    Func out("out");
    {
        ImageParam input(Int(32), 1, "gone_input");
        input.set(image);
        Func clamped = BoundaryConditions::repeat_edge(input.in(), {{0, 4}});
        out(x) = clamped(x - 2);
    }
    Buffer<int> result = out.realize({9});
    EXPECT_EQ(result(8), 7);
}

}  // namespace
}  // namespace calotype::test
