// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <calotype/calotype.h>

namespace {

class Brighten : public calotype::Generator<Brighten> {
public:
    GeneratorParam<int> offset{"offset", 1};
    Input<Buffer<uint8_t, 2>> input{"input"};
    Input<int32_t> factor{"factor"};
    Output<Buffer<uint8_t, 2>> output{"output"};

    void generate() {
        calotype::Var x("x"), y("y"), xi("xi"), yi("yi");
        output(x, y) = calotype::cast<uint8_t>(
            calotype::min(calotype::cast<int32_t>(input(x, y)) * factor + int(offset), 255));
        if (get_target().has_gpu_feature()) {
            output.gpu_tile(x, y, xi, yi, 16, 4);
        } else {
            output.vectorize(x, 16).parallel(y);
        }
    }
};

}  // namespace

CALOTYPE_REGISTER_GENERATOR(Brighten, brighten)
