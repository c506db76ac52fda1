// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The generators that the tests run, written as users write them.
#include "calotype.h"

namespace {

using namespace calotype;

class Brighten : public Generator<Brighten> {
public:
    GeneratorParam<int> offset{"offset", 1, 0, 100};
    Input<Buffer<uint8_t, 2>> input{"input"};
    Input<int32_t> factor{"factor", 2, 0, 10};
    Output<Buffer<uint8_t, 2>> output{"output"};

    void generate() {
        output(x, y) = cast<uint8_t>(min(cast<int32_t>(input(x, y)) * factor + offset, 255));
    }
    void schedule() {
        output.vectorize(x, natural_vector_size<uint8_t>()).parallel(y);
    }

private:
    Var x{"x"}, y{"y"};
};

enum class Mode { Sum, Product };

// A parameter of each kind; the output says what they hold.
class Kinds : public Generator<Kinds> {
public:
    GeneratorParam<bool> flag{"flag", false};
    GeneratorParam<int8_t> small{"small", -3};
    GeneratorParam<uint64_t> large{"large", 7};
    GeneratorParam<float> real{"real", 0.5f, 0.0f, 4.0f};
    GeneratorParam<Mode> mode{"mode", Mode::Sum, {{"sum", Mode::Sum}, {"product", Mode::Product}}};
    GeneratorParam<Type> type{"type", Float(32)};
    GeneratorParam<std::string> text{"text", "abc"};
    GeneratorParam<Target> other{"other", Target("x86-64-linux")};
    GeneratorParam<LoopLevel> level{"level", LoopLevel::inlined()};
    Output<Func> output{"output", 1};

    void generate() {
        double value = mode == Mode::Sum ? small + double(large) : small * double(large);
        value += real * 2 + (flag ? 100 : 0) + double(text.value().size());
        Var x("x");
        helper(x) = cast(type, float(value));
        output(x) = helper(x);
        helper.compute_at(level);
    }

private:
    Func helper{"helper"};
};

// All that is left open is set by parameters.
class Open : public Generator<Open> {
public:
    Input<Buffer<>> input{"input"};
    Input<Func> func{"func"};
    Input<Expr> scale{"scale"};
    Input<float[]> weights{"weights"};
    Output<Buffer<>> output{"output"};

    void generate() {
        Expr sum = cast(output.type(), scale);
        for (const auto &w : weights) {
            sum += cast(output.type(), Expr(w));
        }
        output(calotype::_) =
            cast(output.type(), input(calotype::_)) * sum + cast(output.type(), func(calotype::_));
    }
};

class Arrays : public Generator<Arrays> {
public:
    Input<Buffer<int32_t, 1>[2]> inputs {
        "inputs"
    };
    Input<int[]> offsets{2, "offsets"};
    Output<Buffer<int32_t, 1>[2]> outputs {
        "outputs"
    };
    Output<Func> pair{"pair", {Int(32), UInt(8)}, 1};

    void generate() {
        Var x("x");
        for (size_t i = 0; i < outputs.size(); i++) {
            outputs[i](x) = inputs[i](x) + offsets[i];
        }
        pair(x) = Tuple(inputs[0](x), cast<uint8_t>(x));
    }
};

class Resized : public Generator<Resized> {
public:
    GeneratorParam<int> count{"count", 2};
    Output<Buffer<int32_t, 1>[]> early {
        "early"
    };
    Output<Buffer<int32_t, 1>[]> late {
        "late"
    };

    void configure() {
        early.resize(1);
    }
    void generate() {
        Var x("x");
        early[0](x) = x;
        if (count > 0) {
            late.resize(size_t(int(count)));
        }
        for (size_t i = 0; i < late.size(); i++) {
            late[i](x) = x + 10 * int(i + 1);
        }
    }
};

class Configured : public Generator<Configured> {
public:
    GeneratorParam<int> count{"count", 2};
    Output<Buffer<int32_t, 1>> output{"output"};

