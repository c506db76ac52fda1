// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The product of two matrices of floats: output = a b. A row is dimension 0.
//
// On a GPU a block of 256 threads computes 128 x 128 results, a thread 4 x 16 of them in registers.
// Tiles of both inputs, 16 deep, are copied into shared memory two tiles ahead of their use. Width
// and height must be multiples of 128 there, the depth need not. On processors a tile of results
// stays in vector registers; the columns of b that it needs are copied together, for all tiles
// below each other.
#include <calotype/calotype.h>

namespace {

using calotype::BoundaryConditions::constant_exterior;

class Gemm : public calotype::Generator<Gemm> {
public:
    /// Addresses of b and output are at multiples of 16 bytes, and rows are multiples of 4 apart:
    /// then a GPU moves four numbers at a time.
    GeneratorParam<bool> aligned{"aligned", false};
    /// Depth of a tile. A device's compiler may take minutes for the code of 16.
    GeneratorParam<int> step{"step", 16, 1, 64};
    Input<Buffer<float, 2>> a{"a"};             ///< depth x height
    Input<Buffer<float, 2>> b{"b"};             ///< width x depth
    Output<Buffer<float, 2>> output{"output"};  ///< width x height

    void generate() {
        // Beyond the end of both inputs are zeros, so that all steps are whole.
        k = calotype::RDom(0, int(step), 0, (a.dim(0).extent() + (step - 1)) / step, "k");
        const calotype::Expr depth = k.y * step + k.x;
        const Range steps = {0, a.dim(0).extent()};
        rows = constant_exterior(a, 0.0f, {steps, range_of(a.dim(1))});
        columns = constant_exterior(b, 0.0f, {range_of(b.dim(0)), steps});
        sum(x, y) += rows(depth, y) * columns(x, depth);
        output(x, y) = sum(x, y);
        a.dim(0).set_min(0);
        a.dim(1).set_min(0);
        b.dim(0).set_min(0);
        b.dim(1).set_min(0).set_extent(a.dim(0).extent());
        output.dim(0).set_min(0);
        output.dim(1).set_min(0);
    }

    void schedule() {
        if (aligned) {
            for_rows_of_four(b);
            for_rows_of_four(output);
        }
        if (is_gpu()) {
            schedule_for_gpu();
        } else {
            schedule_for_processor();
        }
    }

private:
    using Range = calotype::Range;

    /// On a GPU blocks are whole; elsewhere the last tile may not be.
    template<typename Dimension>
    Range range_of(const Dimension &d) {
        return is_gpu() ? Range() : Range(d.min(), d.extent());
    }

    bool is_gpu() {
        return get_target().has_gpu_feature();
    }

    template<typename B>
    static void for_rows_of_four(B &buffer) {
        buffer.set_host_alignment(16);
        buffer.dim(1).set_stride(buffer.dim(1).stride() / 4 * 4);
    }

    void schedule_for_gpu() {
        constexpr int block = 128, lanes = 4, height = 16, padding = 4;
        output.tile(x, y, bx, by, xi, yi, block, block, TailStrategy::RoundUp)
            .tile(xi, yi, tx, ty, xi, yi, lanes, height)
            .gpu_blocks(bx, by)
            .gpu_threads(tx, ty)
            .vectorize(xi)
            .unroll(yi);
        sum.compute_at(output, bx).store_in(MemoryType::Register);
        sum.tile(x, y, tx, ty, xi, yi, lanes, height, TailStrategy::RoundUp)
            .gpu_threads(tx, ty)
            .unroll(xi)
            .unroll(yi);
        sum.update()
            .tile(x, y, tx, ty, xi, yi, lanes, height)
            .reorder(xi, yi, k.x, tx, ty, k.y)
            .gpu_threads(tx, ty)
            .unroll(xi)
            .unroll(yi)
            .unroll(k.x);
        // Rows become columns, so that a thread finds its rows side by side; columns are padded, so
        // that neighbours of a row are in different banks.
        Var r("r"), pair("pair"), lane("lane");
        rows.in(sum)
            .compute_at(sum, k.y)
            .store_in(MemoryType::GPUSharedAsync)
            .ring_buffer(3)
            .reorder_storage(rows.args()[1], rows.args()[0])
            .align_storage(rows.args()[1], block + padding)
            .split(rows.args()[1], r, pair, 2)
            .fuse(rows.args()[0], pair, tx)
            .split(r, r, ty, 8)
            .reorder(r, tx, ty)
            .gpu_threads(tx, ty);
        columns.in(sum)
            .compute_at(sum, k.y)
            .store_in(MemoryType::GPUSharedAsync)
            .ring_buffer(3)
            .split(columns.args()[0], tx, lane, lanes)
            .split(columns.args()[1], r, ty, 8)
            .reorder(lane, r, tx, ty)
            .vectorize(lane)
            .gpu_threads(tx, ty);
    }

    void schedule_for_processor() {
        const int lanes = natural_vector_size<float>(), width = 2 * lanes, height = 6;
        const auto in_tiles = [&](calotype::Stage s, TailStrategy tail) {
            s.tile(x, y, bx, by, xi, yi, width, height, tail)
                .reorder(xi, yi, by, bx)
                .vectorize(xi, lanes)
                .parallel(bx);
        };
        const calotype::Expr has_a_tile =
            output.dim(0).extent() >= width && output.dim(1).extent() >= height;
        in_tiles(output.specialize(has_a_tile), TailStrategy::ShiftInwards);
        in_tiles(output, TailStrategy::GuardWithIf);
        sum.compute_at(output, by)
            .tile(x, y, tx, ty, xi, yi, width, height, TailStrategy::RoundUp)
            .vectorize(xi, lanes)
            .unroll(xi)
            .unroll(yi);
        sum.update()
            .tile(x, y, tx, ty, xi, yi, width, height, TailStrategy::RoundUp)
            .reorder(xi, yi, k.x, k.y, tx, ty)
            .vectorize(xi, lanes)
            .unroll(k.x)
            .unroll(xi)
            .unroll(yi);
        rows.in(sum).compute_root().vectorize(rows.args()[0], lanes).parallel(rows.args()[1], 8);
        columns.in(sum).compute_at(output, bx).vectorize(columns.args()[0], lanes);
    }

    calotype::RDom k;
    Var x{"x"}, y{"y"}, bx{"bx"}, by{"by"}, xi{"xi"}, yi{"yi"}, tx{"tx"}, ty{"ty"};
    Func rows, columns, sum{"sum"};
};

}  // namespace

CALOTYPE_REGISTER_GENERATOR(Gemm, gemm)
