// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Many small kernels that need one another.
#include <calotype/calotype.h>

using namespace calotype;

namespace {

/** Each stage is a kernel, and each has the gain as an argument. */
class GainChain : public Generator<GainChain> {
public:
    GeneratorParam<int> stages{"stages", 5};
    Input<Buffer<float, 1>> input{"input"};
    Input<float> gain{"gain"};
    Output<Buffer<float, 1>> output{"output"};

    void generate() {
        Var x("x"), xi("xi");
        std::vector<Func> chain;
        for (int i = 0; i < stages - 1; i++) {
            Func f("stage" + std::to_string(i));
            f(x) = (i == 0 ? input(x) : chain.back()(x)) * gain + float(i);
            f.compute_root().gpu_tile(x, xi, 64);
            chain.push_back(f);
        }
        output(x) = chain.back()(x) * gain + 1.0f;
        output.gpu_tile(x, xi, 64);
    }
};

}  // namespace

CALOTYPE_REGISTER_GENERATOR(GainChain, gain_chain)
