// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <calotype/calotype.h>

namespace {

/// Applies a function that the build chooses to each value, then those of a list.
class Toned : public calotype::Generator<Toned> {
public:
    LinkableParam tone{"tone"};  ///< has int tone(int)
    LinkableListParam steps{
        "steps", std::vector<Linkable>()};  ///< each has int NAME(int), with its own name
    Input<Buffer<int32_t, 1>> input{"input"};
    Output<Buffer<int32_t, 1>> output{"output"};

    void generate() {
        const Type i32 = Int(32);
        Expr value = calotype::pure_extern_device_call(tone, "tone", i32, {input(x)});
        for (const Linkable &step : steps) {
            value = calotype::pure_extern_device_call(step, step.name(), i32, {value});
        }
        output(x) = value;
        if (get_target().has_gpu_feature()) {
            output.gpu_tile(x, xi, 16);
        }
    }

private:
    calotype::Var x{"x"}, xi{"xi"};
};

}  // namespace

CALOTYPE_REGISTER_GENERATOR(Toned, toned)
