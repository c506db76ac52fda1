// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stages that are C functions: inputs of every kind, several values, several dimensions, and what
// they ask for.
#include <calotype/calotype.h>

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "harness/expect_error.h"

namespace calotype::test {

using namespace internal;

namespace {

const Var x("x"), y("y");

bool is_query(const calotype_buffer_t *b) {
    return b->host == nullptr && b->device == 0;
}

int &at(calotype_buffer_t *b, int i, int j = 0) {
    const int rows = b->dimensions > 1 ? (j - b->dim[1].min) * b->dim[1].stride : 0;
    return reinterpret_cast<int *>(b->host)[(i - b->dim[0].min) * b->dim[0].stride + rows];
}

template<typename F>
void for_each(const calotype_buffer_t *b, F f) {
    const bool rows = b->dimensions > 1;
    for (int j = rows ? b->dim[1].min : 0; j < (rows ? b->dim[1].min + b->dim[1].extent : 1); j++) {
        for (int i = b->dim[0].min; i < b->dim[0].min + b->dim[0].extent; i++) {
            f(i, j);
        }
    }
}

/// out(x) = in(x - 1) + in(x + 1) + k
int neighbours(calotype_buffer_t *in, int k, calotype_buffer_t *out) {
    if (is_query(in)) {
        in->dim[0].min = out->dim[0].min - 1;
        in->dim[0].extent = out->dim[0].extent + 2;
    }
    if (!is_query(in) && !is_query(out)) {
        for_each(out, [&](int i, int) { at(out, i) = at(in, i - 1) + at(in, i + 1) + k; });
    }
    return 0;
}

/// The greatest extent that twice() was asked to compute, and how many elements it did not get.
int most_asked = 0, missing_elements = 0;

/// out(x, y) = 2 * in(x, y)
int twice(calotype_buffer_t *in, calotype_buffer_t *out) {
    if (is_query(in)) {
        for (int d = 0; d < 2; d++) {
            in->dim[d].min = out->dim[d].min;
            in->dim[d].extent = out->dim[d].extent;
        }
    } else if (!is_query(out)) {
        most_asked = std::max(most_asked, out->dim[1].extent);
        for_each(out, [&](int i, int j) {
            const int column = i - in->dim[0].min, line = j - in->dim[1].min;
            const bool is_there =
                column >= 0 && column < in->dim[0].extent && line >= 0 && line < in->dim[1].extent;
            missing_elements += is_there ? 0 : 1;
            at(out, i, j) = is_there ? 2 * at(in, i, j) : 0;
        });
    }
    return 0;
}

/// out(x) = before(x - 10) + k * after(x + 20), which is not read where k is 0. Fails where it gets less than that.
int far_apart(calotype_buffer_t *before, calotype_buffer_t *after, int k, calotype_buffer_t *out) {
    const auto ask = [&](calotype_buffer_t *in, int distance) {
        in->dim[0].min = out->dim[0].min + distance;
        in->dim[0].extent = out->dim[0].extent;
    };
    if (is_query(before)) {
        ask(before, -10);
    }
    if (is_query(after) && k != 0) {
        ask(after, 20);
    }
    if (is_query(before) || is_query(after) || is_query(out)) {
        return 0;
    }
    int missing = 0;
    const auto read = [&](calotype_buffer_t *in, int i) {
        const bool is_there = i >= in->dim[0].min && i < in->dim[0].min + in->dim[0].extent;
        missing += is_there ? 0 : 1;
        return is_there ? at(in, i) : 0;
    };
    for_each(out, [&](int i, int) {
        at(out, i) = read(before, i - 10) + (k != 0 ? k * read(after, i + 20) : 0);
    });
    return missing;
}

/// Two values: the coordinate and its square.
int powers(calotype_buffer_t *first, calotype_buffer_t *second) {
    if (!is_query(first)) {
        for_each(first, [&](int i, int) { at(first, i) = i; });
        for_each(second, [&](int i, int) { at(second, i) = i * i; });
    }
    return 0;
}

/// Of each kind of argument one.
int everything(int8_t a, uint16_t b, float c, double d, int64_t e, bool g, calotype_buffer_t *image,
               calotype_buffer_t *out) {
    if (!is_query(out) && !is_query(image)) {
        for_each(out, [&](int i, int) {
            at(out, i) = int(a) + int(b) + int(c) + int(d) + int(e) + int(g) + at(image, i);
        });
    }
    return 0;
}

int failing(calotype_buffer_t *out) {
    return is_query(out) ? 0 : -77;
}

template<typename Function>
Realization realize_with(const Pipeline &pipeline, const char *name, Function *f,
                         const std::vector<int> &sizes) {
    Pipeline p = pipeline;
    p.set_jit_externs({{name, JITExtern(ExternCFunction(f))}});
    return p.realize(sizes);
}

TEST(ExternStages, asks_for_more_of_a_func) {
    Func f("f"), g("g"), h("h");
    f(x) = x * 2;
    f.compute_root();
    g.define_extern("neighbours", {f, 7}, Int(32), 1);
    g.compute_root();
    h(x) = g(x) + 1;
    Buffer<int> result = realize_with(h, "neighbours", neighbours, {20});
    for (int i = 0; i < 20; i++) {
        EXPECT_EQ(result(i), 4 * i + 8);
    }
}

TEST(ExternStages, of_what_is_memoized) {
    Func f("f"), g("g"), h("h");
    f(x) = x * 2;
    f.compute_root().memoize();
    g.define_extern("neighbours", {f, 7}, Int(32), 1);
    g.compute_root().memoize();
    h.define_extern("neighbours", {g, 1}, Int(32), {x});
    for (int again = 0; again < 2; again++) {
        Buffer<int> result = realize_with(h, "neighbours", neighbours, {20});
        for (int i = 0; i < 20; i++) {
            EXPECT_EQ(result(i), 8 * i + 15);
        }
    }
}

TEST(ExternStages, one_after_another) {
    Func f("f"), g("g"), h("h");
    f(x) = x * 2;
    f.compute_root();
    g.define_extern("neighbours", {f, 7}, Int(32), 1);
    g.compute_root();
    h.define_extern("neighbours", {g, 1}, Int(32), {x});
    Buffer<int> result = realize_with(h, "neighbours", neighbours, {20});
    for (int i = 0; i < 20; i++) {
        EXPECT_EQ(result(i), (4 * (i - 1) + 7) + (4 * (i + 1) + 7) + 1);
    }
}

TEST(ExternStages, on_a_thread_of_its_own) {
    Func f("f"), g("g"), h("h");
    f(x) = x * 2;
    f.compute_root();
    g.define_extern("neighbours", {f, 7}, Int(32), 1);
    g.compute_root().async();
    h(x) = g(x) + 1;
    Buffer<int> result = realize_with(h, "neighbours", neighbours, {20});
    for (int i = 0; i < 20; i++) {
        EXPECT_EQ(result(i), 4 * i + 8);
    }
}

TEST(ExternStages, of_an_image_and_of_a_parameter) {
    ImageParam in(Int(32), 1, "in");
    Param<int> k("k");
    Func g("g");
    g.define_extern("neighbours", {in, k}, Int(32), 1);
    Buffer<int> image(22);
    image.set_min(-1);
    image.for_each_element([&](int i) { image(i) = i * i; });
    in.set(image);
    k.set(5);
    Buffer<int> result = realize_with(g, "neighbours", neighbours, {20});
    for (int i = 0; i < 20; i++) {
        EXPECT_EQ(result(i), (i - 1) * (i - 1) + (i + 1) * (i + 1) + 5);
    }
}

TEST(ExternStages, of_a_func_given_twice) {
    for (int k : {0, 3}) {
        Func f("f"), g("g"), h("h");
        f(x) = x * x;
        f.compute_root();
        g.define_extern("far_apart", {f, f, k}, Int(32), {x});
        h(x) = g(x);
        Var xo("xo"), xi("xi");
        h.split(x, xo, xi, 4, TailStrategy::GuardWithIf);
        g.compute_at(h, xo);
        Buffer<int> result = realize_with(h, "far_apart", far_apart, {9});
        for (int i = 0; i < 9; i++) {
            EXPECT_EQ(result(i), (i - 10) * (i - 10) + k * (i + 20) * (i + 20));
        }
    }
}

TEST(ExternStages, of_an_image_given_twice) {
    for (int k : {0, 3}) {
        ImageParam in(Int(32), 1, "in");
        Func g("g");
        g.define_extern("far_apart", {in, in, k}, Int(32), {x});
        Pipeline p(g);
        p.set_jit_externs({{"far_apart", JITExtern(ExternCFunction(far_apart))}});
        p.infer_input_bounds({9});
        Buffer<int> image = in.get();
        EXPECT_EQ(image.dim(0).min(), -10);
        EXPECT_EQ(image.dim(0).extent(), k == 0 ? 9 : 39);
        image.for_each_element([&](int i) { image(i) = i * i; });
        Buffer<int> result = p.realize({9});
        for (int i = 0; i < 9; i++) {
            EXPECT_EQ(result(i), (i - 10) * (i - 10) + k * (i + 20) * (i + 20));
        }
    }
}

/// A bounds query asks the stage before k has memory: what is read from it is 0 there.
TEST(ExternStages, of_an_element_of_an_image) {
    for (bool inlined : {false, true}) {
        ImageParam in(Int(32), 1, "in"), k(Int(32), 1, "k");
        Func of_k("of_k"), g("g");
        of_k(x) = k(x);
        const Expr element = inlined ? Expr(of_k(2)) : Expr(k(2));
        g.define_extern("neighbours", {in, element}, Int(32), 1);
        Pipeline p(g);
        p.set_jit_externs({{"neighbours", JITExtern(ExternCFunction(neighbours))}});
        p.infer_input_bounds({20});
        Buffer<int> image = in.get(), element_of_k = k.get();
        EXPECT_EQ(image.dim(0).min(), -1);
        EXPECT_EQ(image.dim(0).extent(), 22);
        EXPECT_EQ(element_of_k.dim(0).min(), 2);
        EXPECT_EQ(element_of_k.dim(0).extent(), 1);
        image.for_each_element([&](int i) { image(i) = i * i; });
        element_of_k(2) = 5;
        Buffer<int> result = p.realize({20});
        for (int i = 0; i < 20; i++) {
            EXPECT_EQ(result(i), (i - 1) * (i - 1) + (i + 1) * (i + 1) + 5);
        }
        k.set(Buffer<int>(2));
        EXPECT_RUNTIME_ERROR(p.realize({20}),
                             "input buffer k covers [0, 1] in dimension 0, must cover [2, 2]");
    }
}

TEST(ExternStages, in_pieces_where_it_is_used) {
    for (bool tiled : {false, true}) {
        Func f("f"), g("g"), h("h");
        f(x, y) = x + 10 * y;
        f.compute_root();
        g.define_extern("twice", {f}, Int(32), {x, y});
        h(x, y) = g(x, y) + 1;
        Var yo("yo"), yi("yi");
        h.split(y, yo, yi, 4, TailStrategy::GuardWithIf);
        most_asked = 0;
        if (tiled) {
            g.compute_at(h, yo);
        } else {
            g.compute_root();
        }
        Buffer<int> result = realize_with(h, "twice", twice, {9, 10});
        result.for_each_element(
            [&](int i, int j) { EXPECT_EQ(result(i, j), 2 * (i + 10 * j) + 1); });
        EXPECT_EQ(most_asked, tiled ? 4 : 10);
    }
}

TEST(ExternStages, of_several_values) {
    Func g("g"), h("h");
    g.define_extern("powers", {}, {Int(32), Int(32)}, 1);
    g.compute_root();
    h(x) = g(x)[0] * 1000 + g(x)[1];
    Buffer<int> result = realize_with(h, "powers", powers, {12});
    for (int i = 0; i < 12; i++) {
        EXPECT_EQ(result(i), i * 1000 + i * i);
    }
}

TEST(ExternStages, arguments_of_every_kind) {
    Buffer<int> image(10);
    image.fill(100000);
    Func g("g");
    g.define_extern("everything",
                    {cast<int8_t>(-5), cast<uint16_t>(60000), 1.5f, Expr(2.5), cast<int64_t>(7),
                     cast<bool>(1), image},
                    Int(32), 1);
    Buffer<int> result = realize_with(g, "everything", everything, {10});
    EXPECT_EQ(result(9), -5 + 60000 + 1 + 2 + 7 + 1 + 100000);
}

/// Whether they get all that they ask for, in parts where what is needed of the whole depends on conditions.
TEST(ExternStages, in_parts_of_what_conditions_leave) {
    Param<int> least("least");
    for (const bool rounded : {false, true}) {
        Func f("f"), g("g"), h("h");
        f(x, y) = x + 10 * y;
        g.define_extern("twice", {f}, Int(32), {x, y});
        h(x, y) = select(x >= least && y > 0, g(x + 3, y - 2), g(x + 1, y));
        h.reorder(y, x);
        g.compute_at(h, y);
        f.compute_at(h, y);
        if (rounded) {
            g.align_extent(x, 5);
        }
        least.set(8);
        missing_elements = 0;
        Buffer<int> result = realize_with(h, "twice", twice, {20, 2});
        result.for_each_element([&](int i, int j) {
            const bool inside = i >= 8 && j > 0;
            EXPECT_EQ(result(i, j), 2 * (inside ? i + 3 + 10 * (j - 2) : i + 1 + 10 * j));
        });
        EXPECT_EQ(missing_elements, 0);
    }
}

TEST(ExternStages, in_a_ring_of_copies) {
    Func f("f"), g("g"), h("h");
    f(x, y) = x + 10 * y;
    g.define_extern("twice", {f}, Int(32), {x, y});
    h(x, y) = g(x, y) + 1;
    g.compute_at(h, x).store_at(h, y).hoist_storage_root().ring_buffer(2);
    f.compute_at(h, x);
    Buffer<int> result = realize_with(h, "twice", twice, {20, 7});
    result.for_each_element([&](int i, int j) { EXPECT_EQ(result(i, j), 2 * (i + 10 * j) + 1); });
}

TEST(ExternStages, failure_stops_the_pipeline) {
    Func g("g"), h("h");
    g.define_extern("failing", {}, Int(32), 1);
    g.compute_root();
    h(x) = g(x);
    EXPECT_RUNTIME_ERROR(realize_with(h, "failing", failing, {4}),
                         "extern stage failing failed with code -77");
}

TEST(ExternFunctions, that_are_pipelines) {
    Func g("g");
    ImageParam in(Int(32), 1, "in");
    g(x) = in(x)*3;
    Func f("f"), h("h");
    f(x) = x + 1;
    f.compute_root();
    h.define_extern("as_stage", {f}, Int(32), 1);
    Pipeline p(h);
    Pipeline inner(g);
    p.set_jit_externs({{"as_stage", JITExtern(inner)}});
    Buffer<int> result = p.realize({10});
    for (int i = 0; i < 10; i++) {
        EXPECT_EQ(result(i), (i + 1) * 3);
    }
}

TEST(ExternFunctions, that_are_pipelines_and_get_the_context) {
    Func g("g"), h("h");
    g(x) = x * 5;
    h.define_extern("with_context", {user_context_value()}, Int(32), 1);
    Pipeline p(h);
    p.set_jit_externs({{"with_context", JITExtern(g)}});
    Callable run = p.compile_to_callable({});
    p.set_jit_externs({});
    Buffer<int> result(6);
    ASSERT_EQ(run(result), 0);
    EXPECT_EQ(result(5), 25);
}

/// out() = in(0) + in(1) + in(2)
int sum_of_three(calotype_buffer_t *in, calotype_buffer_t *out) {
    if (is_query(in)) {
        in->dim[0].min = 0;
        in->dim[0].extent = 3;
    } else {
        *reinterpret_cast<int *>(out->host) = at(in, 0) + at(in, 1) + at(in, 2);
    }
    return 0;
}

TEST(ExternStages, without_dimensions) {
    Func g("g"), total("total"), f("f");
    g(x) = x * 10 + 1;
    total.define_extern("calotype_test_sum_of_three", {g}, Int(32), 0);
    f(x) = g(x) + total();
    g.compute_root();
    total.compute_root();
    Pipeline p(f);
    p.set_jit_externs({{"calotype_test_sum_of_three", JITExtern(sum_of_three)}});
    Buffer<int> result = p.realize({5});
    result.for_each_element([&](int i) { ASSERT_EQ(result(i), i * 10 + 34); });
}

}  // namespace
}  // namespace calotype::test
