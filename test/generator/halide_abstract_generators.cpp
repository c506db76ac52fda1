// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Generators of which a program knows the name alone, and generators that are no Generator class.
#include <gtest/gtest.h>

#include "Halide.h"

#include "harness/expect_error.h"

using namespace Halide;
using Halide::Internal::AbstractGenerator;
using Halide::Internal::AbstractGeneratorPtr;
using Halide::Internal::ArgInfoDirection;
using Halide::Internal::ArgInfoKind;
using Halide::Internal::GeneratorRegistry;

namespace {

/// weight * image + offset, and the sum of several images.
class Weigh : public Generator<Weigh> {
public:
    GeneratorParam<int> weight{"weight", 2};
    Input<Buffer<int32_t, 2>> image{"image"};
    Input<Func[]> more{"more", Int(32), 2};
    Input<int32_t> offset{"offset"};
    Output<Buffer<int32_t, 2>> weighed{"weighed"};
    Output<Func> sum{"sum", Int(32), 2};

    void generate() {
        Var x, y;
        weighed(x, y) = weight * image(x, y) + offset;
        Expr all = 0;
        for (size_t i = 0; i < more.size(); i++) {
            all += more[i](x, y);
        }
        sum(x, y) = all;
    }
};

AbstractGeneratorPtr make(const std::string &name) {
    return GeneratorRegistry::create(name, GeneratorContext(get_host_target()));
}

Func ramp(const std::string &name, int slope) {
    Var x, y;
    Func f(name);
    f(x, y) = slope * (x + 10 * y);
    return f;
}

TEST(AbstractGenerators, SayWhatTheyTakeAndMake) {
    const std::vector<std::string> names = GeneratorRegistry::enumerate();
    EXPECT_EQ(std::count(names.begin(), names.end(), "weigh"), 1);
    const AbstractGeneratorPtr g = make("weigh");
    EXPECT_EQ(g->name(), "weigh");
    EXPECT_EQ(g->context().target(), get_host_target());
    std::string all;
    for (const AbstractGenerator::ArgInfo &info : g->arginfos()) {
        all += (info.dir == ArgInfoDirection::Input ? "in " : "out ") + info.name + " " +
               std::to_string(int(info.kind)) + " " + std::to_string(info.types.size()) + " " +
               std::to_string(info.dimensions) + "; ";
    }
    EXPECT_EQ(all, "in image 2 1 2; in more 1 1 2; in offset 0 1 0; out weighed 2 1 2; "
                   "out sum 1 1 2; ");
}

TEST(AbstractGenerators, AreBuiltOfWhatIsBound) {
    const AbstractGeneratorPtr g = make("weigh");
    g->set_generatorparam_values({{"weight", "3"}});
    g->bind_input("image", std::vector<Func>{ramp("first", 1)});
    g->bind_input("more", std::vector<Func>{ramp("second", 2), ramp("third", 5)});
    g->bind_input("offset", std::vector<Expr>{Expr(100)});
    g->build_pipeline();
    Buffer<int32_t> weighed = g->output_func("weighed").at(0).realize({4, 4});
    Buffer<int32_t> sum = g->output_func("sum").at(0).realize({4, 4});
    EXPECT_EQ(weighed(3, 2), 3 * 23 + 100);
    EXPECT_EQ(sum(3, 2), 7 * 23);
    EXPECT_TRUE(g->input_parameter("offset").empty());
}

TEST(AbstractGenerators, WhatIsNotBoundIsAParameter) {
    const AbstractGeneratorPtr g = make("weigh");
    g->bind_input("more", std::vector<Func>{ramp("only", 1)});
    Parameter image(Int(32), true, 2, "photograph");
    g->bind_input("image", std::vector<Parameter>{image});
    Callable weigh = g->compile_to_callable();
    EXPECT_EQ(g->input_parameter("image").at(0).name(), "photograph");
    EXPECT_EQ(g->input_parameter("offset").at(0).name(), "offset");
    Buffer<int32_t> photograph(3, 3), out(3, 3), sum(3, 3);
    photograph.fill(5);
    ASSERT_EQ(weigh(photograph, 7, out, sum), 0);
    EXPECT_EQ(out(1, 1), 17);
    EXPECT_EQ(sum(1, 1), 11);
}

TEST(AbstractGenerators, RefuseWhatIsNotThereOrTooLate) {
    const AbstractGeneratorPtr g = make("weigh");
    EXPECT_COMPILE_ERROR(make("weight"), "there is no generator 'weight', did you mean 'weigh'?");
    EXPECT_COMPILE_ERROR(g->bind_input("imag", std::vector<Func>{ramp("f", 1)}),
                         "generator 'weigh' has no input 'imag', did you mean 'image'?");
    EXPECT_COMPILE_ERROR(g->set_generatorparam_value("height", std::string("1")),
                         "generator 'weigh' has no parameter 'height', did you mean 'weight'?");
    EXPECT_COMPILE_ERROR(
        g->output_func("sum"),
        "generator 'weigh' is asked for inputs or outputs before build_pipeline()");
    g->bind_input("more", std::vector<Func>{ramp("f", 1)});
    g->build_pipeline();
    EXPECT_COMPILE_ERROR(g->build_pipeline(), "generator 'weigh' is built twice");
    EXPECT_COMPILE_ERROR(g->bind_input("offset", std::vector<Expr>{Expr(1)}),
                         "input 'offset' of generator 'weigh' is bound after build_pipeline()");
    EXPECT_COMPILE_ERROR(g->output_func("product"), "generator 'weigh' has no output 'product'");
}

/// input * scale + offset, without a class of Generator.
class Scale : public AbstractGenerator {
    const GeneratorContext context_;
    int scale_ = 1;
    ImageParam input_{Int(32), 1, "input"};
    Param<int32_t> offset_{"offset"};
    Expr offset_given_;
    Func output_{"output"};

public:
    explicit Scale(const GeneratorContext &context) : context_(context) {
    }
    std::string name() override {
        return "scale_by";
    }
    GeneratorContext context() const override {
        return context_;
    }
    std::vector<ArgInfo> arginfos() override {
        return {{"input", ArgInfoDirection::Input, ArgInfoKind::Buffer, {Int(32)}, 1},
                {"offset", ArgInfoDirection::Input, ArgInfoKind::Scalar, {Int(32)}, 0},
                {"output", ArgInfoDirection::Output, ArgInfoKind::Buffer, {Int(32)}, 1}};
    }
    void set_generatorparam_value(const std::string &name, const std::string &value) override {
        _halide_user_assert(name == "scale") << "there is no " << name;
        scale_ = std::stoi(value);
    }
    void set_generatorparam_value(const std::string &name, const LoopLevel &) override {
        _halide_user_assert(false) << "there is no level " << name;
    }
    void bind_input(const std::string &name, const std::vector<Parameter> &) override {
        _halide_user_assert(false) << "there is no parameter for " << name;
    }
    void bind_input(const std::string &name, const std::vector<Func> &) override {
        _halide_user_assert(false) << "there is no Func for " << name;
    }
    void bind_input(const std::string &, const std::vector<Expr> &values) override {
        offset_given_ = values.at(0);
    }
    Pipeline build_pipeline() override {
        Var x;
        output_(x) = input_(x) * scale_ + (offset_given_.defined() ? offset_given_ : offset_);
        return output_;
    }
    std::vector<Parameter> input_parameter(const std::string &name) override {
        return {name == "input" ? input_.parameter() : offset_.parameter()};
    }
    std::vector<Func> output_func(const std::string &) override {
        return {output_};
    }
    bool emit_cpp_stub(const std::string &) override {
        return false;
    }
};

const Halide::Internal::RegisterGenerator
    registration("scale_by", [](const GeneratorContext &context) -> AbstractGeneratorPtr {
        return std::make_unique<Scale>(context);
    });

TEST(AbstractGenerators, OnesOfTheirOwnAreLikeOthers) {
    Callable scale =
        create_callable_from_generator(get_host_target(), "scale_by", {{"scale", "4"}});
    Buffer<int32_t> input(5), output(5);
    input.fill(3);
    ASSERT_EQ(scale(input, 2, output), 0);
    EXPECT_EQ(output(4), 14);
    EXPECT_COMPILE_ERROR(
        create_callable_from_generator(get_host_target(), "scale_by", {{"size", "4"}}),
        "there is no size");

    const AbstractGeneratorPtr g = make("scale_by");
    g->bind_input("offset", std::vector<Expr>{Expr(9)});
    const Module module = g->build_module("nine_more");
    EXPECT_EQ(module.name(), "nine_more");
    EXPECT_EQ(module.functions().at(0).args.size(), 2u);
}

}  // namespace

HALIDE_REGISTER_GENERATOR(Weigh, weigh)
