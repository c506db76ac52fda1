// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Generators: parameters of every kind, arrays, inputs that configure() adds.
#include "Halide.h"
using namespace Halide;
namespace {
enum class Mode { Box, Tent };
class Filter : public Generator<Filter> {
public:
    GeneratorParam<Mode> mode{"mode", Mode::Box, {{"box", Mode::Box}, {"tent", Mode::Tent}}};
    GeneratorParam<int> radius{"radius", 1, 1, 8};
    GeneratorParam<Type> sum_type{"sum_type", Int(32)};
    GeneratorParam<bool> vectorize{"vectorize", true};
    GeneratorParam<std::string> note{"note", ""};
    GeneratorParam<LoopLevel> level{"level", LoopLevel::root()};
    Input<Buffer<uint8_t, 2>> input{"input"};
    Input<float> gain{"gain", 1.0f, 0.0f, 10.0f};
    Input<int32_t[2]> offsets{"offsets"};
    Input<Func> weight{"weight", Float(32), 1};
    Output<Buffer<uint8_t, 2>> output{"output"};
    Output<Buffer<float, 2>[]> extra {
        "extra"
    };
    void configure() {
        extra.resize(2);
        bonus = add_input<Buffer<int>>("bonus", 1);
    }
    void generate() {
        Func in = BoundaryConditions::repeat_edge(input);
        RDom r(-(int)radius, 2 * radius + 1);
        Expr w = mode == Mode::Box ? Expr(1) : Expr(radius + 1) - abs(r);
        sum_x(x, y) = cast(sum_type, 0);
        sum_x(x, y) += cast(sum_type, cast(sum_type, in(x + r, y)) * w);
        output(x, y) = saturating_cast<uint8_t>(cast<float>(sum_x(x, y)) * gain * weight(x % 4) +
                                                offsets[0] + offsets[1] + (*bonus)(0));
        for (size_t i = 0; i < extra.size(); i++)
            extra[i](x, y) = cast<float>(x + y) * (float)(i + 1);
    }
    void schedule() {
        sum_x.compute_at(level);
        if (vectorize && !using_autoscheduler()) {
            output.vectorize(x, natural_vector_size<uint8_t>());
            sum_x.vectorize(x, natural_vector_size(sum_type)).update().reorder(x, y);
        }
        if (get_target().has_feature(Target::AVX2)) {
            output.parallel(y);
        }
    }

private:
    Input<Buffer<int>> *bonus = nullptr;
    Var x{"x"}, y{"y"};
    Func sum_x{"sum_x"};
};
class Simple : public Halide::Generator<Simple> {
public:
    Input<Buffer<>> in{"in"};
    Output<Buffer<>> out{"out"};
    void generate() {
        std::vector<Var> v(in.dimensions());
        for (auto &q : v)
            q = Var();
        Func f;
        f(v) = in(v) + 1;
        out(_) = f(_);
    }
};
}  // namespace
HALIDE_REGISTER_GENERATOR(Filter, filter)
HALIDE_REGISTER_GENERATOR(Simple, simple)
HALIDE_REGISTER_GENERATOR_ALIAS(filter_tent, filter, {{"mode", "tent"}, {"radius", "2"}})
