// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values that lanes of a warp take from each other. In shared memory they give the same.
#include <calotype/calotype.h>

using namespace calotype;

namespace {

Var x("x"), y("y"), xo("xo"), xi("xi"), yo("yo"), yi("yi"), v("v");

template<typename T>
class OverLanes : public Generator<T> {
public:
    GeneratorParam<MemoryType> memory{"memory",
                                      MemoryType::Register,
                                      {{"auto", MemoryType::Auto},
                                       {"register", MemoryType::Register},
                                       {"shared", MemoryType::GPUShared}}};
};

/** Neighbours on both sides, of any type; rows of threads are warps. */
class LanesNeighbours : public OverLanes<LanesNeighbours> {
public:
    GeneratorParam<Type> type{"type", Float(32)};
    GeneratorParam<int> lanes{"lanes", 32}, rows{"rows", 4};
    Input<Buffer<int32_t, 2>> input{"input"};
    Output<Buffer<int32_t, 2>> output{"output"};

    void generate() {
        Func f("f");
        f(x, y) = cast(type, input(x, y) & 127);
        output(x, y) = cast<int32_t>(f(x, y)) + 3 * cast<int32_t>(f(x + 1, y)) +
                       7 * cast<int32_t>(f(x + 2, y));
        output.tile(x, y, xo, yo, xi, yi, lanes, rows)
            .gpu_blocks(xo, yo)
            .gpu_threads(yi)
            .gpu_lanes(xi);
        f.compute_at(output, yi).store_in(memory);
        f.split(x, xo, xi, lanes, TailStrategy::GuardWithIf).unroll(xo).gpu_lanes(xi);
    }
};

/** A tile with a border in both dimensions, in the registers of one warp. */
class LanesTile : public OverLanes<LanesTile> {
public:
    Input<Buffer<float, 2>> input{"input"};
    Output<Buffer<float, 2>> output{"output"};

    void generate() {
        Func f("f");
        RDom r(0, 3, 0, 3, "r");
        f(x, y) = sqrt(input(x, y));
        Expr sum = 0.0f;
        for (int i = 0; i < 9; i++) {
            sum += f(x + i % 3, y + i / 3) * float(i + 1);
        }
        output(x, y) = sum;
        output.tile(x, y, xo, yo, xi, yi, 32, 8).gpu_blocks(xo, yo).gpu_lanes(xi);
        output.reorder(yi, xi, xo, yo).unroll(yi);
        f.compute_at(output, xo).store_in(memory).unroll(y);
        f.split(x, xo, xi, 32, TailStrategy::GuardWithIf).reorder(y, xo, xi).unroll(xo);
        f.gpu_lanes(xi);
    }
};

/** Rows less their mean: a tree of sums, whose last one all lanes get. */
class LanesSums : public OverLanes<LanesSums> {
public:
    GeneratorParam<int> rows{"rows", 4};
    Input<Buffer<float, 2>> input{"input"};
    Output<Buffer<float, 2>> output{"output"};

    void generate() {
        const Expr width = input.dim(0).extent();
        RDom r(0, width, "r");
        RVar ro("ro"), ri("ri");
        Func sum("sum");
        sum(y) += input(min(r, width - 1), y);
        output(x, y) = input(x, y) - sum(y) / cast<float>(width);
        output.split(y, yo, yi, rows).split(x, xo, xi, 32);
        output.reorder(xo, xi, yi, yo).gpu_blocks(yo).gpu_threads(yi).gpu_lanes(xi);
        stage(sum, 1);

        sum.update().split(r, ro, ri, 32, TailStrategy::GuardWithIf);
        RVar rest = ri;
        for (int lanes = 32; lanes > 1; lanes /= 2) {
            Var u("u");
            Func part = sum.update().rfactor(rest, u);
            stage(part, lanes);
            part.gpu_lanes(u).update().gpu_lanes(u);
            if (lanes < 32) {
                part.update().unroll(ro);
            }
            RVar outer("outer"), inner("inner");
            sum.update().split(rest, outer, inner, lanes / 2);
            ro = outer;
            rest = inner;
        }
        sum.update().unroll(ro);
    }

private:
    void stage(Func f, int) {
        f.compute_at(output, yi).store_in(memory);
    }
};

/** Sums by exchange: in the end each lane has all. */
class LanesButterfly : public OverLanes<LanesButterfly> {
public:
    Input<Buffer<int64_t, 2>> input{"input"};
    Output<Buffer<int64_t, 2>> output{"output"};

