// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Images of OpenCL: inputs, what lies between kernels, and outputs. In CUDA they are device memory.
#include <calotype/calotype.h>

using namespace calotype;

namespace {

/** A copy, from image to image to image. */
class TextureCopy : public Generator<TextureCopy> {
public:
    GeneratorParam<Type> type{"type", Int(32)};
    Input<Buffer<void, 2>> input{"input"};
    Output<Buffer<void, 2>> output{"output"};

    void configure() {
        input.set_type(type);
        output.set_type(type);
    }
    void generate() {
        Var x("x"), y("y"), xi("xi"), yi("yi");
        Func between("between");
        between(x, y) = input(x, y);
        output(x, y) = between(x, y);
        const TailStrategy tail = TailStrategy::GuardWithIf;
        input.store_in(MemoryType::GPUTexture);
        between.compute_root().store_in(MemoryType::GPUTexture);
        between.gpu_tile(x, y, xi, yi, 16, 8, tail);
        output.store_in(MemoryType::GPUTexture).gpu_tile(x, y, xi, yi, 8, 8, tail);
    }
};

/** Images of one, two and three dimensions, beside buffers and a stage on the host; one output is
 * an image, one is not. */
class TextureMix : public Generator<TextureMix> {
public:
    Input<Buffer<int32_t, 1>> curve{"curve"};
    Input<Buffer<uint8_t, 3>> volume{"volume"};
    Input<Buffer<float, 2>> plain{"plain"};
    Output<Buffer<float, 2>> image{"image"};
    Output<Buffer<int32_t, 2>> other{"other"};

    void generate() {
        Var x("x"), y("y"), z("z"), xi("xi"), yi("yi"), zi("zi");
        Func looked_up("looked_up"), on_host("on_host"), deep("deep");
        const TailStrategy tail = TailStrategy::GuardWithIf;
        looked_up(x, y) = curve(cast<int>(volume(x, y, 0)) + volume(x, y, 2));
        on_host(x, y) = looked_up(x, y) * 2 + looked_up(x + 1, y);
        deep(x, y, z) = cast<int16_t>(on_host(x, y) + z);
        image(x, y) = plain(x, y) + cast<float>(deep(x, y, 1));
        other(x, y) = cast<int>(deep(x, y, 0)) + deep(x, y + 1, 2);
        curve.store_in(MemoryType::GPUTexture);
        volume.store_in(MemoryType::GPUTexture);
        looked_up.compute_root().store_in(MemoryType::GPUTexture);
        looked_up.gpu_tile(x, y, xi, yi, 16, 8, tail);
        on_host.compute_root().store_in(MemoryType::GPUTexture).vectorize(x, 4);
        deep.compute_root().store_in(MemoryType::GPUTexture);
        deep.gpu_tile(x, y, z, xi, yi, zi, 8, 8, 1, tail);
        image.store_in(MemoryType::GPUTexture).gpu_tile(x, y, xi, yi, 16, 8, tail);
        other.gpu_tile(x, y, xi, yi, 16, 8, tail);
    }
};

}  // namespace

CALOTYPE_REGISTER_GENERATOR(TextureCopy, texture_copy)
CALOTYPE_REGISTER_GENERATOR(TextureMix, texture_mix)
