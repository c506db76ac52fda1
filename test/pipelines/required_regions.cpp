// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a pipeline says it needs of its inputs, before it can read any.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "calotype.h"

namespace calotype {
namespace {

const Var x("x");

/// The first coordinate of an input, and the number of those, that ten elements need.
std::pair<int, int> needed(Func f, const ImageParam &input) {
    f.infer_input_bounds({10});
    const Buffer<void> needed = input.get();
    return {needed.dim(0).min(), needed.dim(0).extent()};
}

TEST(RequiredRegions, of_images_mirrored_at_bounds_that_are_parameters) {
    const ImageParam in(Int(16), 1, "in");
    const Param<int> width("width", 6);
    const Func mirrored = BoundaryConditions::mirror_interior(Func(in), {{1, width}});
    Func f("f");
    f(x) = mirrored(x - 4);
    EXPECT_EQ(needed(f, in), std::pair(1, 6));
    Buffer<int16_t> values(6);
    values.set_min(1);
    for (int i = 1; i <= 6; i++) {
        values(i) = int16_t(i);
    }
    ImageParam(in).set(values);
    const Buffer<int16_t> result = f.realize({10});
    const int expected[] = {6, 5, 4, 3, 2, 1, 2, 3, 4, 5};  // of -4 to 5, around 1
    for (int i = 0; i < 10; i++) {
        EXPECT_EQ(result(i), expected[i]) << i;
    }
}

class RegionsOfConditions : public ::testing::Test {
protected:
    ImageParam reach_{Int(32), 1, "reach"}, in_{Int(32), 1, "in"};
    RDom r_{0, 10};

    /// Sums over what the condition leaves of the domain: these terms.
    void expect(const Expr &condition, int reach, int extent, const std::vector<int> &terms) {
        r_.where(condition);
        Func f("f");
        f(x) = sum(in_(x + r_));
        EXPECT_EQ(needed(f, in_), std::pair(0, extent));
        Buffer<int> values(extent), reaches(1);
        values.for_each_element([&](int i) { values(i) = i * i; });
        reaches.set_min(3);
        reaches(3) = reach;
        in_.set(values);
        reach_.set(reaches);
        const Buffer<int> result = f.realize({10});
        for (int i = 0; i < 10; i++) {
            int expected = 0;
            for (const int term : terms) {
                expected += (i + term) * (i + term);
            }
            EXPECT_EQ(result(i), expected) << i;
        }
    }
};

TEST_F(RegionsOfConditions, an_end_that_an_input_has) {
    expect(r_ <= reach_(3), 2, 19, {0, 1, 2});
}

TEST_F(RegionsOfConditions, an_element_that_an_input_says) {
    expect(r_ == reach_(3) % 6, 10, 15, {4});
}

TEST_F(RegionsOfConditions, a_distance_that_an_input_has) {
    expect(abs(r_ - 3) < cast<uint32_t>(reach_(3)), 2, 19, {2, 3, 4});
}

TEST_F(RegionsOfConditions, a_place_that_an_input_says) {
    Func f("f");
    f(x) = in_(x + clamp(reach_(3), 0, 7));
    EXPECT_EQ(needed(f, in_), std::pair(0, 17));
}

TEST(RequiredRegions, nothing_of_what_is_under_conditions_that_never_hold) {
    RDom r(0, 10), steps(0, 4);
    r.where(r > 3 && r < 2);
    Func f("f"), g("g");
    g(x) = x;
    g(x) += steps;
    g.compute_root();
    f(x) = 5;
    f(x) += g(x + r);
    const Buffer<int> result = f.realize({10});
    for (int i = 0; i < 10; i++) {
        EXPECT_EQ(result(i), 5) << i;
    }
}

TEST(RequiredRegions, of_stages_in_loops_that_never_do_anything) {
    RDom r(0, 10);
    r.where(abs(r) < 0);
    Func f("f"), g("g");
    g(x) = x;
    f(x) = sum(g(x + r)) + maximum(cast<uint8_t>(g(r + x)));
    g.compute_root();
    const Buffer<int> result = f.realize({10});
    for (int i = 0; i < 10; i++) {
        EXPECT_EQ(result(i), 0) << i;
    }
}

/// What updates write wherever they are computed stays finished: rows are not kept from one iteration to the next, as
/// elements of them are written again in each.
TEST(RequiredRegions, of_updates_with_places_of_their_own_in_windows) {
    const Var y("y");
    Buffer<int> results[2];
    for (Buffer<int> &result : results) {
        Func f("f"), g("g");
        RDom r(0, 6), q(3, 5);
        f(x, y) = 1;
        f(r + 1, y) = f(r, y) + 1;
        f(x, y) = f(x, y) * -2;
        g(x, y) = sum(f(x + q, y + q)) + f(clamp(x, 0, 8), y);
        f.compute_root();
        if (&result != results) {
            f.compute_at(g, x).store_root();
        }
        result = g.realize({14, 3});
    }
    results[0].for_each_element(
        [&](int i, int j) { EXPECT_EQ(results[1](i, j), results[0](i, j)) << i << ", " << j; });
}

/// What a thread computes for itself is computed where the guard of its element holds, in kernels as in loops.
TEST(RequiredRegions, of_what_threads_compute_under_guards) {
    for (const char *target : {"host", "host-cuda", "host-opencl"}) {
        for (MemoryType memory : {MemoryType::Auto, MemoryType::Stack, MemoryType::Register}) {
            ImageParam in(Int(32), 1, "in");
            Func f("f"), sum("sum");
            Var t("t");
            RDom r(0, 3);
            sum(x) += in(x + r);
            f(x) = sum(x);
            Target(target).has_gpu_feature() ? f.gpu_tile(x, t, 16, TailStrategy::GuardWithIf)
                                             : f.split(x, x, t, 16, TailStrategy::GuardWithIf);
            sum.compute_at(f, t).store_in(memory);
            f.infer_input_bounds({10}, Target(target));
            EXPECT_EQ(Buffer<void>(in.get()).dim(0).extent(), 12) << target;
        }
    }
}

}  // namespace
}  // namespace calotype
