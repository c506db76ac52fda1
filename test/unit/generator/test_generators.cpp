// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What generators compute, and parameters, inputs and outputs of every kind.
#include <gtest/gtest.h>

#include "calotype.h"
#include "generator/registry.h"
#include "harness/expect_error.h"

namespace calotype {
namespace {

Callable make(const std::string &name, const GeneratorParamsMap &params = {}) {
    return create_callable_from_generator(get_jit_target_from_environment(), name, params);
}

TEST(Generators, ComputeWhatTheyAreAskedFor) {
    Buffer<uint8_t, 2> in(128, 3), out(128, 3);
    in.fill(20);
    EXPECT_EQ(make("brighten")(in, 3, out), 0);
    EXPECT_EQ(out(127, 2), 61);
    EXPECT_EQ(make("brighten", {{"offset", "7"}})(in, 20 - 10, out), 0);
    EXPECT_EQ(out(127, 2), 207);
    EXPECT_EQ(make("brighten_five")(in, 3, out), 0);
    EXPECT_EQ(out(0, 0), 65);
    EXPECT_RUNTIME_ERROR(make("brighten")(in, 11, out),
                         "parameter factor is 11, must be at most 10");
}

TEST(Generators, ParametersOfEveryKind) {
    Buffer<float, 1> out(2);
    EXPECT_EQ(make("kinds")(out), 0);
    EXPECT_EQ(out(0), -3 + 7 + 1 + 3);
    make("kinds", {{"flag", "true"},
                   {"small", "2"},
                   {"large", "5"},
                   {"real", "1.5"},
                   {"mode", "product"},
                   {"text", ""},
                   {"level", "root"},
                   {"other", "arm-64-linux"}})(out);
    EXPECT_EQ(out(0), 2 * 5 + 3 + 100);
    Buffer<uint16_t, 1> narrow(2);
    make("kinds", {{"type", "uint16"}})(narrow);
    EXPECT_EQ(narrow(1), 8);
}

TEST(Generators, WhatIsLeftOpenIsSetByParameters) {
    const GeneratorParamsMap params = {{"input.type", "uint8"},    {"input.dim", "2"},
                                       {"func.type", "int16"},     {"func.dim", "2"},
                                       {"scale.type", "int32"},    {"weights.size", "2"},
                                       {"output.type", "float32"}, {"output.dim", "2"}};
    Callable open = make("open", params);
    Buffer<uint8_t, 2> in(3, 3);
    Buffer<int16_t, 2> func(3, 3);
    Buffer<float, 2> out(3, 3);
    in.fill(4);
    func.fill(-1);
    EXPECT_EQ(open(in, func, 2, 0.5f, 0.25f, out), 0);
    EXPECT_EQ(out(2, 2), 4 * 2.75f - 1);
    ASSERT_EQ(open.arguments().size(), 6u);
    EXPECT_EQ(open.arguments()[3].name, "weights_0");
}

TEST(Generators, ArraysAndTuples) {
    Buffer<int32_t, 1> a(2), b(2), out_a(2), out_b(2), pair_0(2);
    Buffer<uint8_t, 1> pair_1(2);
    a.fill(1);
    b.fill(2);
    EXPECT_EQ(make("arrays")(a, b, 10, 20, out_a, out_b, pair_0, pair_1), 0);
    EXPECT_EQ(out_a(1), 11);
    EXPECT_EQ(out_b(1), 22);
    EXPECT_EQ(pair_0(1), 1);
    EXPECT_EQ(pair_1(1), 1);
}

TEST(Generators, Configure) {
    Buffer<int32_t, 1> a(2), out(2);
    Buffer<uint8_t, 1> extra(2);
    a.fill(100);
    EXPECT_EQ(make("configured", {{"count", "3"}})(a, a, a, out, extra), 0);
    EXPECT_EQ(out(0), 300);
    EXPECT_EQ(extra(0), 44);
}

TEST(Generators, ArraysThatGetTheirSizeLate) {
    Buffer<int32_t, 1> early(2), first(2), second(2);
    EXPECT_EQ(make("resized")(early, first, second), 0);
    EXPECT_EQ(early(1), 1);
    EXPECT_EQ(first(1), 11);
    EXPECT_EQ(second(1), 21);
    EXPECT_COMPILE_ERROR(make("resized", {{"count", "0"}}),
                         "output 'late' has no array size: set generator parameter 'late.size'");
}

TEST(Generators, InsideOfAnother) {
    Buffer<uint8_t, 2> in(128, 4), out(128, 4);
    in.fill(10);
    EXPECT_EQ(make("outer")(in, out), 0);
    EXPECT_EQ(out(100, 3), 36);
}

// ---- use in a program ----

class Scale : public Generator<Scale> {
public:
    GeneratorParam<int> factor{"factor", 2};
    Input<Func> input{"input"};
    Input<int> offset{"offset"};
    Output<Func> output{"output"};
    Var x{"x"};

    void generate() {
        output(x) = input(x) * factor + offset;
    }
};

TEST(Apply, InputsAreFuncsOfTheProgram) {
    const GeneratorContext context(get_jit_target_from_environment());
    Func f;
    Var x;
    f(x) = x;
    auto scale = context.create<Scale>();
    scale->factor.set(3);
    scale->apply(f, 1);
    Buffer<int32_t> out = scale->output.realize({4});
    EXPECT_EQ(out(3), 10);
}

class Edges : public Generator<Edges> {
public:
    Input<Buffer<int32_t, 1>> input{"input"};
    Output<Func> output{"output", Int(32), 1};
    Var x{"x"};

