// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Brightness and contrast of a grey image: a small pipeline, so that what counts is the server.
#include <calotype/calotype.h>

class Tone : public calotype::Generator<Tone> {
public:
    Input<Buffer<float, 2>> input{"input"};
    Input<float> gain{"gain"};
    Input<float> offset{"offset"};
    Output<Buffer<float, 2>> output{"output"};

    void generate() {
        output(x, y) = calotype::clamp(input(x, y) * gain + offset, 0.0f, 1.0f);
    }

    void schedule() {
        if (get_target().has_gpu_feature()) {
            output.gpu_tile(x, y, xi, yi, 32, 8);
        } else {
            output.vectorize(x, natural_vector_size<float>());
        }
    }

private:
    Var x{"x"}, y{"y"}, xi{"xi"}, yi{"yi"};
};

CALOTYPE_REGISTER_GENERATOR(Tone, tone)
