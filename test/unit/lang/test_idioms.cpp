// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ways of writing that programs for Halide use: that they compile, and mean what they mean there.
// The overloads are what is tested, so the expectations are few.
#include <gtest/gtest.h>

#include "lang/language.h"

namespace Halide = calotype;

namespace {

using namespace Halide;
using Halide::BoundaryConditions::repeat_edge;

Var x("x"), y("y"), c("c"), xo("xo"), yo("yo"), xi("xi"), yi("yi");

TEST(Idioms, values_of_funcs_are_expressions) {
    Func f, g, h;
    f(x) = x;
    g(x) = x * 2;
    h(x) = select(f(x) == 3, f(x), g(x)) + select(x > 3, f(x), 7) + select(x > 3, 7, g(x)) +
           select(x > 1, f(x), x > 2, g(x), f(x + 1)) + min(f(x), g(x)) + max(f(x), 3) +
           clamp(f(x), 0, g(x)) + mux(x, {f(x), g(x)}) + mux(x, {Expr(1), f(x)}) +
           mux(x, {1, 2, 3}) + abs(f(x)) % 2 + -f(x) + max(f(x), g(x), x, 3) + (f(x) & g(x)) +
           (f(x) << 2) + lerp(f(x), g(x), 0.5f);
    EXPECT_EQ(h.type(), Int(32));
    Expr e = (f(x) < g(x) && f(x) != 3) || !(f(x) >= 7);
    EXPECT_EQ(e.type(), Bool());
}

TEST(Idioms, definitions) {
    Func f, g, pair, scalar;
    RDom r(0, 10), r2(-1, 3, -1, 3), window(Region{{0, 3}, {0, 3}});
    f(x, y) = 5;
    f(x, y) = r2.x + f(x, y);
    f(r, y) += 1;
    f(x, r) = f(x, r - 1) + f(x, r + 1);
    f(x, 0) = undef<int>();
    pair(x) = {x, cast<float>(x)};
    pair(x) = Tuple(pair(x)[0] + 1, pair(x)[1]);
    pair(x)[0] += 2;
    scalar() = 0;
    scalar() += f(r2.x, r2.y);
    g(x, y) = f(x, y);
    g(x, y) += f(x, y) * window.x;
    g(clamp(f(r, y), 0, 10), y) -= 3;
    EXPECT_EQ(f.num_update_definitions(), 4);
    EXPECT_EQ(scalar.dimensions(), 0);
    EXPECT_EQ(g(x, y).type(), Int(32));
}

TEST(Idioms, separable_blur) {
    ImageParam input(type_of<uint8_t>(), 3);
    Func clamped = repeat_edge(input, {{0, input.width()}, {0, input.height()}});
    Func blur_x("blur_x"), blur_y("blur_y");
    Func wide("wide");
    wide(x, y, c) = cast<uint16_t>(clamped(x, y, c));
    blur_x(x, y, c) = (wide(x - 1, y, c) + wide(x, y, c) + wide(x + 1, y, c)) / 3;
    blur_y(x, y, c) =
        cast<uint8_t>((blur_x(x, y - 1, c) + blur_x(x, y, c) + blur_x(x, y + 1, c)) / 3);
    blur_y.tile(x, y, xo, yo, xi, yi, 256, 32)
        .fuse(xo, yo, xo)
        .parallel(xo)
        .vectorize(xi, 16, TailStrategy::RoundUp);
    blur_x.store_at(blur_y, xo).compute_at(blur_y, yi).vectorize(x, 16);
    blur_y.bound(c, 0, 3).reorder(c, xi, yi, xo).unroll(c);
    input.dim(0).set_stride(3).dim(2).set_stride(1).set_bounds(0, 3);
    blur_y.output_buffer().dim(0).set_stride(3).dim(2).set_stride(1);
    EXPECT_EQ(blur_y.infer_arguments().size(), 1u);
}

TEST(Idioms, directives) {
    Func f, g, h;
    RDom r(0, 100);
    RVar ro, ri;
    f(x, y) = x + y;
    f(x, y) += r;
    g(x, y) = f(x, y);
    h(x, y) = g(x, y) + f(x, y);
    f.compute_at(g, Var::outermost()).store_in(MemoryType::Heap).align_storage(x, 16);
    f.update()
        .split(r, ro, ri, 8)
        .reorder(ri, x, ro, y)
        .vectorize(x, 4)
        .unroll(ri, 2)
        .parallel(y, 4);
    f.update(0).rename(x, xi);
    g.compute_root().parallel(y).never_partition(x, y).set_estimates({{0, 10}, {0, 10}});
    g.gpu_blocks(y).gpu_threads(x).gpu_lanes(x);
    h.specialize(h.output_buffer().width() >= 8).vectorize(x, 8);
    h.prefetch(g, y, y, 2).set_estimate(x, 0, 640).set_estimate(y, 0, 480).trace_stores();
    LoopLevel level(h, y), root = LoopLevel::root();
    f.compute_at(level);
    level.set(root);
    Stage s = f.update();
    s.unroll(xi, 2, TailStrategy::RoundUp);
    EXPECT_EQ(s.name(), f.name() + ".update(0)");
}

TEST(Idioms, parameters) {
    Param<float> gain("idiom_gain", 1.0f, 0.0f, 10.0f), plain;
    Param<int> n{3};
    Param<uint8_t> threshold("idiom_threshold");
    Buffer<float, 2> image(4, 4);
    Func f;
    f(x, y) = gain * image(x, y) + n + plain / 2 + cast<float>(threshold);
    n.set_range(0, 10);
    threshold.set(uint8_t(3));
    n.set_estimate(4);
    std::vector<Argument> args{gain, n, plain, threshold};
    EXPECT_EQ(args[1].type, Int(32));
    EXPECT_EQ(f.infer_arguments().size(), 4u);
    Pipeline p({f, lambda(x, x)});
    EXPECT_EQ(p.outputs().size(), 2u);
}

TEST(Idioms, extern_stages) {
    ImageParam in(Float(32), 1);
    Func f, g;
    Param<int> n;
    f(x) = x;
    g.define_extern("idiom_stage", {f, in, n, n + 1, 3, 2.5f}, {Int(32), Float(32)}, {x},
                    NameMangling::C);
    EXPECT_EQ(g.outputs(), 2);
    EXPECT_TRUE(g.is_extern());
    EXPECT_EQ(g.extern_function_name(), "idiom_stage");
}

}  // namespace
