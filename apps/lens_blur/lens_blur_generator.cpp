// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The blur of a large lens, from a pair of pictures: how far away everything is follows from how it
// moves between them, and that decides how blurred it becomes.
#include <calotype/calotype.h>

class LensBlur : public calotype::Generator<LensBlur> {
public:
    GeneratorParam<int> shifts{"shifts", 16, 2, 256};  ///< that are tried: 0 to shifts - 1 pixels
    GeneratorParam<int> window{"window", 9, 1, 63};    ///< width of what is compared, odd
    GeneratorParam<int> radius{"radius", 12, 1, 64};   ///< of the largest blur, in pixels
    GeneratorParam<int> samples{"samples", 96, 1, 4096};  ///< of a disc of that radius

    Input<Buffer<uint8_t, 3>> left{"left"};     ///< x, y, 3 channels
    Input<Buffer<uint8_t, 3>> right{"right"};   ///< the same size
    Input<float> focus{"focus", 4.0f};          ///< the shift of what stays sharp
    Input<float> aperture{"aperture", 1.0f};    ///< pixels of blur for a shift of one more or less
    Output<Buffer<float, 3>> output{"output"};  ///< the left picture, blurred; values from 0 to 255

    void generate() {
        Func l = calotype::BoundaryConditions::repeat_edge(left);
        Func r = calotype::BoundaryConditions::repeat_edge(right);

        const int half = window / 2, most = radius;

        // How well a window around a pixel matches the other picture, shifted by d.
        Expr difference = cast<uint16_t>(0);
        for (int i = 0; i < 3; i++) {
            difference += cast<uint16_t>(calotype::absd(l(x, y, i), r(x - d, y, i)));
        }
        differences(x, y, d) = calotype::min(difference, cast<uint16_t>(255));
        Expr row = cast<uint16_t>(0), cost = cast<uint16_t>(0);
        for (int i = -half; i <= half; i++) {
            row += differences(x + i, y, d);
        }
        rows(x, y, d) = row;
        for (int i = -half; i <= half; i++) {
            cost += rows(x, y + i, d);
        }

        // The shift that matches best, and how good that is.
        try_shift = calotype::RDom(0, int(shifts), "try_shift");
        best(x, y) = calotype::Tuple(cast<uint16_t>(65535), cast<uint16_t>(0));
        costs(x, y, d) = cost;
        Expr c_new = costs(x, y, try_shift);
        Expr is_better = c_new < best(x, y)[0];
        best(x, y) =
            calotype::Tuple(calotype::min(c_new, best(x, y)[0]),
                            calotype::select(is_better, cast<uint16_t>(try_shift), best(x, y)[1]));
        blur(x, y) = calotype::min(calotype::abs(cast<float>(best(x, y)[1]) - focus) * aperture,
                                   float(most));

        // Samples lie on a spiral. One counts where its own disc reaches the pixel, the less the
        // larger that disc is.
        s = calotype::RDom(0, int(samples), "s");
        const float golden = 2.39996323f;
        Expr distance = calotype::sqrt((cast<float>(u) + 0.5f) / float(int(samples))) * float(most);
        Expr angle = cast<float>(u) * golden;
        const auto offset = [&](Expr e) {
            return calotype::clamp(cast<int>(calotype::round(e)), -most, most);
        };
        across(u) = offset(distance * calotype::cos(angle));
        down(u) = offset(distance * calotype::sin(angle));
        far(u) = calotype::sqrt(cast<float>(across(u) * across(u) + down(u) * down(u)));
        Expr at_x = x + across(s), at_y = y + down(s);
        Expr reach = edge_blur()(at_x, at_y);
        Expr weight = calotype::clamp(reach - far(s) + 1.0f, 0.0f, 1.0f) / (reach * reach + 1.0f);
        const auto colour = [&](Expr cx, Expr cy, int i) {
            return cast<float>(l(cx, cy, i));
        };
        Expr own = 1.0f / (blur(x, y) * blur(x, y) + 1.0f);
        sums(x, y) = calotype::Tuple(own * colour(x, y, 0), own * colour(x, y, 1),
                                     own * colour(x, y, 2), own);
        sums(x, y) =
            calotype::Tuple(sums(x, y)[0] + weight * colour(at_x, at_y, 0),
                            sums(x, y)[1] + weight * colour(at_x, at_y, 1),
                            sums(x, y)[2] + weight * colour(at_x, at_y, 2), sums(x, y)[3] + weight);
        output(x, y, c) =
            calotype::mux(c, {sums(x, y)[0], sums(x, y)[1], sums(x, y)[2]}) / sums(x, y)[3];

        left.dim(0).set_min(0);
        left.dim(1).set_min(0);
        left.set_estimates({{0, 768}, {0, 512}, {0, 3}});
        right.set_estimates({{0, 768}, {0, 512}, {0, 3}});
        focus.set_estimate(4);
        aperture.set_estimate(1);
        output.set_estimates({{0, 768}, {0, 512}, {0, 3}});
    }

    void schedule() {
        if (using_autoscheduler()) {
            return;
        }
        Var xi{"xi"}, yi{"yi"}, ui{"ui"};
        output.bound(c, 0, 3).reorder(c, x, y).unroll(c);
        if (get_target().has_gpu_feature()) {
            for (Func f : {across, down, far}) {
                f.compute_root().gpu_tile(u, ui, 32);
            }
            // All shifts of a tile are tried by a block; a thread keeps the best of its pixel.
            const int width = 32, height = 16;
            blur.compute_root().gpu_tile(x, y, xi, yi, width, height);
            best.compute_at(blur, x)
                .bound_extent(x, width)
                .bound_extent(y, height)
                .store_in(MemoryType::Register)
                .gpu_threads(x, y);
            best.update().reorder(x, y, try_shift).gpu_threads(x, y);
            rows.compute_at(best, try_shift).gpu_threads(x, y);
            output.gpu_tile(x, y, xi, yi, 32, 8);
            sums.compute_at(output, xi);
            return;
        }
        // Shifts one after the other on a tile, all in the first-level cache; so are, later, the
        // sums of a vector of pixels, in registers.
        const int lanes = natural_vector_size<uint16_t>(), floats = natural_vector_size<float>();
        for (Func f : {across, down, far}) {
            f.compute_root();
        }
        blur.compute_root().tile(x, y, xi, yi, 4 * lanes, 32).parallel(y).vectorize(xi, floats);
        best.compute_at(blur, x).vectorize(x, lanes);
        best.update().reorder(x, y, try_shift).vectorize(x, lanes);
        rows.compute_at(best, try_shift).vectorize(x, lanes);
        differences.compute_at(best, try_shift).vectorize(x, lanes);
        output.parallel(y, 4).vectorize(x, floats);
        sums.compute_at(output, x).vectorize(x);
        sums.update().reorder(x, s).vectorize(x);
    }

private:
    /// Beyond the picture, everything is as blurred as at its edge.
    Func edge_blur() {
        return calotype::BoundaryConditions::repeat_edge(blur,
                                                         {{0, left.width()}, {0, left.height()}});
    }

    Var x{"x"}, y{"y"}, c{"c"}, d{"d"}, u{"u"};
    calotype::RDom try_shift, s;
    Func differences{"differences"}, rows{"rows"}, costs{"costs"}, best{"best"}, blur{"blur"},
        across{"across"}, down{"down"}, far{"far"}, sums{"sums"};
};

CALOTYPE_REGISTER_GENERATOR(LensBlur, lens_blur)