    void generate() {
        Func f("f0");
        f(v, x, y) = input(x * 32 + v, y);
        std::vector<Func> stages = {f};
        for (int bit = 16; bit > 0; bit /= 2) {
            Func g("f" + std::to_string(bit));
            g(v, x, y) = f(v, x, y) + f(clamp(v ^ bit, 0, 31), x, y);
            stages.push_back(f = g);
        }
        output(x, y) = f(x % 32, x / 32, y) - input(x, y);
        output.dim(0).set_min(0);
        output.split(x, xo, xi, 32, TailStrategy::RoundUp).gpu_blocks(xo, y).gpu_lanes(xi);
        for (Func &s : stages) {
            s.compute_at(output, xo).store_in(memory).bound(v, 0, 32).gpu_lanes(v);
        }
    }
};

/** A table in registers, asked by what the image says. */
class LanesTable : public OverLanes<LanesTable> {
public:
    Input<Buffer<uint8_t, 2>> input{"input"};
    Input<Buffer<uint16_t, 1>> table{"table"};
    Output<Buffer<uint16_t, 2>> output{"output"};

    void generate() {
        Func entries("entries");
        entries(v) = table(v);
        output(x, y) = entries(min(input(x, y), 31));
        output.split(x, xo, xi, 32, TailStrategy::GuardWithIf).gpu_blocks(xo, y).gpu_lanes(xi);
        entries.compute_at(output, xo).store_in(memory).gpu_lanes(v);
    }
};

/** Four neighbours of a lane at once. */
class LanesVectors : public OverLanes<LanesVectors> {
public:
    Input<Buffer<float, 2>> input{"input"};
    Output<Buffer<float, 2>> output{"output"};

    void generate() {
        Func f("f");
        f(x, y) = input(x, y) * 2;
        output(x, y) = f(x, y) - f(x + 3, y) + f(x + 4, y);
        output.split(x, xo, xi, 128).split(xi, xi, v, 4).vectorize(v);
        output.gpu_blocks(xo, y).gpu_lanes(xi);
        f.compute_at(output, xo).store_in(memory).split(x, x, v, 4).vectorize(v);
        f.split(x, xo, xi, 32, TailStrategy::GuardWithIf).unroll(xo).gpu_lanes(xi);
    }
};

/** Sums of all values before, by doubling. */
class LanesScan : public OverLanes<LanesScan> {
public:
    Input<Buffer<int32_t, 2>> input{"input"};
    Output<Buffer<int32_t, 2>> output{"output"};

    void generate() {
        Func f("f0");
        f(v, x, y) = input(x * 32 + v, y);
        std::vector<Func> stages = {f};
        for (int step = 1; step < 32; step *= 2) {
            Func g("f" + std::to_string(step));
            g(v, x, y) = f(v, x, y) + select(v >= step, f(max(v - step, 0), x, y), 0);
            stages.push_back(f = g);
        }
        output(x, y) = f(x % 32, x / 32, y);
        output.dim(0).set_min(0);
        output.split(x, xo, xi, 32, TailStrategy::RoundUp).gpu_blocks(xo, y).gpu_lanes(xi);
        for (Func &s : stages) {
            s.compute_at(output, xo).store_in(memory).bound(v, 0, 32).gpu_lanes(v);
        }
    }
};

}  // namespace

CALOTYPE_REGISTER_GENERATOR(LanesNeighbours, lanes_neighbours)
CALOTYPE_REGISTER_GENERATOR(LanesTile, lanes_tile)
CALOTYPE_REGISTER_GENERATOR(LanesSums, lanes_sums)
CALOTYPE_REGISTER_GENERATOR(LanesButterfly, lanes_butterfly)
CALOTYPE_REGISTER_GENERATOR(LanesTable, lanes_table)
CALOTYPE_REGISTER_GENERATOR(LanesVectors, lanes_vectors)
CALOTYPE_REGISTER_GENERATOR(LanesScan, lanes_scan)
