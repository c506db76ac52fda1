// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How often values are computed: each call of a counting function is one evaluation.
#include <calotype/calotype.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <map>

namespace calotype::test {

using namespace internal;
namespace {

std::atomic<int> evaluations{0};

extern "C" int calotype_test_counted(int v) {
    evaluations++;
    return v;
}

Expr counted(const Expr &e) {
    return Call::make(Int(32), "calotype_test_counted", {e}, CallKind::Extern);
}

const Var x("x"), y("y");

class Windows : public ::testing::Test {
protected:
    Func g{"g"}, f{"f"};

    void SetUp() override {
        g(x, y) = counted(x + 100 * y);
    }
    /// f(x, y) = g(x, y) + g(x, y + 1) + g(x, y + 2), 10 by 20.
    void stencil() {
        f(x, y) = g(x, y) + g(x, y + 1) + g(x, y + 2);
    }
    int count(int width = 10, int height = 20) {
        Pipeline p(f);
        p.set_jit_externs({{"calotype_test_counted", JITExtern(calotype_test_counted)}});
        evaluations = 0;
        Buffer<int> result = p.realize({width, height});
        for (int j = 0; j < height; j++) {
            for (int i = 0; i < width; i++) {
                EXPECT_EQ(result(i, j), expected(i, j)) << i << ", " << j;
            }
        }
        return evaluations;
    }
    virtual int expected(int i, int j) {
        return 3 * (i + 100 * j) + 300;
    }
};

TEST_F(Windows, in_registers_in_each_branch_of_a_specialization) {
    Param<bool> wide;
    stencil();
    g.store_root().compute_at(f, y).store_in(MemoryType::Register);
    f.reorder(y, x);
    f.specialize(wide);
    for (const bool value : {true, false}) {
        wide.set(value);
        EXPECT_EQ(count(), 10 * 22);
    }
}

TEST_F(Windows, inlined_values_are_computed_at_each_use) {
    stencil();
    EXPECT_EQ(count(), 10 * 20 * 3);
}

TEST_F(Windows, at_root_each_once) {
    stencil();
    g.compute_root();
    EXPECT_EQ(count(), 10 * 22);
}

/// What is new of the window depends on whether a step is the first one and on how far the last one is
/// shifted; no step has more than eleven, so that its loop can be unrolled.
TEST_F(Windows, unrolled_where_the_last_step_is_shifted) {
    Func line("line"), pairs("pairs");
    Var xo("xo"), xi("xi");
    line(x) = counted(x);
    pairs(x) = line(x) + line(x - 1);
    pairs.split(x, xo, xi, 10, TailStrategy::ShiftInwards);
    line.store_root().compute_at(pairs, xo).unroll(x);
    Pipeline p(pairs);
    p.set_jit_externs({{"calotype_test_counted", JITExtern(calotype_test_counted)}});
    for (const int width : {10, 95, 100}) {
        evaluations = 0;
        Buffer<int> result = p.realize({width});
        result.for_each_element([&](int i) { ASSERT_EQ(result(i), 2 * i - 1); });
        EXPECT_EQ(evaluations, width + 1);
    }
}

TEST_F(Windows, without_storage_outside_nothing_is_kept) {
    stencil();
    g.compute_at(f, y);
    EXPECT_EQ(count(), 10 * 20 * 3);
}

TEST_F(Windows, slide_over_rows) {
    stencil();
    g.store_root().compute_at(f, y);
    EXPECT_EQ(count(), 10 * 22);
}

TEST_F(Windows, slide_over_rows_of_pixels) {
    stencil();
    g.store_root().compute_at(f, x);
    EXPECT_EQ(count(), 10 * 22);
}

TEST_F(Windows, slide_through_folded_storage) {
    stencil();
    g.store_root().compute_at(f, y).fold_storage(y, 4);
    EXPECT_EQ(count(), 10 * 22);
}

TEST_F(Windows, are_filled_before_the_first_iteration_where_folded_storage_holds_less) {
    // 2 rows of g in each iteration, and 8 for the first.
    Func h("h"), k("k");
    h(x, y) = g(x, 2 * y) + g(x, 2 * y + 1) - (x + 200 * y + 100);
    k(x, y) = h(x, y - 1) + h(x, y + 1) - 200 * y;
    f(x, y) = k(x, y) + k(x, y + 1) - 100 * y + 100 - x;
    g.store_root().compute_at(f, y).fold_storage(y, 2);
    h.store_root().compute_at(f, y).fold_storage(y, 4);
    k.store_root().compute_at(f, y);
    EXPECT_EQ(count(), 10 * 23 * 2);
}

TEST_F(Windows, are_filled_in_blocks) {
    Func h("h");
    Var yo("yo"), yi("yi");
    h(x, y) = g(x, y) + 1;
    f(x, y) = h(x, y - 1) + h(x, y) + h(x, y + 1) + h(x, y + 2) - (x + 100 * y) + 96;
    f.split(y, yo, yi, 2, TailStrategy::RoundUp);
    g.store_root().compute_at(f, yo).fold_storage(y, 4);
    h.store_root().compute_at(f, yo).split(y, y, yi, 2, TailStrategy::RoundUp);
    EXPECT_EQ(count(), 10 * 23);
}

TEST_F(Windows, slide_where_the_loop_is_split) {
    stencil();
    Var yo("yo"), yi("yi");
    f.split(y, yo, yi, 5);
    g.store_at(f, yo).compute_at(f, yi);
    EXPECT_EQ(count(), 10 * (5 + 2) * 4);
}

TEST_F(Windows, slide_in_each_task) {
    stencil();
    Var yo("yo"), yi("yi");
    f.split(y, yo, yi, 10).parallel(yo);
    g.store_at(f, yo).compute_at(f, yi);
    EXPECT_EQ(count(), 10 * (10 + 2) * 2);
}

TEST_F(Windows, do_not_slide_over_a_parallel_loop) {
    stencil();
    f.parallel(y);
    g.compute_at(f, y);
    EXPECT_EQ(count(), 10 * 20 * 3);
}

TEST_F(Windows, slide_backwards) {
    Func h("h");
    h(x, y) = g(x, 50 - y) + g(x, 51 - y);
    f(x, y) = h(x, y) - (2 * x + 10100 - 200 * y) + 3 * (x + 100 * y) + 300;
    g.store_root().compute_at(f, y);
    EXPECT_EQ(count(), 10 * 21);
}

TEST_F(Windows, two_producers_slide) {
    Func h("h");
    h(x, y) = g(x, y) + g(x, y + 1);
    f(x, y) = h(x, y) + h(x, y + 1) - (4 * (x + 100 * y) + 400) + 3 * (x + 100 * y) + 300;
    g.store_root().compute_at(f, y);
    h.store_root().compute_at(f, y);
    EXPECT_EQ(count(), 10 * 22);
}

TEST_F(Windows, an_update_slides_with_its_definition) {
    stencil();
    Func h("h");
    h(x, y) = counted(x);
    h(x, y) += 100 * y;
    f = Func("f2");
    f(x, y) = h(x, y) + h(x, y + 1) + h(x, y + 2);
    h.store_root().compute_at(f, y);
    EXPECT_EQ(count(), 10 * 22);
}

TEST_F(Windows, slide_where_a_stage_makes_two_rows_at_a_time) {
    for (bool folds : {false, true}) {
        SCOPED_TRACE(folds);
        Func h("h"), k("k");
        k(x, y) = counted(x + 100 * y);
        h(x, y) = k(x, y);
        h(0, y) += h(1, y) - h(0, y) - 1;
        h(x, y) = counted(h(x, y));
        f = Func("f");
        f(x, y) = h(x, y) + h(x, y + 1) + h(x, y + 2);
        h.store_root().compute_at(f, y).unroll(y, 2, TailStrategy::RoundUp);
        k.store_root().compute_at(f, y);
        if (folds) {
            h.fold_storage(y, 4);
        }
        // Of h three rows, then in each iteration the new one and the one before: two in all of
        // them where iterations before the first fill a window that is folded. Of k each row once,
        // and what is beyond the three.
        EXPECT_LE(count(), 10 * (folds ? 22 * 2 : 3 + 19 * 2) + 10 * (22 + 1));
    }
}

TEST_F(Windows, an_update_of_a_fixed_row_does_not_slide) {
    Func h("h");
    h(x, y) = counted(x + 100 * y);
    h(x, 3) = x + 300;
    f(x, y) = h(x, y) + h(x, y + 1) + h(x, y + 2);
    h.store_root().compute_at(f, y);
    EXPECT_GE(count(), 10 * 22);
}

TEST_F(Windows, do_not_slide_along_a_scan) {
    RDom r(1, 6, "r");
    Func h("h");
    h(x, y) = counted(x + 100 * y);
    h(r, y) += 0 * h(r - 1, y);
    f(x, y) = h(x, y) + h(x + 1, y) + h(x + 2, y) - 3 + 300;
    h.store_root().compute_at(f, x);
    EXPECT_GE(count(), 12 * 20);
}

TEST_F(Windows, of_one_row) {
    stencil();
    g.store_root().compute_at(f, y);
    EXPECT_EQ(count(10, 1), 10 * 3);
}

TEST_F(Windows, of_nothing) {
    stencil();
    g.store_root().compute_at(f, y);
    EXPECT_EQ(count(10, 0), 0);
}

TEST_F(Windows, a_memoized_func_is_computed_for_its_first_call_only) {
    stencil();
    g.compute_root().memoize();
    Pipeline p(f);
    p.set_jit_externs({{"calotype_test_counted", JITExtern(calotype_test_counted)}});
    evaluations = 0;
    for (int i = 0; i < 3; i++) {
        p.realize({13, 17});
    }
    EXPECT_EQ(evaluations, 13 * 19);
}

TEST_F(Windows, the_taken_specialization_alone_is_computed) {
    Param<bool> wide("wide");
    f(x, y) = select(wide, g(x, y) * 3 + 300, counted(x) * 3 + 300 * y + 300);
    f.specialize(wide);
    wide.set(true);
    EXPECT_EQ(count(), 10 * 20);
    wide.set(false);
    EXPECT_EQ(count(), 10 * 20);
}

TEST_F(Windows, a_stage_that_no_value_depends_on_is_not_computed) {
    Param<bool> wanted("wanted");
    Param<int> n("n");
    Func once("once");
    once(x, y) = g(x, y);
    f(x, y) = select(wanted && n > 3, once(x, y), x + 100 * y) * 3 + 300;
    once.compute_root();
    g.compute_at(once, y);
    wanted.set(true);
    n.set(4);
    EXPECT_EQ(count(), 10 * 20);
    n.set(3);
    EXPECT_EQ(count(), 0);
    wanted.set(false);
    EXPECT_EQ(count(), 0);
}

TEST_F(Windows, a_window_slides_only_where_it_is_looked_through) {
    Param<bool> wanted("wanted");
    f(x, y) = select(wanted, g(x, y) + g(x, y + 1) + g(x, y + 2), 3 * (x + 100 * y) + 300);
    g.store_root().compute_at(f, y);
    wanted.set(true);
    EXPECT_EQ(count(), 10 * 22);
    wanted.set(false);
    EXPECT_EQ(count(), 0);
}

/// The ends of each window are minima and maxima of the ends of the one before, written twice. The
/// last of them, which are longest, slide no more; what is lowered grows with the chain's length
/// and not by powers of it.
/// Its updates change less than it defines, as both extents are rounded.
TEST(WindowsOfRoundedExtents, are_whole_in_each_iteration) {
    for (const bool given : {false, true}) {
        Func g("g"), f("f");
        g(x, y) = x + y * 3;
        g(x, y) += x * y;
        f(x, y) = g(x, y - 1) + g(x + 1, y - 1);
        g.compute_at(f, x).store_root();
        given ? g.bound_extent(y, 2) : g.align_extent(y, 2);
        const auto value = [](int i, int j) {
            return i + j * 3 + i * j;
        };
        Buffer<int> result = f.realize({9, 7});
        result.for_each_element([&](int i, int j) {
            ASSERT_EQ(result(i, j), value(i, j - 1) + value(i + 1, j - 1)) << i << ", " << j;
        });
    }
}

TEST(WindowsOfAChain, have_ends_that_double) {
    constexpr int stages = 40, width = 10, last_column = 12;
    std::vector<Func> chain;
    for (int i = 0; i <= stages; i++) {
        chain.emplace_back("stage_" + std::to_string(i));
    }
    chain[0](x) = x % 3;
    for (int i = 1; i <= stages; i++) {
        chain[i](x) = (chain[i - 1](x - 1) + chain[i - 1](min(x + 1, last_column))) % 101;
    }
    Func out("out");
    out(x) = chain[stages](x);
    for (Func &f : chain) {
        f.store_root().compute_at(out, x);
    }
    out.bound(x, 0, width);

    const std::string file = ::testing::TempDir() + "windows_of_a_chain.stmt";
    out.compile_to_lowered_stmt(file, {}, Text);
    EXPECT_LT(std::filesystem::file_size(file), size_t(3) << 20);
    std::filesystem::remove(file);

    const Buffer<int> result = out.realize({width});
    std::map<int, int> before, now;
    for (int i = -stages; i <= stages + width; i++) {
        now[i] = ((i % 3) + 3) % 3;
    }
    for (int s = 1; s <= stages; s++) {
        before = now;
        for (int i = s - stages; i <= stages + width - s; i++) {
            now[i] = (before[i - 1] + before[std::min(i + 1, last_column)]) % 101;
        }
    }
    for (int i = 0; i < width; i++) {
        EXPECT_EQ(result(i), now[i]) << i;
    }
}

// Of the three rows of an iteration the first makes two rows of the window, in a loop of its own: where
// the others are inside of the image, that one need not be.
TEST(WindowsAtBorders, of_rows_that_make_more_than_the_next) {
    constexpr int width = 4, image_height = 10, top = -12, height = 27;
    Buffer<int> image(width, image_height);
    image.fill([](int column, int row) { return 1 + column + 10 * row; });
    const auto of_image = [&](int column, int row) {
        return image(std::clamp(column, 0, width - 1), std::clamp(row, 0, image_height - 1));
    };
    Param<int> choice("choice");
    Func padded = BoundaryConditions::repeat_edge(image), g("g"), h("h"), f("f");
    g(x, y) = padded(x, y - 3);
    h(x, y) = select(choice > 0, g(x, y + 2), g(x, y - 3)) * 2;
    f(x, y) = h(x + 3, y + 3) + h(x, y + 2);
    f.unroll(y, 3, TailStrategy::Predicate);
    h.compute_at(f, x).store_root();
    g.compute_at(h, y);
    for (int chosen : {-1, 1}) {
        choice.set(chosen);
        Buffer<int> result(width, height);
        result.set_min(0, top);
        f.realize(result);
        const int off = chosen > 0 ? -1 : -6;
        for (int row = top; row < top + height; row++) {
            for (int column = 0; column < width; column++) {
                ASSERT_EQ(result(column, row), 2 * (of_image(column + 3, row + 3 + off) +
                                                    of_image(column, row + 2 + off)))
                    << column << ", " << row << ", choice " << chosen;
            }
        }
    }
}

}  // namespace
}  // namespace calotype::test
