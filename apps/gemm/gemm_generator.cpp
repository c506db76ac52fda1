// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A product of matrices, as BLAS has it: output = alpha a b + beta c. Dimension 0 goes along a row.
#include <calotype/calotype.h>

class Gemm : public calotype::Generator<Gemm> {
public:
    Input<float> alpha{"alpha", 1.0f};
    Input<Buffer<float, 2>> a{"a"};  ///< depth x height
    Input<Buffer<float, 2>> b{"b"};  ///< width x depth
    Input<float> beta{"beta", 0.0f};
    Input<Buffer<float, 2>> c{"c"};             ///< width x height
    Output<Buffer<float, 2>> output{"output"};  ///< width x height

    void generate() {
        // Beyond the end of both are zeros, so that tiles are whole.
        Expr depth = a.dim(0).extent();
        k = calotype::RDom(0, step, 0, (depth + (step - 1)) / step, "k");
        Expr at = k.y * step + k.x;
        rows = calotype::BoundaryConditions::constant_exterior(a, 0.0f);
        columns = calotype::BoundaryConditions::constant_exterior(b, 0.0f);
        // On processors values that are used one after another lie next to each other: of each band
        // of rows, a column at a time.
        const int band = height();
        packed(r, d, t) = rows(d, t * band + r);
        const bool on_gpu = get_target().has_gpu_feature();
        sum(x, y) += (on_gpu ? rows(at, y) : packed(y % band, at, y / band)) * columns(x, at);
        output(x, y) = alpha * sum(x, y) + beta * c(x, y);

        for (int i = 0; i < 2; i++) {
            a.dim(i).set_min(0);
            b.dim(i).set_min(0);
            c.dim(i).set_min(0);
            output.dim(i).set_min(0);
        }
        b.dim(1).set_extent(depth);
        c.dim(0).set_extent(b.dim(0).extent());
        c.dim(1).set_extent(a.dim(1).extent());

        alpha.set_estimate(1.5f);
        beta.set_estimate(0.5f);
        for (Input<Buffer<float, 2>> *matrix : {&a, &b, &c}) {
            matrix->set_estimates({{0, 768}, {0, 768}});
        }
        output.set_estimates({{0, 768}, {0, 768}});
    }

    void schedule() {
        if (using_autoscheduler()) {
            return;
        }
        if (get_target().has_gpu_feature()) {
            schedule_for_gpu();
            return;
        }
        // A tile of sums stays in registers, for the whole depth. The columns of b for the tiles
        // below each other are copied next to each other, the rows of a for all: then one pointer
        // goes through the values of all rows of a tile, and two loads and as many broadcasts as
        // there are rows feed twice as many products.
        const int lanes = natural_vector_size<float>(), width = 2 * lanes;
        output.tile(x, y, xi, yi, width, height(), TailStrategy::GuardWithIf)
            .reorder(xi, yi, y, x)
            .vectorize(xi, lanes)
            .parallel(x);
        sum.compute_at(output, y)
            .bound_extent(x, width)
            .bound_extent(y, height())
            .vectorize(x, lanes)
            .unroll(x)
            .unroll(y);
        sum.update().reorder(x, y, k.x, k.y).vectorize(x, lanes).unroll(x).unroll(y).unroll(k.x);
        Var kx = columns.args()[0];
        columns.in(sum).compute_at(output, x).bound_extent(kx, width).vectorize(kx, lanes).unroll(
            kx);
        packed.compute_root().bound_extent(r, height()).unroll(r).parallel(t);
    }

private:
    static constexpr int step = 8;

    /// Rows of a tile: twice as many vectors of sums, two of b and one of a fill the registers.
    int height() const {
        return get_target().has_feature(calotype::Target::AVX512_Skylake) ? 12 : 6;
    }

    void schedule_for_gpu() {
        // A block of 16 x 16 threads makes 64 x 64 sums, a thread 4 x 4 of them in registers; for
        // every 8 of the depth, the threads copy what the block needs to shared memory.
        Var tx{"tx"}, ty{"ty"};
        const int size = 64, own = 4;
        output.tile(x, y, xi, yi, size, size, TailStrategy::GuardWithIf)
            .tile(xi, yi, tx, ty, xi, yi, own, own)
            .gpu_blocks(x, y)
            .gpu_threads(tx, ty)
            .unroll(xi)
            .unroll(yi);
        const auto in_threads = [&](calotype::Stage s) {
            s.tile(x, y, tx, ty, xi, yi, own, own).gpu_threads(tx, ty).unroll(xi).unroll(yi);
        };
        sum.compute_at(output, x).bound_extent(x, size).bound_extent(y, size).store_in(
            MemoryType::Register);
        in_threads(sum);
        sum.update()
            .tile(x, y, tx, ty, xi, yi, own, own)
            .reorder(xi, yi, k.x, tx, ty, k.y)
            .gpu_threads(tx, ty)
            .unroll(xi)
            .unroll(yi)
            .unroll(k.x);
        for (Func f : {rows, columns}) {
            const bool is_a = f.name() == rows.name();
            Var along = f.args()[is_a ? 1 : 0], deep = f.args()[is_a ? 0 : 1];
            f.in(sum)
                .compute_at(sum, k.y)
                .bound_extent(along, size)
                .bound_extent(deep, step)
                .reorder_storage(along, deep)
                .fuse(f.args()[0], f.args()[1], tx)
                .split(tx, ty, tx, 256)
                .split(tx, yi, tx, 16)
                .reorder(ty, tx, yi)
                .gpu_threads(tx, yi);
        }
    }

    Var x{"x"}, y{"y"}, xi{"xi"}, yi{"yi"};
    calotype::RDom k;
    Var r{"r"}, d{"d"}, t{"t"};
    Func rows, columns, packed{"packed"}, sum{"sum"};
};

CALOTYPE_REGISTER_GENERATOR(Gemm, gemm)
