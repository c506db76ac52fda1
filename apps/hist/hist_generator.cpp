// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Histogram equalisation: brightness is mapped so that all levels become equally frequent.
#include <calotype/calotype.h>

class Hist : public calotype::Generator<Hist> {
public:
    GeneratorParam<int> rows{"rows", 32, 1, 1024};  ///< that one task, or one block, counts

    Input<Buffer<uint8_t, 3>> input{"input"};     ///< x, y, 3 channels
    Output<Buffer<uint8_t, 3>> output{"output"};  ///< same size

    void generate() {
        luma(x, y) = cast<uint8_t>((77 * cast<uint16_t>(input(x, y, 0)) +
                                    150 * cast<uint16_t>(input(x, y, 1)) +
                                    29 * cast<uint16_t>(input(x, y, 2))) >>
                                   8);

        // Each strip of rows is counted on its own.
        Expr bottom = input.height() - 1, strips = (input.height() + rows - 1) / rows;
        r = calotype::RDom(0, input.width(), 0, int(rows), "r");
        Expr row = u * rows + r.y;
        counts(v, u) = cast<uint32_t>(0);
        counts(luma(r.x, calotype::min(row, bottom)), u) += cast<uint32_t>(row <= bottom);

        strip = calotype::RDom(0, strips, "strip");
        total(v) = cast<uint32_t>(0);
        total(v) += counts(v, strip);

        // How many pixels are at most this bright, as a fraction of 255.
        level = calotype::RDom(1, 255, "level");
        below(v) = total(v);
        below(level) += below(level - 1);
        Expr pixels = cast<uint64_t>(input.width()) * cast<uint64_t>(input.height());
        mapped(v) = cast<uint8_t>(cast<uint64_t>(below(v)) * 255 / pixels);

        // Colours move along with the brightness.
        moved(x, y) = cast<int16_t>(mapped(luma(x, y))) - cast<int16_t>(luma(x, y));
        output(x, y, c) =
            cast<uint8_t>(calotype::clamp(cast<int16_t>(input(x, y, c)) + moved(x, y), 0, 255));

        for (int i = 0; i < 2; i++) {
            input.dim(i).set_min(0);
        }
        input.set_estimates({{0, 1536}, {0, 2560}, {0, 3}});
        output.set_estimates({{0, 1536}, {0, 2560}, {0, 3}});
    }

    void schedule() {
        if (using_autoscheduler()) {
            return;
        }
        output.bound(c, 0, 3);
        if (get_target().has_gpu_feature()) {
            schedule_for_gpu();
            return;
        }
        const int lanes = natural_vector_size<uint8_t>();
        counts.compute_root().vectorize(v, natural_vector_size<uint32_t>()).parallel(u);
        counts.update().parallel(u);
        counts_luma().compute_at(counts, r.y).vectorize(x, lanes);
        total.compute_root().vectorize(v, natural_vector_size<uint32_t>());
        total.update().reorder(v, strip).vectorize(v, natural_vector_size<uint32_t>());
        below.compute_root();
        mapped.compute_root();
        output.reorder(x, c, y).unroll(c).parallel(y, 16).vectorize(x, lanes);
        moved.compute_at(output, y).vectorize(x, lanes);
    }

private:
    /// The brightness of a row, made before it is counted: vectors cannot be counted, but made.
    Func counts_luma() {
        return luma.in(counts);
    }

    void schedule_for_gpu() {
        Var xi{"xi"}, yi{"yi"};
        calotype::RVar xo{"xo"}, lane{"lane"};
        // A block counts a strip in shared memory, where its threads add to the same numbers
        // atomically, and copies the result out.
        Func copied = counts.in();
        copied.compute_root().bound(v, 0, 256).gpu_blocks(u).gpu_threads(v);
        counts.compute_at(copied, u).gpu_threads(v);
        counts.update()
            .atomic()
            .split(r.x, xo, lane, 256)
            .reorder(xo, r.y, lane, u)
            .gpu_threads(lane);
        total.compute_root().gpu_tile(v, xi, 32);
        total.update().reorder(strip, v).gpu_tile(v, xi, 32);
        below.compute_root().gpu_single_thread();
        below.update().gpu_single_thread();
        mapped.compute_root().gpu_tile(v, xi, 256);
        output.reorder(c, x, y).unroll(c).gpu_tile(x, y, xi, yi, 64, 4);
        moved.compute_at(output, xi);
    }

    Var x{"x"}, y{"y"}, c{"c"}, u{"u"}, v{"v"};
    calotype::RDom r, strip, level;
    Func luma{"luma"}, counts{"counts"}, total{"total"}, below{"below"}, mapped{"mapped"},
        moved{"moved"};
};

CALOTYPE_REGISTER_GENERATOR(Hist, hist)
