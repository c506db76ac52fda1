// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs in the style of those that are written against Halide, through Halide.h alone: what
// matters is that they compile as they stand, and compute the right thing.
#include <gtest/gtest.h>

#include "Halide.h"

using namespace Halide;

namespace {

TEST(HalidePrograms, Gradient) {
    Halide::Func gradient;
    Halide::Var x, y;
    Halide::Expr e = x + y;
    gradient(x, y) = e;
    Halide::Buffer<int32_t> output = gradient.realize({80, 60});
    for (int j = 0; j < output.height(); j++) {
        for (int i = 0; i < output.width(); i++) {
            ASSERT_EQ(output(i, j), i + j);
        }
    }
}

TEST(HalidePrograms, CastsAndClamps) {
    Buffer<uint8_t> picture(16, 12, 3);
    picture.fill(100);
    Func faded("faded");
    Var x("x"), y("y"), c("c");
    const Expr level = Halide::cast<float>(picture(x, y, c)) * 0.5f + 20.0f;
    faded(x, y, c) = Halide::cast<uint8_t>(Halide::clamp(level, 0.0f, 255.0f));
    const Halide::Buffer<uint8_t> result = faded.realize({16, 12, 3});
    EXPECT_EQ(result(3, 4, 2), 70);
}

TEST(HalidePrograms, SchedulesOfOneFunc) {
    Var x("x"), y("y");
    Func plain("plain"), tiled("tiled");
    plain(x, y) = x * 3 + y;
    tiled(x, y) = x * 3 + y;
    Var x_outer, x_inner, y_outer, y_inner, tile_index;
    tiled.tile(x, y, x_outer, y_outer, x_inner, y_inner, 8, 4)
        .fuse(x_outer, y_outer, tile_index)
        .parallel(tile_index);
    Var x_pairs, y_pairs;
    tiled.vectorize(x_inner, 4).unroll(y_inner, 2);
    Buffer<int> a = plain.realize({32, 16}), b = tiled.realize({32, 16});
    for (int j = 0; j < 16; j++) {
        for (int i = 0; i < 32; i++) {
            ASSERT_EQ(a(i, j), b(i, j));
        }
    }
}

TEST(HalidePrograms, SeparableBlur) {
    Buffer<uint8_t> input(40, 30);
    for (int y = 0; y < input.height(); y++) {
        for (int x = 0; x < input.width(); x++) {
            input(x, y) = uint8_t(x * 5 + y * 7);
        }
    }
    Var x("x"), y("y"), xi("xi"), yi("yi");
    Func clamped("clamped"), input_16("input_16"), blur_x("blur_x"), blur_y("blur_y");
    clamped = BoundaryConditions::repeat_edge(input);
    input_16(x, y) = cast<uint16_t>(clamped(x, y));
    blur_x(x, y) = (input_16(x - 1, y) + 2 * input_16(x, y) + input_16(x + 1, y)) / 4;
    blur_y(x, y) = (blur_x(x, y - 1) + 2 * blur_x(x, y) + blur_x(x, y + 1)) / 4;
    Func output("output");
    output(x, y) = cast<uint8_t>(blur_y(x, y));
    output.split(y, y, yi, 8).parallel(y).vectorize(x, 8);
    blur_x.store_at(output, y).compute_at(output, yi).vectorize(x, 8);
    Buffer<uint8_t> result = output.realize({40, 30});
    auto at = [&](int i, int j) {
        return int(input(std::min(std::max(i, 0), 39), std::min(std::max(j, 0), 29)));
    };
    auto row = [&](int i, int j) {
        return (at(i - 1, j) + 2 * at(i, j) + at(i + 1, j)) / 4;
    };
    for (int j = 0; j < 30; j++) {
        for (int i = 0; i < 40; i++) {
            ASSERT_EQ(result(i, j), uint8_t((row(i, j - 1) + 2 * row(i, j) + row(i, j + 1)) / 4));
        }
    }
}

TEST(HalidePrograms, HistogramAndReductions) {
    Buffer<uint8_t> input(20, 10);
    input.for_each_element([&](int x, int y) { input(x, y) = uint8_t((x * y) % 16); });
    Func histogram("histogram"), total("total");
    Var i("i"), x("x");
    RDom r(0, input.width(), 0, input.height());
    histogram(i) = 0;
    histogram(input(r.x, r.y)) += 1;
    total() = sum(cast<int32_t>(input(r.x, r.y)));
    Func largest("largest");
    largest() = Tuple(0, 0);
    largest() = select(input(r.x, r.y) > largest()[1], Tuple(r.x, cast<int>(input(r.x, r.y))),
                       Tuple(largest()[0], largest()[1]));
    Buffer<int32_t> h = histogram.realize({256});
    Buffer<int32_t> t = total.realize();
    Realization l = largest.realize();
    int sum = 0, counted = 0;
    input.for_each_element([&](int x, int y) { sum += input(x, y); });
    for (int v = 0; v < 16; v++) {
        counted += h(v);
    }
    EXPECT_EQ(counted, 200);
    EXPECT_EQ(t(), sum);
    EXPECT_EQ(Buffer<int32_t>(l[1])(), 15);
}

TEST(HalidePrograms, ArgumentsOfACompiledFile) {
    Func brighter("brighter_aot");
    Var x("x"), y("y");
    Param<uint8_t> offset;
    ImageParam input(type_of<uint8_t>(), 2);
    brighter(x, y) = input(x, y) + offset;
    brighter.vectorize(x, 16).parallel(y);
    Target target = get_host_target();
    target.set_feature(Target::NoRuntime);
    std::vector<Argument> args = {input, offset};
    Module m = brighter.compile_to_module(args, "brighter_aot", target);
    EXPECT_EQ(m.functions().size(), 1u);
    EXPECT_EQ(m.functions()[0].args.size(), 3u);
    EXPECT_FALSE(m.compile_to_object_bytes().empty());
}

class Counter : public Halide::Internal::IRMutator {
public:
    int loops = 0;
    using Halide::Internal::IRMutator::visit;
    Halide::Internal::Stmt visit(const Halide::Internal::For *op) override {
        loops++;
        return IRMutator::visit(op);
    }
};

TEST(HalidePrograms, CustomPass) {
    Func f;
    Var x, y;
    f(x, y) = x + y;
    Counter *counter = new Counter;
    f.add_custom_lowering_pass(counter, nullptr);
    f.realize({4, 4});
    EXPECT_GE(counter->loops, 2);
    f.clear_custom_lowering_passes();
    delete counter;
}

[[maybe_unused]] int my_abs(int v) {
    return v < 0 ? -v : v;
}

HalideExtern_1(int, my_abs, int);

TEST(HalidePrograms, RuntimeBuffersAndErrors) {
    Halide::Runtime::Buffer<float, 2> planes(8, 4);
    planes.fill(2.0f);
    Func f;
    Var x, y;
    f(x, y) = Halide::sqrt(cast<float>(x * x)) + ConciseCasts::f32(y);
    f.realize(planes);
    EXPECT_EQ(planes(3, 2), 5.0f);
    try {
        f.realize({3, 3, 3});
        FAIL() << "no error";
    } catch (const Halide::CompileError &) {
    }
    halide_buffer_t *raw = planes.raw_buffer();
    EXPECT_EQ(raw->dimensions, 2);
}

class Flip : public Halide::Generator<Flip> {
public:
    GeneratorParam<bool> vertical{"vertical", false};
    Input<Buffer<uint8_t, 2>> input{"input"};
    Output<Buffer<uint8_t, 2>> output{"output"};

