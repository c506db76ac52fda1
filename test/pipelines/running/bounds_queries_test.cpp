// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a pipeline answers when it is asked which regions it needs.
#include <calotype/calotype.h>

#include <gtest/gtest.h>

#include <vector>

namespace calotype::test {
namespace {

const Var x("x"), y("y"), c("c");

std::vector<int> shape_of(const calotype_buffer_t &b) {
    std::vector<int> shape;
    for (int d = 0; d < b.dimensions; d++) {
        shape.insert(shape.end(), {b.dim[d].min, b.dim[d].extent, b.dim[d].stride});
    }
    return shape;
}

TEST(BoundsQueries, answer_with_the_strides_of_dense_memory) {
    ImageParam in(UInt(8), 3, "in");
    Func f("f");
    f(x, y, c) = in(x - 1, y, c) + in(x + 1, y + 3, c);
    Callable run = f.compile_to_callable({in});
    Runtime::Buffer<uint8_t> asked(nullptr, 0, 4, 4), out(256, 10, 3);
    ASSERT_EQ(run(asked, out), 0);
    EXPECT_EQ(shape_of(*asked.raw_buffer()),
              (std::vector<int>{-1, 258, 1, 0, 13, 258, 0, 3, 258 * 13}));
}

/// Dimensions that may have any stride are laid round one whose elements follow each other.
TEST(BoundsQueries, lay_other_dimensions_round_a_dense_one) {
    struct Case {
        int dense;
        std::vector<int> shape;
    };
    for (const Case &layout :
         {Case{1, {0, 8, 6, 0, 6, 1, 0, 3, 48}}, Case{2, {0, 8, 3, 0, 6, 24, 0, 3, 1}}}) {
        ImageParam in(UInt(8), 3, "in");
        Func f("f");
        f(x, y, c) = in(x, y, c) + 1;
        for (OutputImageParam p : {OutputImageParam(in), f.output_buffer()}) {
            p.dim(0).set_stride(Expr());
            p.dim(layout.dense).set_stride(1);
        }
        Callable run = f.compile_to_callable({in});
        Runtime::Buffer<uint8_t> in_asked(nullptr, 0, 0, 0), out_asked(nullptr, 8, 6, 3);
        ASSERT_EQ(run(in_asked, out_asked), 0);
        EXPECT_EQ(shape_of(*in_asked.raw_buffer()), layout.shape);
        EXPECT_EQ(shape_of(*out_asked.raw_buffer()), layout.shape);
    }
}

/// An output that is made larger than asked needs more of the input: with the shapes of the answer
/// the pipeline runs, wherever the stages between are computed.
TEST(BoundsQueries, ask_for_what_the_shape_in_the_answer_needs) {
    for (int place : {0, 1, 2}) {
        ImageParam in(Float(32), 2, "in");
        Func f("f"), g("g");
        Var xo("xo"), xi("xi");
        f(x, y) = in(x + 1, y) * 2.f;
        g(x, y) = f(x, y) + 1.f;
        g.split(x, xo, xi, 16, TailStrategy::RoundUp);
        g.output_buffer().dim(1).set_extent(5);
        place == 0 ? f.compute_root() : f.compute_at(g, place == 1 ? y : xo);
        Callable run = g.compile_to_callable({in});
        Runtime::Buffer<float> in_asked(nullptr, 0, 0), out_asked(nullptr, 100, 3);
        ASSERT_EQ(run(in_asked, out_asked), 0);
        EXPECT_EQ(shape_of(*out_asked.raw_buffer()), (std::vector<int>{0, 112, 1, 0, 5, 112}));
        EXPECT_EQ(shape_of(*in_asked.raw_buffer()), (std::vector<int>{1, 112, 1, 0, 5, 112}));
        Runtime::Buffer<float> input(112, 5), out(112, 5);
        input.set_min(1, 0);
        input.for_each_element([&](int i, int j) { input(i, j) = float(i - j); });
        ASSERT_EQ(run(input, out), 0);
        out.for_each_element([&](int i, int j) { EXPECT_EQ(out(i, j), (i + 1 - j) * 2 + 1); });
    }
}

/// Whether or not there are inputs to ask for.
TEST(BoundsQueries, ask_for_outputs_of_pipelines_without_inputs) {
    Func f("f");
    Param<int> p("p");
    f(x) = x;
    f(p - 2) = 7;
    p.set(1);
    Buffer<int32_t> asked(nullptr, 9);
    f.infer_input_bounds(asked);
    EXPECT_EQ(asked.dim(0).min(), -1);
    EXPECT_EQ(asked.dim(0).extent(), 10);
}

/// A branch needs what its values are, not what they would be in another one.
TEST(BoundsQueries, ask_for_what_a_specialization_reads) {
    ImageParam in(Int(32), 1, "in");
    Param<bool> p("p");
    Func f("f");
    f(x) = select(p, in(x + 10), in(x - 10));
    f.specialize(p);
    for (bool value : {true, false}) {
        p.set(value);
        in.reset();
        f.infer_input_bounds({100});
        EXPECT_EQ(in.get().min(0), value ? 10 : -10);
        EXPECT_EQ(in.get().extent(0), 100);
    }
}

/// Outputs that other outputs are made of: each branch of the reader counts where it is taken.
TEST(BoundsQueries, ask_for_what_branches_read_of_other_outputs) {
    ImageParam in(Float(32), 1, "in");
    Func fine("fine"), coarse("coarse");
    fine(x) = in(x);
    coarse(x) = fine(2 * x) + fine(2 * x + 1);
    for (Func f : {fine, coarse}) {
        f.specialize(f.output_buffer().width() >= 8).vectorize(x, 8);
    }
    for (int width : {1, 4, 7, 8, 20}) {
        Buffer<float> input(2 * width), all(2 * width), half(width);
        input.fill([](int i) { return float(i); });
        in.set(input);
        Pipeline({fine, coarse}).realize({all, half});
        for (int i = 0; i < width; i++) {
            ASSERT_EQ(half(i), float(4 * i + 1)) << "width " << width;
        }
    }
}

/// Of three cases, each excludes the others.
TEST(BoundsQueries, ask_for_what_nested_specializations_read) {
    ImageParam in(Int(32), 2, "in");
    Param<bool> p("p"), q("q");
    Func f("f"), g("g");
    f(x, y) = in(x, y);
    g(x, y) = f(x, y);
    f.compute_at(g, x).specialize(p).vectorize(x, 4, TailStrategy::RoundUp);
    g.specialize(p && q).vectorize(x, 8, TailStrategy::RoundUp);
    for (int choice = 0; choice < 4; choice++) {
        p.set(choice & 1);
        q.set(choice & 2);
        in.reset();
        g.infer_input_bounds({3, 3});
        EXPECT_EQ(in.get().extent(0), choice == 3 ? 8 : choice == 1 ? 6 : 3);
        EXPECT_EQ(in.get().extent(1), 3);
    }
}

/// A condition decides others that follow from it.
TEST(BoundsQueries, ask_for_what_an_implied_condition_chooses) {
    ImageParam in(Int(32), 2, "in");
    Param<int> n("n");
    Func f("f");
    f(x) = select(n > 5, in(x, 0), in(0, x));
    f.specialize(n > 8);
    for (int value : {9, 8}) {
        n.set(value);
        in.reset();
        f.infer_input_bounds({10});
        EXPECT_EQ(in.get().extent(1), value == 9 ? 1 : 10);
    }
}

/// Tiles of tiles that are shifted inwards, where there are several: a single row of tiles takes
/// another branch.
TEST(BoundsQueries, specializations_that_are_not_taken_ask_for_nothing) {
    const Var xo, xi, yo, yi, xt, yt;
    ImageParam in(UInt(8), 2, "in");
    Func f("f");
    f(x, y) = in(x, y) + cast<uint8_t>(1);
    const auto at_least = [&](int size) {
        return in.width() >= size && in.height() >= size;
    };
    f.tile(x, y, xo, yo, xi, yi, 16, 16, TailStrategy::GuardWithIf);
    f.specialize(at_least(128)).parallel(yo);
    f.specialize(at_least(32)).tile(xo, yo, xt, yt, xo, yo, 2, 2);
    for (const auto &[width, height] : {std::pair(50, 16), {16, 50}, {40, 33}, {130, 129}}) {
        Buffer<uint8_t> image(width, height);
        image.fill([](int i, int j) { return i + 3 * j; });
        in.set(image);
        Buffer<uint8_t> out = f.realize({width, height});
        out.for_each_element([&](int i, int j) { ASSERT_EQ(out(i, j), uint8_t(i + 3 * j + 1)); });
    }
}

TEST(BoundsQueries, answer_with_strides_that_are_wanted) {
    ImageParam in(UInt(8), 3, "in");
    Func f("f");
    f(x, y, c) = in(x, y, c) + in(x + 1, y, c);
    in.dim(0).set_stride(3);
    in.dim(2).set_stride(1).set_bounds(0, 3);
    in.dim(1).set_stride(300);
    f.infer_input_bounds({16, 4, 3});
    Buffer<uint8_t> b = in.get();
    EXPECT_EQ(shape_of(*b.raw_buffer()), (std::vector<int>{0, 17, 3, 0, 4, 300, 0, 3, 1}));
    b.fill([](int i, int j, int k) { return i + 20 * j + 5 * k; });
    Buffer<uint8_t> result = f.realize({16, 4, 3});
    result.for_each_element([&](int i, int j, int k) {
        ASSERT_EQ(result(i, j, k), uint8_t(2 * i + 1 + 40 * j + 10 * k));
    });
}

TEST(BoundsQueries, tails_of_producers_ask_for_nothing) {
    ImageParam in(Int(32), 1, "in");
    Func a("a"), b("b"), f("f");
    a(x) = in(x) + in(x + 1);
    b(x) = a(x - 1) + a(x + 1);
    f(x) = b(x) + b(x + 1);
    a.compute_root();
    b.compute_root().vectorize(x, 16, TailStrategy::RoundUp);
    f.vectorize(x, 8);
    f.infer_input_bounds({20});
    EXPECT_EQ(in.get().dim(0).min(), -1);
    EXPECT_EQ(in.get().dim(0).extent(), 24);
    Buffer<int> given = in.get();
    given.fill([](int i) { return i * i; });
    Buffer<int> result = f.realize({20});
    for (int i = 0; i < 20; i++) {
        const auto at = [&](int j) {
            return j * j + (j + 1) * (j + 1);
        };
        EXPECT_EQ(result(i), at(i - 1) + at(i + 1) + at(i) + at(i + 2)) << i;
    }
}

TEST(BoundsQueries, know_of_what_extents_are_multiples_under_a_condition) {
    ImageParam in(Int(32), 1, "in");
    Func f("f");
    f(x) = in(x);
    for (int block : {16, 8, 4}) {
        f.specialize(f.output_buffer().dim(0).extent() % block == 0)
            .vectorize(x, block, TailStrategy::RoundUp);
    }
    f.infer_input_bounds({20});
    EXPECT_EQ(in.get().dim(0).extent(), 20);
}

TEST(BoundsQueries, of_outputs_with_a_given_extent) {
    Func f("f");
    f(x) = x;
    f.output_buffer().dim(0).set_bounds(0, 4);
    Callable run = f.compile_to_callable({});
    Runtime::Buffer<int> asked(nullptr, 96);
    ASSERT_EQ(run(asked), 0);
    EXPECT_EQ(shape_of(*asked.raw_buffer()), (std::vector<int>{0, 4, 1}));
}

TEST(BoundsQueries, know_other_answers_in_constraints) {
    ImageParam in(Int(32), 2, "in");
    Func f("f");
    f(x, y) = in(x, y) + in(x + 2, y + 1);
    in.dim(1).set_min(in.dim(0).min() - 4).set_extent(in.dim(0).extent() + 10);
    f.infer_input_bounds({30, 20});
    EXPECT_EQ(shape_of(*in.get().raw_buffer()), (std::vector<int>{0, 32, 1, -4, 42, 32}));
}

TEST(BoundsQueries, go_on_until_the_outputs_settle) {
    ImageParam in(Int(32), 1, "in");
    Func f("f");
    f(x) = in(x) + 1;
    f.vectorize(x, 4, TailStrategy::RoundUp);
    const Expr extent = f.output_buffer().dim(0).extent();
    f.output_buffer().dim(0).set_bounds(0, select(extent < 14, extent + 1, extent));
    Buffer<int> out(nullptr, 7);
    f.infer_input_bounds(out);
    EXPECT_EQ(out.dim(0).extent(), 16);
    EXPECT_EQ(in.get().dim(0).extent(), 16);
}

TEST(BoundsQueries, of_a_specialised_stride_choose_the_usual_one) {
    ImageParam in(UInt(8), 1, "in");
    Func f("f");
    f(x) = in(x);
    in.dim(0).set_stride(Expr());
    f.specialize(in.dim(0).stride() == 1);
    f.specialize_fail("the stride must be 1");
    Callable run = f.compile_to_callable({in});
    Runtime::Buffer<uint8_t> asked(nullptr, {calotype_dimension_t(0, 0, 0)}), out(32);
    ASSERT_EQ(run(asked, out), 0);
    EXPECT_EQ(shape_of(*asked.raw_buffer()), (std::vector<int>{0, 32, 1}));
}

TEST(BoundsQueries, by_values_with_one_bound) {
    ImageParam in(Float(32), 1, "in");
    Func f("f"), g("g"), h("h");
    f(x) = min(x, 100);
    g(x) = max(f(x) - 10, 0);
    h(x) = in(g(g(g(x))));
    f.compute_root();
    g.compute_root();
    h.infer_input_bounds({1024});
    const Buffer<float> asked = in.get();
    EXPECT_EQ(asked.min(0), 0);
    EXPECT_EQ(asked.extent(0), 91);
}

}  // namespace
}  // namespace calotype::test