    void generate() {
        output(x) = BoundaryConditions::repeat_edge(input)(x) + input.dim(0).extent();
    }
};

TEST(Apply, InputsAreBuffers) {
    const GeneratorContext context(get_jit_target_from_environment());
    Buffer<int32_t, 1> b(3, "given");
    b(0) = 10;
    b(1) = 20;
    b(2) = 30;
    auto edges = context.apply<Edges>(b);
    Buffer<int32_t> out = edges->output.realize({5});
    EXPECT_EQ(out(4), 33);
    ImageParam p(Int(32), 1, "p");
    p.set(b);
    auto of_param = context.apply<Edges>(p);
    out = of_param->output.realize({5});
    EXPECT_EQ(out(4), 33);
}

TEST(Apply, ChecksWhatIsGiven) {
    const GeneratorContext context(get_jit_target_from_environment());
    Func f("f"), undefined("undefined");
    Var x;
    f(x) = x;
    EXPECT_COMPILE_ERROR(context.apply<Scale>(f), "generator '' has 2 inputs, not 1");
    EXPECT_COMPILE_ERROR(context.apply<Scale>(3, 3), "input 'input' takes a Func, not a scalar");
    EXPECT_COMPILE_ERROR(context.apply<Scale>(f, f), "input 'offset' takes a scalar, not a Func");
    EXPECT_COMPILE_ERROR(context.apply<Scale>(f, 1.0f), "input 'offset' takes int32, not float32");
    EXPECT_COMPILE_ERROR(context.apply<Scale>(undefined, 1), "input 'input' is given Func '" +
                                                                 undefined.name() +
                                                                 "', which is undefined");
    auto twice = context.create<Scale>();
    twice->apply(f, 1);
    EXPECT_COMPILE_ERROR(twice->apply(f, 1), "generator '' is applied twice");
    EXPECT_COMPILE_ERROR(
        twice->factor.set(4),
        "generator parameter 'factor': it is set too late, the generator has read it");
}

TEST(Apply, MembersNeedAGenerator) {
    EXPECT_COMPILE_ERROR(GeneratorParam<int>("lonely", 3),
                         "generator parameter 'lonely' is not a member of a generator");
    EXPECT_COMPILE_ERROR(GeneratorInput<int>("lonely"),
                         "input or output 'lonely' is not a member of a generator");
}

class TwoOfOneName : public Generator<TwoOfOneName> {
public:
    GeneratorParam<int> a{"same", 2};
    Output<Func> output{"same"};
    void generate() {
    }
};

class BadName : public Generator<BadName> {
public:
    Output<Func> output{"a__b"};
    void generate() {
    }
};

TEST(Apply, NamesOfMembers) {
    const GeneratorContext context(get_host_target());
    EXPECT_COMPILE_ERROR(context.create<TwoOfOneName>(), "generator '' has two members 'same'");
    EXPECT_COMPILE_ERROR(context.create<BadName>(),
                         "input or output name 'a__b' must be letters, digits and single "
                         "underscores, and begin with a letter");
}

class Operators : public Generator<Operators> {
public:
    GeneratorParam<int> i{"i", 6};
    GeneratorParam<float> f{"f", 1.5f};
    GeneratorParam<bool> b{"b", true};
    Output<Func> output{"output"};
    void generate() {
        Var x("x");
        EXPECT_EQ(i + 1, 7);
        EXPECT_EQ(2 - i, -4);
        EXPECT_EQ(i * i, 36);
        EXPECT_EQ(i / 4, 1);
        EXPECT_EQ(i % 4, 2);
        EXPECT_EQ(f * 2, 3.0f);
        EXPECT_TRUE(i > 5 && b);
        EXPECT_FALSE(!b || i != 6);
        EXPECT_EQ(min(i, 3), 3);
        EXPECT_EQ(max(f, 1.0f), 1.5f);
        EXPECT_EQ(1 << i, 64);
        EXPECT_EQ((i >> 1) | 4, 7);
        const int negative = -i, flipped = ~i;
        EXPECT_EQ(negative + flipped, -13);
        const std::vector<int> list(i);
        EXPECT_EQ(list[i - 1], 0);
        EXPECT_EQ(std::to_string(i), "6");
        switch (i) {
        case 6:
            break;
        default:
            FAIL();
        }
        output(x) = x * f + i;
        EXPECT_EQ(output.types().size(), 1u);
    }
};

TEST(Params, Operators) {
    auto g = GeneratorContext(get_host_target()).create<Operators>();
    g->set_params({{"output.type", "float32"}, {"output.dim", "1"}});
    Buffer<float> out = g->realize({3});
    EXPECT_EQ(out(2), 9.0f);
}

TEST(Registry, SaysWhatThereIs) {
    EXPECT_COMPILE_ERROR(
        internal::create_generator("zzz", GeneratorContext()),
        "there is no generator 'zzz', there are: arrays, brighten, brighten_five, "
        "configured, kinds, linked, "
        "mixer, open, outer, resized, typed_by_hand, undefined, uses_mixer, wrong_type");
}

}  // namespace
}  // namespace calotype