    void generate() {
        Expr last = vertical ? input.dim(1).extent() - 1 : input.dim(0).extent() - 1;
        if (vertical) {
            output(x, y) = input(x, last - y);
        } else {
            output(x, y) = input(last - x, y);
        }
    }
    void schedule() {
        if (using_autoscheduler()) {
            input.set_estimates({{0, 100}, {0, 100}});
            output.set_estimates({{0, 100}, {0, 100}});
        } else {
            output.parallel(y).vectorize(x, natural_vector_size<uint8_t>(),
                                         TailStrategy::GuardWithIf);
        }
    }

private:
    Var x{"x"}, y{"y"};
};

}  // namespace

HALIDE_REGISTER_GENERATOR(Flip, flip)

namespace {

TEST(HalidePrograms, Generators) {
    GeneratorContext context(get_jit_target_from_environment());
    Callable flip = create_callable_from_generator(context, "flip", {{"vertical", "true"}});
    Buffer<uint8_t, 2> in(6, 5), out(6, 5);
    in.for_each_element([&](int x, int y) { in(x, y) = uint8_t(10 * x + y); });
    EXPECT_EQ(flip(in, out), 0);
    EXPECT_EQ(out(2, 0), 24);
    EXPECT_EQ(out(5, 4), 50);
}

}  // namespace
