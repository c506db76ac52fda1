// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Outputs of every size and position, down to nothing, under every tail strategy.
#include <calotype/calotype.h>

#include <gtest/gtest.h>

#include <cstdlib>

#include <string>

#include "harness/expect_error.h"

namespace calotype::test {

using namespace internal;
namespace {

const Var x("x"), y("y");

struct Case {
    const char *name;
    TailStrategy tail;
    bool whole_vectors;      ///< only multiples of the factor are allowed
    bool at_least_a_vector;  ///< only the factor and more
};

const std::vector<Case> cases = {
    {"Auto", TailStrategy::Auto, false, true},
    {"GuardWithIf", TailStrategy::GuardWithIf, false, false},
    {"Predicate", TailStrategy::Predicate, false, false},
    {"PredicateLoads", TailStrategy::PredicateLoads, true, false},
    {"PredicateStores", TailStrategy::PredicateStores, false, false},
    {"ShiftInwards", TailStrategy::ShiftInwards, false, true},
    {"ShiftInwardsAndBlend", TailStrategy::ShiftInwardsAndBlend, false, true},
    {"RoundUp", TailStrategy::RoundUp, true, false},
    {"RoundUpAndBlend", TailStrategy::RoundUpAndBlend, true, false},
};

class Extents : public ::testing::TestWithParam<Case> {
protected:
    template<typename T>
    void check(int lanes) {
        const Case c = GetParam();
        Func g("g"), f("f");
        g(x, y) = cast<T>(x * 3 - y);
        f(x, y) = g(x - 1, y) + g(x + 1, y);
        f.vectorize(x, lanes, c.tail);
        g.compute_at(f, y).vectorize(x, lanes);
        for (int width : {0, 1, 2, lanes - 1, lanes, lanes + 1, 2 * lanes, 3 * lanes + 5}) {
            if ((c.whole_vectors && width % lanes != 0) || (c.at_least_a_vector && width < lanes)) {
                continue;
            }
            for (int min : {0, -7, 1000003}) {
                Buffer<T> result(width, 3);
                result.set_min(min, -1);
                f.realize(result);
                result.for_each_element([&](int i, int j) {
                    ASSERT_EQ(result(i, j), T(T((i - 1) * 3 - j) + T((i + 1) * 3 - j)))
                        << i << ", " << j << " of width " << width << " from " << min;
                });
            }
        }
    }
};

TEST_P(Extents, int8) {
    check<int8_t>(16);
}
TEST_P(Extents, uint16) {
    check<uint16_t>(8);
}
TEST_P(Extents, int32) {
    check<int32_t>(8);
}
TEST_P(Extents, int64) {
    check<int64_t>(4);
}
TEST_P(Extents, float32) {
    check<float>(8);
}
TEST_P(Extents, float64) {
    check<double>(4);
}

INSTANTIATE_TEST_SUITE_P(Tails, Extents, ::testing::ValuesIn(cases),
                         [](const ::testing::TestParamInfo<Case> &info) {
                             return std::string(info.param.name);
                         });

TEST(Stack, storage_whose_size_has_no_useful_bound) {
    Func g("g"), f("f");
    g(x, y) = x + y;
    f(x, y) = g(x, y) + g(x + 1, y);
    g.compute_at(f, y).store_in(MemoryType::Stack);
    Buffer<int> result = f.realize({300, 5});
    result.for_each_element(
        [&](int i, int j) { ASSERT_EQ(result(i, j), 2 * (i + j) + 1) << i << ", " << j; });
}

/// Both need a constant bound of n.
Func window_of(const Param<int> &n) {
    Func g("g"), f("f");
    RDom r(0, n, "r");
    g(x) = x * x;
    f(x) = 0;
    f(x) += g(x + r);
    f.update().unroll(r);
    g.compute_at(f, x).store_in(MemoryType::Register);
    return f;
}

TEST(Parameters, ranges_bound_loops_and_storage) {
    Param<int> n("n"), any("any");
    n.set_range(1, 6);
    Func open = window_of(any);
    EXPECT_COMPILE_ERROR(open.compile_jit(),
                         "loop " + open.name() +
                             ".s1.r$x cannot be unrolled: its extent any is not "
                             "constant and has no constant bound");
    Func f = window_of(n);
    for (int size : {1, 4, 6}) {
        n.set(size);
        Buffer<int> result = f.realize({9});
        result.for_each_element([&](int i) {
            int sum = 0;
            for (int k = 0; k < size; k++) {
                sum += (i + k) * (i + k);
            }
            ASSERT_EQ(result(i), sum) << "f(" << i << ") of " << size;
        });
    }
    n.set(7);
    EXPECT_RUNTIME_ERROR(f.realize({9}), "parameter n is 7, must be at most 6");
}

TEST(Empty, outputs_of_no_elements) {
    Func g("g"), f("f");
    g(x, y) = x + y;
    f(x, y) = g(x, y) + g(x + 1, y);
    g.compute_root().vectorize(x, 4).parallel(y);
    f.vectorize(x, 4, TailStrategy::GuardWithIf).parallel(y);
    Buffer<int> a(0, 5), b(5, 0), c(0, 0);
    f.realize(a);
    f.realize(b);
    f.realize(c);
    EXPECT_EQ(a.number_of_elements() + b.number_of_elements() + c.number_of_elements(), 0u);
}

// Tails that compute whole vectors need neither elements nor inputs for them.
TEST(Empty, crops_under_tails_that_round) {
    for (const TailStrategy tail : {TailStrategy::ShiftInwards, TailStrategy::RoundUp}) {
        ImageParam in(Int(32), 2, "in");
        Func g("g"), f("f");
        g(x, y) = in(x, y);
        f(x, y) = g(x, y) + g(x + 1, y);
        g.compute_root();
        f.vectorize(x, 4, tail);
        Buffer<int> whole(20, 20);
        whole.fill(-1);
        in.set(whole.cropped(0, 3, 0));
        Buffer<int> columns = whole.cropped(0, 3, 0), rows = whole.cropped(1, 20, 0);
        f.realize(columns);
        f.realize(rows);
        EXPECT_TRUE(whole.all_equal(-1));
        EXPECT_EQ(columns.dim(0).extent(), 0);
        EXPECT_EQ(columns.dim(0).min(), 3);
    }
}

TEST(Empty, one_of_two_outputs) {
    Func f("f"), g("g");
    f(x) = x * 2;
    g(x) = x + 1;
    g.vectorize(x, 4);
    Buffer<int> a(4), b(16);
    Buffer<int> no_a = a.cropped(0, 1, 0), no_b = b.cropped(0, 3, 0);
    Pipeline both({f, g});
    both.realize({no_a, b});
    EXPECT_EQ(b(15), 16);
    both.realize({no_a, no_b});
    // g computes whole vectors.
    EXPECT_RUNTIME_ERROR(both.realize({a, no_b}),
                         "output buffer " + g.name() +
                             " covers [3, 2] in dimension 0, must cover [3, 6]");
}

TEST(Empty, reduction_domains) {
    Param<int> n("n");
    RDom r(0, n, "r");
    Func f("f");
    f(x) = x;
    f(x) += r;
    f(x) += maximum(r * 1);
    n.set(0);
    Buffer<int> result = f.realize({4});
    EXPECT_EQ(result(3), int(3 + int64_t(Int(32).min().as<IntImm>()->value)))
        << "the maximum of nothing is the least int";
}

TEST(Single, elements_of_no_dimensions) {
    Func f("f");
    f() = 42;
    Buffer<int> result = f.realize();
    EXPECT_EQ(result(), 42);
    Buffer<int> scalar = Buffer<int>::make_scalar();
    f.realize(scalar);
    EXPECT_EQ(scalar(), 42);
}

TEST(Strides, outputs_that_are_crops_or_turned) {
    Buffer<int> whole(20, 20);
    whole.fill(-1);
    Buffer<int> crop = whole.cropped({{3, 7}, {4, 6}});
    Func f("f");
    f(x, y) = x + 100 * y;
    f.vectorize(x, 4, TailStrategy::GuardWithIf);
    f.realize(crop);
    whole.for_each_element([&](int i, int j) {
        const bool inside = i >= 3 && i < 10 && j >= 4 && j < 10;
        ASSERT_EQ(whole(i, j), inside ? i + 100 * j : -1) << i << ", " << j;
    });
    Func t("t");
    t(x, y) = x + 100 * y;
    t.output_buffer().dim(0).set_stride(Expr());
    t.vectorize(x, 4, TailStrategy::GuardWithIf);
    Buffer<int> storage(8, 9), turned = storage.transposed(0, 1);
    t.realize(turned);
    turned.for_each_element(
        [&](int i, int j) { ASSERT_EQ(turned(i, j), i + 100 * j) << i << ", " << j; });
}

TEST(UnrolledLoops, of_unknown_extent_may_stay_loops) {
    const Var x("x");
    Func f("f");
    f(x) = x + 3;
    f.unroll(x);
    EXPECT_COMPILE_ERROR(f.realize({17}),
                         "loop " + f.name() + ".s0.x cannot be unrolled: its extent " + f.name() +
                             ".extent.0 is not constant and has no constant bound");
    ::setenv("CT_PERMIT_FAILED_UNROLL", "1", 1);
    Buffer<int> result = f.realize({17});
    ::unsetenv("CT_PERMIT_FAILED_UNROLL");
    EXPECT_EQ(result(16), 19);
}

}  // namespace
}  // namespace calotype::test