    void configure() {
        for (int i = 0; i < count; i++) {
            inputs.push_back(add_input<Buffer<int32_t, 1>>("in_" + std::to_string(i)));
        }
        extra = add_output<Buffer<>>("extra");
        extra->set_type(UInt(8));
        extra->set_dimensions(1);
    }
    void generate() {
        Var x("x");
        Expr sum = 0;
        for (auto *input : inputs) {
            sum += (*input)(x);
        }
        output(x) = sum;
        (*extra)(x) = cast<uint8_t>(sum);
    }

private:
    std::vector<Input<Buffer<int32_t, 1>> *> inputs;
    Output<Buffer<>> *extra = nullptr;
};

class Undefined : public Generator<Undefined> {
public:
    Output<Buffer<int32_t, 1>> output{"output"};
    void generate() {
    }
};

class WrongType : public Generator<WrongType> {
public:
    Output<Buffer<int32_t, 1>> output{"output"};
    void generate() {
        Func f;
        Var x;
        f(x) = 1.0f;
        output = f;
    }
};

// Uses another generator.
class Outer : public Generator<Outer> {
public:
    Input<Buffer<uint8_t, 2>> input{"input"};
    Output<Buffer<uint8_t, 2>> output{"output"};

    void generate() {
        auto inner = context().create<Brighten>();
        inner->offset.set(5);
        inner->apply(input, 3);
        inner->output.compute_root();
        Var x("x"), y("y");
        output(x, y) = cast<uint8_t>(inner->output(x, y) + 1);
    }
};

// For the stub: one of everything that a stub has to spell.
class Mixer : public Generator<Mixer> {
public:
    GeneratorParam<Mode> mode{"mode", Mode::Sum, {{"sum", Mode::Sum}, {"product", Mode::Product}}};
    GeneratorParam<float> gain{"gain", 1.5f};
    GeneratorParam<bool> twice{"twice", false};
    GeneratorParam<std::string> text{"text", "a \"b\""};
    GeneratorParam<LoopLevel> level{"level", LoopLevel::inlined()};
    Input<Func> func{"func", 1};
    Input<Buffer<float, 1>> buffer{"buffer"};
    Input<float[2]> weights{"weights"};
    Output<Func> output{"output", 1};

    void generate() {
        Var x("x");
        Expr a = cast<float>(func(x)) * weights[0], b = buffer(x) * weights[1];
        mixed(x) = mode == Mode::Sum ? a + b : a * b;
        output(x) = cast(output.type(), mixed(x) * gain * (twice ? 2 : 1));
        mixed.compute_at(level);
    }

private:
    Func mixed{"mixed"};
};

// Functions of linkables, which the processor takes from the program.
class Linked : public Generator<Linked> {
public:
    LinkableParam rng{"rng"};
    LinkableParam tone{"tone", ";name=tone;setup=tone_setup"};
    LinkableParam extra{"extra", Linkable()};
    LinkableListParam more{"more"};
    Output<Buffer<int32_t, 1>> output{"output"};

    void configure() {
        more.optional();
    }
    void generate() {
        Expr value = extern_device_call(rng, "abs", Int(32), {x - 3});
        if (extra.defined()) {
            value += pure_extern_device_call(extra, "extra_value", Int(32), {x});
        }
        for (const Linkable &l : more) {
            value += pure_extern_device_call(l, "value_of_" + l.name(), Int(32));
        }
        output(x) = value + int(more.size());
    }
    void schedule() {
        if (get_target().has_gpu_feature()) {
            output.gpu_tile(x, xi, 8);
        }
    }

private:
    Var x{"x"}, xi{"xi"};
};

}  // namespace

CALOTYPE_REGISTER_GENERATOR(Linked, linked)
CALOTYPE_REGISTER_GENERATOR(Mixer, mixer, audio::Mix)
CALOTYPE_REGISTER_GENERATOR(Brighten, brighten)
CALOTYPE_REGISTER_GENERATOR_ALIAS(brighten_five, brighten, {{"offset", "5"}})
CALOTYPE_REGISTER_GENERATOR(Kinds, kinds)
CALOTYPE_REGISTER_GENERATOR(Open, open)
CALOTYPE_REGISTER_GENERATOR(Arrays, arrays)
CALOTYPE_REGISTER_GENERATOR(Configured, configured)
CALOTYPE_REGISTER_GENERATOR(Resized, resized)
CALOTYPE_REGISTER_GENERATOR(Undefined, undefined)
CALOTYPE_REGISTER_GENERATOR(WrongType, wrong_type)
CALOTYPE_REGISTER_GENERATOR(Outer, outer)
