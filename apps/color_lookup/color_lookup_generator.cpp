// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Colours of a photograph are replaced by those of a cube, which a library looks up.
#include <calotype/calotype.h>

class ColorLookup : public calotype::Generator<ColorLookup> {
public:
    LinkableParam cube{
        "cube"};  ///< has float look_up_color(float r, float g, float b, int channel)

    Input<Buffer<uint8_t, 3>> input{"input"};     ///< x, y, 3 channels
    Output<Buffer<uint8_t, 3>> output{"output"};  ///< same size

    void generate() {
        auto channel = [&](int i) {
            return calotype::cast<float>(input(x, y, i)) / 255.0f;
        };
        Expr color = calotype::pure_extern_device_call(cube, "look_up_color", calotype::Float(32),
                                                       {channel(0), channel(1), channel(2), c});
        output(x, y, c) = calotype::cast<uint8_t>(color * 255.0f + 0.5f);
    }

    void schedule() {
        output.bound(c, 0, 3).reorder(c, x, y).unroll(c);
        if (get_target().has_gpu_feature()) {
            output.gpu_tile(x, y, xi, yi, 32, 8);
        } else {
            output.parallel(y, 8);
        }
    }

private:
    Var x{"x"}, y{"y"}, c{"c"}, xi{"xi"}, yi{"yi"};
};

CALOTYPE_REGISTER_GENERATOR(ColorLookup, color_lookup)
