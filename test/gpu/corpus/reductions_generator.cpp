// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Updates: sums over threads, atomics, tuples, matrix products.
#include <calotype/calotype.h>

using namespace calotype;

namespace {

class Histogram : public Generator<Histogram> {
public:
    Input<Buffer<uint8_t, 2>> input{"input"};
    Output<Buffer<int32_t, 1>> output{"output"};

    void generate() {
        Var i("i"), ii("ii");
        RDom r(0, input.dim(0).extent(), 0, input.dim(1).extent(), "r");
        output(i) = 0;
        output(cast<int32_t>(input(r.x, r.y))) += 1;
        RVar xo("xo"), xi("xi");
        output.gpu_tile(i, ii, 64);
        output.update().atomic().split(r.x, xo, xi, 16).gpu_blocks(xo, r.y).gpu_threads(xi);
    }
};

/** Stages of updates, each of them kernels. */
class Updates : public Generator<Updates> {
public:
    Input<Buffer<int32_t, 2>> input{"input"};
    Output<Buffer<int32_t, 2>> output{"output"};

    void generate() {
        Var x("x"), y("y"), xi("xi"), yi("yi");
        RDom r(0, 4, "r");
        output(x, y) = input(x, y);
        output(x, y) += input(x + r, y) * (r + 1);
        output(x, y) = max(output(x, y), 100);
        output.gpu_tile(x, y, xi, yi, 8, 8);
        output.update(0).gpu_tile(x, y, xi, yi, 8, 8);
        output.update(1).gpu_tile(x, y, xi, yi, 16, 4);
    }
};

class Tuples : public Generator<Tuples> {
public:
    Input<Buffer<float, 2>> input{"input"};
    Output<Buffer<float, 1>> output{"output"};

    void generate() {
        Var y("y"), yi("yi");
        RDom r(0, input.dim(0).extent(), "r");
        Func extremes("extremes");
        extremes(y) = Tuple(input(0, y), input(0, y));
        extremes(y) = Tuple(min(extremes(y)[0], input(r, y)), max(extremes(y)[1], input(r, y)));
        output(y) = extremes(y)[1] - extremes(y)[0];
        output.gpu_tile(y, yi, 32);
        extremes.compute_root().gpu_tile(y, yi, 32).update().gpu_tile(y, yi, 32);
    }
};

/** Sixteen sums in the registers of each thread. */
class Gemm : public Generator<Gemm> {
public:
    Input<Buffer<float, 2>> a{"a"}, b{"b"};
    Output<Buffer<float, 2>> output{"output"};

    void generate() {
        Var x("x"), y("y"), xi("xi"), yi("yi"), xo("xo"), yo("yo"), tx("tx"), ty("ty");
        RDom r(0, a.dim(0).extent(), "r");
        Func product("product");
        product(x, y) += a(r, y) * b(x, r);
        output(x, y) = product(x, y);
        output.tile(x, y, xo, yo, xi, yi, 4, 4)
            .gpu_tile(xo, yo, tx, ty, 8, 8)
            .unroll(xi)
            .unroll(yi);
        product.compute_at(output, tx).unroll(x).unroll(y);
        product.update().reorder(x, y, r).unroll(x).unroll(y);
    }
};

/** Sums in registers of threads, over tiles of both inputs that a block stages in shared memory,
 * two tiles ahead. Width and height are multiples of 128, the depth is one of 16. */
class GemmTiled : public Generator<GemmTiled> {
public:
    GeneratorParam<int> width{"width", 256}, depth{"depth", 48};
    GeneratorParam<int> step{"step", 16}, stages{"stages", 3};  ///< of the tiles, and how many
    Input<Buffer<float, 2>> a{"a"}, b{"b"};
    Output<Buffer<float, 2>> output{"output"};

    void generate() {
        constexpr int block = 128, lanes = 4, rows = 16, padded = block + 4;
        Var x("x"), y("y"), xi("xi"), yi("yi"), tx("tx"), ty("ty"), v("v"), t("t");
        RDom k(0, depth, "k");
        RVar ko("ko"), ki("ki");
        Func sum("sum");
        sum(x, y) += a(k, y) * b(x, k);
        output(x, y) = sum(x, y);

        Var bx("bx"), by("by");
        output.tile(x, y, bx, by, xi, yi, block, block, TailStrategy::RoundUp)
            .tile(xi, yi, tx, ty, xi, yi, lanes, rows)
            .gpu_blocks(bx, by)
            .gpu_threads(tx, ty)
            .vectorize(xi)
            .unroll(yi);
        sum.compute_at(output, bx).store_in(MemoryType::Register);
        sum.tile(x, y, tx, ty, xi, yi, lanes, rows).gpu_threads(tx, ty).unroll(xi).unroll(yi);
        sum.update()
            .split(k, ko, ki, int(step))
            .tile(x, y, tx, ty, xi, yi, lanes, rows)
            .reorder(xi, yi, ki, tx, ty, ko)
            .gpu_threads(tx, ty)
            .unroll(xi)
            .unroll(yi)
            .unroll(ki);
        // Rows of a become columns, so that a thread finds its rows side by side; columns are
        // padded, so that neighbours of a row are in different banks.
        stage(a.in(), sum, ko)
            .reorder_storage(_1, _0)
            .align_storage(_1, padded)
            .split(_1, yi, t, 2)
            .fuse(_0, t, tx)
            .split(yi, yi, ty, 8)
            .reorder(yi, tx, ty)
            .gpu_threads(tx, ty);
        stage(b.in(), sum, ko)
            .split(_0, tx, v, lanes)
            .split(_1, yi, ty, 8)
            .reorder(v, yi, tx, ty)
            .vectorize(v)
            .gpu_threads(tx, ty);
        align(a, depth);
        align(b, width);
        align(output, width);
    }

private:
    Func stage(Func f, Func consumer, const RVar &at) {
        f.compute_at(consumer, at).store_in(MemoryType::GPUSharedAsync);
        return f.ring_buffer(int(stages));
    }
    /// So that vectors of four may be loaded.
    template<typename B>
    static void align(B &buffer, int row) {
        buffer.set_host_alignment(16);
        buffer.dim(0).set_min(0);
        buffer.dim(1).set_min(0).set_stride(row);
    }
};

}  // namespace

CALOTYPE_REGISTER_GENERATOR(Histogram, histogram)
CALOTYPE_REGISTER_GENERATOR(Updates, updates)
CALOTYPE_REGISTER_GENERATOR(Tuples, tuples)
CALOTYPE_REGISTER_GENERATOR(Gemm, gemm)
CALOTYPE_REGISTER_GENERATOR(GemmTiled, gemm_tiled)
