// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Nothing is read but what a bounds query asks for.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "guarded_image.h"

namespace calotype::test {
namespace {

const Var x("x"), k("k");

using Range = std::pair<int, int>;  ///< min and extent

Range range(const ImageParam &image, int dimension) {
    const Buffer<void> b = image.get();
    return {b.dim(dimension).min(), b.dim(dimension).extent()};
}

/// Each element of what is asked for is the sum of its coordinates.
GuardedImage set_guarded(ImageParam image, bool at_end) {
    GuardedImage memory(image.get(), at_end);
    Buffer<int> b = memory.image();
    b.for_each_element([&](int i, int j) { b(i, j) = i + j; });
    image.set(b);
    return memory;
}

/// A condition that reads is read where the others hold.
TEST(GuardedReads, of_conditions_under_others) {
    for (const bool read_first : {false, true}) {
        ImageParam in(Int(32), 1, "in");
        RDom r(0, 11, "r");
        if (read_first) {
            r.where(in(r) != 3);
        }
        r.where(r < 5);
        r.where(in(r) != 2);
        Func f("f");
        f(x) = 0;
        f(x) += in(r);
        f.infer_input_bounds({1});
        EXPECT_EQ(range(in, 0), Range(0, 5));
    }
}

TEST(GuardedReads, of_conditions_in_tails_of_factored_stages) {
    ImageParam in(Int(32), 2, "in");
    RDom r(-2, 11, -3, 5, "r");
    r.where(in(r.y, r.x) <= 6);
    Func f("f");
    f(x) = 0;
    f(x) += r.x * r.y;
    f.update().rfactor(r.y, k).compute_root().update().vectorize(k, 8, TailStrategy::RoundUp);
    f.infer_input_bounds({4});
    EXPECT_EQ(range(in, 0), Range(-3, 5));
    EXPECT_EQ(range(in, 1), Range(-2, 11));
    const GuardedImage memory = set_guarded(in, true);
    const Buffer<int> result = f.realize({4});
    int sum = 0;
    for (int ry = -3; ry < 2; ry++) {
        for (int rx = -2; rx < 9; rx++) {
            sum += ry + rx <= 6 ? rx * ry : 0;
        }
    }
    for (int i = 0; i < 4; i++) {
        EXPECT_EQ(result(i), sum) << i;
    }
}

/// A tail that is shifted inwards begins in front of the first iteration where there are fewer than a block.
TEST(GuardedReads, of_factored_stages_in_front_of_the_first_iteration) {
    ImageParam in(Int(32), 1, "in");
    Param<int> n("n");
    n.set(9);
    RDom r(-2, n, "r");
    RVar ro("ro"), ri("ri");
    const Var ko("ko"), ki("ki");
    Func f("f");
    f(x) = 0;
    f(x) += in(r);
    f.update().split(r, ro, ri, 3);
    Func part = f.update().rfactor(ri, k);
    part.compute_at(f, x).update().split(k, ko, ki, 4096, TailStrategy::ShiftInwardsAndBlend);
    f.infer_input_bounds({2});
    EXPECT_EQ(range(in, 0), Range(-2, 9));
    const GuardedImage memory(in.get(), false);
    const Buffer<int> values = memory.image();
    values.for_each_element([&](int i) { values(i) = i * 5; });
    in.set(values);
    const Buffer<int> result = f.realize({2});
    EXPECT_EQ(result(0), 5 * (9 * 8 / 2 - 2 * 9));
    EXPECT_EQ(result(1), result(0));
}

/// A condition that is the same in all iterations of a loop is not asked where others leave it none.
TEST(GuardedReads, of_conditions_in_front_of_loops_that_run) {
    ImageParam in(Int(32), 2, "in");
    RDom r(1, 6, "r");
    r.where(r < x);
    r.where(in(x, 0) < r + 6);
    Func f("f");
    f(x) = 0;
    f(x) += r;
    f.infer_input_bounds({15});
    EXPECT_EQ(range(in, 0), Range(2, 13));
    const GuardedImage memory = set_guarded(in, false);
    const Buffer<int> result = f.realize({15});
    for (int i = 0; i < 15; i++) {
        int sum = 0;
        for (int j = 1; j < 7 && j < i; j++) {
            sum += i < j + 6 ? j : 0;
        }
        EXPECT_EQ(result(i), sum) << i;
    }
}

/// Whole vectors of a loop that are beyond its end load nothing.
TEST(GuardedReads, of_whole_vectors_beyond_the_end) {
    ImageParam in(UInt(16), 1, "in");
    Func f("f"), g("g");
    const Var xo("xo"), xi("xi");
    f(x) = cast<int>(in(x)) % 61 * (cast<int>(in(x * 2)) % 61);
    g(x) = f(x);
    g(x) += f(x + 1);
    f.compute_root()
        .vectorize(x, 4, TailStrategy::RoundUp)
        .split(x, xo, xi, 4, TailStrategy::PredicateLoads);
    g.infer_input_bounds({16});
    EXPECT_EQ(range(in, 0), Range(0, 39));
    const GuardedImage memory(in.get(), true);
    const Buffer<uint16_t> values = memory.image();
    values.for_each_element([&](int i) { values(i) = uint16_t(i * 3); });
    in.set(values);
    const auto value = [](int i) {
        return i * 3 % 61 * (i * 6 % 61);
    };
    const Buffer<int> result = g.realize({16});
    result.for_each_element([&](int i) { EXPECT_EQ(result(i), value(i) + value(i + 1)); });
}

}  // namespace
}  // namespace calotype::test
