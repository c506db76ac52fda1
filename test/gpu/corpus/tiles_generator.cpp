// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How loops map to blocks and threads: tiles of one to three dimensions, edges, several kernels.
#include <calotype/calotype.h>

using namespace calotype;

namespace {

class Tile1D : public Generator<Tile1D> {
public:
    Input<Buffer<float, 1>> input{"input"};
    Output<Buffer<float, 1>> output{"output"};

    void generate() {
        Var x("x"), xi("xi");
        output(x) = input(x) * 2.0f + 1.0f;
        output.gpu_tile(x, xi, 128);
    }
};

class Tile2D : public Generator<Tile2D> {
public:
    Input<Buffer<uint8_t, 2>> input{"input"};
    Output<Buffer<uint8_t, 2>> output{"output"};

    void generate() {
        Var x("x"), y("y"), xi("xi"), yi("yi");
        output(x, y) =
            cast<uint8_t>((cast<uint16_t>(input(x, y)) + cast<uint16_t>(input(x + 1, y)) +
                           cast<uint16_t>(input(x, y + 1))) /
                          3);
        output.gpu_tile(x, y, xi, yi, 16, 8);
    }
};

class Tile3D : public Generator<Tile3D> {
public:
    Input<Buffer<int32_t, 3>> input{"input"};
    Output<Buffer<int32_t, 3>> output{"output"};

    void generate() {
        Var x("x"), y("y"), z("z"), xi("xi"), yi("yi"), zi("zi");
        output(x, y, z) = input(x, y, z) * 3 + x + 10 * y + 100 * z;
        output.gpu_tile(x, y, z, xi, yi, zi, 8, 4, 2);
    }
};

/** Each of a chain of stages is a kernel of its own; what is between them stays on the device. */
class Chain : public Generator<Chain> {
public:
    GeneratorParam<int> stages{"stages", 5};
    Input<Buffer<float, 2>> input{"input"};
    Output<Buffer<float, 2>> output{"output"};

    void generate() {
        Var x("x"), y("y"), xi("xi"), yi("yi");
        std::vector<Func> chain;
        for (int i = 0; i < stages; i++) {
            Func f("stage" + std::to_string(i));
            f(x, y) = i == 0 ? input(x, y) + 1.0f : chain.back()(x, y) * 0.5f + float(i);
            f.compute_root().gpu_tile(x, y, xi, yi, 16, 16);
            chain.push_back(f);
        }
        output(x, y) = chain.back()(x, y);
        output.gpu_tile(x, y, xi, yi, 16, 16);
    }
};

/** A kernel, a stage on the host, a kernel. */
class ToAndFro : public Generator<ToAndFro> {
public:
    Input<Buffer<int32_t, 2>> input{"input"};
    Output<Buffer<int32_t, 2>> output{"output"};

    void generate() {
        Var x("x"), y("y"), xi("xi"), yi("yi");
        Func first("first"), middle("middle");
        first(x, y) = input(x, y) + 1;
        middle(x, y) = first(x, y) * 2 + y;
        output(x, y) = middle(x, y) - x;
        first.compute_root().gpu_tile(x, y, xi, yi, 8, 8);
        middle.compute_root();
        output.gpu_tile(x, y, xi, yi, 8, 8);
    }
};

/** Another kernel for another size. */
class Specialised : public Generator<Specialised> {
public:
    Input<Buffer<int32_t, 2>> input{"input"};
    Input<int32_t> added{"added"};
    Output<Buffer<int32_t, 2>> output{"output"};

    void generate() {
        Var x("x"), y("y"), xi("xi"), yi("yi");
        output(x, y) = input(x, y) + added;
        output.specialize(output.dim(0).extent() >= 32 && added == 0).gpu_tile(x, y, xi, yi, 32, 4);
        output.gpu_tile(x, y, xi, yi, 4, 4);
    }
};

}  // namespace

CALOTYPE_REGISTER_GENERATOR(Tile1D, tile_1d)
CALOTYPE_REGISTER_GENERATOR(Tile2D, tile_2d)
CALOTYPE_REGISTER_GENERATOR(Tile3D, tile_3d)
CALOTYPE_REGISTER_GENERATOR(Chain, chain)
CALOTYPE_REGISTER_GENERATOR(ToAndFro, to_and_fro)
CALOTYPE_REGISTER_GENERATOR(Specialised, specialised)
