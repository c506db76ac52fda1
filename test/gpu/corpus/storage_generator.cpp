// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the threads of a block keep what they share: shared memory, registers, the heap; of
// constant and of dynamic size.
#include <calotype/calotype.h>

using namespace calotype;

namespace {

/** Two stages in shared memory, with barriers between them. */
class SharedBlur : public Generator<SharedBlur> {
public:
    Input<Buffer<uint16_t, 2>> input{"input"};
    Output<Buffer<uint16_t, 2>> output{"output"};

    void generate() {
        Var x("x"), y("y"), xi("xi"), yi("yi");
        Func copied("copied"), rows("rows");
        copied(x, y) = input(x, y);
        rows(x, y) = copied(x, y) + copied(x + 1, y) + copied(x + 2, y);
        output(x, y) = (rows(x, y) + rows(x, y + 1) + rows(x, y + 2)) / 9;
        output.gpu_tile(x, y, xi, yi, 16, 16);
        copied.compute_at(output, x).gpu_threads(x, y);
        rows.compute_at(output, x).gpu_threads(x, y);
    }
};

/** One stage in the registers of each thread. */
class Registers : public Generator<Registers> {
public:
    Input<Buffer<float, 2>> input{"input"};
    Output<Buffer<float, 2>> output{"output"};

    void generate() {
        Var x("x"), y("y"), xi("xi"), yi("yi"), u("u");
        Func squares("squares");
        squares(x, y) = input(x, y) * input(x, y);
        output(x, y) = squares(x, y) + squares(x + 1, y);
        output.gpu_tile(x, y, xi, yi, 32, 4).unroll(yi, 2);
        squares.compute_at(output, xi).store_in(MemoryType::Register).unroll(x);
    }
};

/** The shared size depends on an argument. */
class DynamicShared : public Generator<DynamicShared> {
public:
    Input<Buffer<int32_t, 1>> input{"input"};
    Input<int32_t> radius{"radius", 1, 0, 64};
    Output<Buffer<int32_t, 1>> output{"output"};

    void generate() {
        Var x("x"), xi("xi");
        Func copied("copied"), sum("sum");
        RDom r(0, 2 * radius + 1, "r");
        copied(x) = input(x);
        sum(x) += copied(x + r);
        output(x) = sum(x);
        output.gpu_tile(x, xi, 64);
        sum.compute_at(output, xi);
        copied.compute_at(output, x).store_in(MemoryType::GPUShared).gpu_threads(x);
    }
};

/** More than the 48 KB that a kernel has without asking: 128 x 128 floats. */
class MuchShared : public Generator<MuchShared> {
public:
    Input<Buffer<float, 2>> input{"input"};
    Output<Buffer<float, 2>> output{"output"};

    void generate() {
        Var x("x"), y("y"), xi("xi"), yi("yi"), t("t"), tx("tx");
        Func tile("tile");
        tile(x, y) = input(x, y) * 3.0f;
        output(x, y) = tile(x, y) + tile(x + 64, y) + tile(x, y + 64);
        output.tile(x, y, xi, yi, 64, 64)
            .split(yi, yi, t, 8)
            .reorder(xi, t, yi, x, y)
            .gpu_blocks(x, y)
            .gpu_threads(xi, t);
        tile.compute_at(output, x).store_in(MemoryType::GPUShared).split(x, x, tx, 64);
        tile.gpu_threads(tx);
    }
};

}  // namespace

CALOTYPE_REGISTER_GENERATOR(SharedBlur, shared_blur)
CALOTYPE_REGISTER_GENERATOR(Registers, registers)
CALOTYPE_REGISTER_GENERATOR(DynamicShared, dynamic_shared)
CALOTYPE_REGISTER_GENERATOR(MuchShared, much_shared)
