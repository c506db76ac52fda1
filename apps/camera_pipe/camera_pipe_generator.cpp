// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From what a sensor with coloured filters reads to a picture: hot pixels, the missing colours, the
// sensor's colours, a curve, sharpening.
#include <calotype/calotype.h>

class CameraPipe : public calotype::Generator<CameraPipe> {
public:
    Input<Buffer<uint16_t, 2>> input{"input"};  ///< the mosaic: R G / G B, 10 bits, black at 0
    Input<Buffer<float, 2>> matrix{
        "matrix"};                      ///< 3 x 3: column: of the sensor, row: of the picture
    Input<float> gamma{"gamma", 2.2f};  ///< of the curve
    Input<float> contrast{"contrast", 50.0f};     ///< of the curve: 0 for none, to 100
    Input<float> sharpen{"sharpen", 1.0f};        ///< how much of what a blur takes away is added
    Output<Buffer<uint8_t, 3>> output{"output"};  ///< x, y, 3 channels: same width and height

    void generate() {
        raw(x, y) = cast<int16_t>(calotype::BoundaryConditions::mirror_interior(input)(x, y));

        // No pixel is beyond its four nearest neighbours of the same filter.
        Expr least = raw(x - 2, y), most = raw(x - 2, y);
        for (Expr neighbour : {raw(x + 2, y), raw(x, y - 2), raw(x, y + 2)}) {
            least = calotype::min(least, neighbour);
            most = calotype::max(most, neighbour);
        }
        denoised(x, y) = calotype::clamp(raw(x, y), least, most);

        demosaic();

        // The picture's colours, by a matrix in steps of 1/256.
        fixed(u, v) = cast<int16_t>(calotype::round(matrix(u, v) * 256.0f));
        Expr mixed = cast<int32_t>(128);
        for (int i = 0; i < 3; i++) {
            mixed += cast<int32_t>(fixed(i, c)) * cast<int32_t>(rgb(x, y, i));
        }
        corrected(x, y, c) = cast<int16_t>(calotype::clamp(mixed >> 8, 0, 1023));

        // The curve, as a table: gamma, then an S that keeps black, white and the middle.
        Expr t = calotype::pow(cast<float>(u) / 1023.0f, 1.0f / gamma);
        Expr s = t * t * (3.0f - 2.0f * t);
        Expr bent = calotype::lerp(t, s, contrast * 0.01f);
        curve(u) = cast<uint8_t>(calotype::clamp(bent * 255.0f + 0.5f, 0.0f, 255.0f));
        curved(x, y, c) = curve(calotype::clamp(cast<int32_t>(corrected(x, y, c)), 0, 1023));

        // What a blur by 1 2 1 in both directions takes away is added.
        strength() = cast<int16_t>(calotype::clamp(sharpen * 32.0f, 0.0f, 127.0f));
        const auto wide = [&](Expr at) {
            return cast<int16_t>(at);
        };
        columns(x, y, c) =
            wide(curved(x, y - 1, c)) + 2 * wide(curved(x, y, c)) + wide(curved(x, y + 1, c));
        Expr blurred =
            (columns(x - 1, y, c) + 2 * columns(x, y, c) + columns(x + 1, y, c) + 8) >> 4;
        Expr difference = wide(curved(x, y, c)) - blurred;
        Expr sharp = wide(curved(x, y, c)) + ((difference * strength()) >> 5);
        output(x, y, c) = cast<uint8_t>(calotype::clamp(sharp, 0, 255));

        input.set_estimates({{0, 2592}, {0, 1968}});
        matrix.set_estimates({{0, 3}, {0, 3}});
        gamma.set_estimate(2.0f);
        contrast.set_estimate(50.0f);
        sharpen.set_estimate(1.0f);
        output.set_estimates({{0, 2592}, {0, 1968}, {0, 3}});
    }

    void schedule() {
        if (using_autoscheduler()) {
            return;
        }
        output.dim(0).set_min(0);
        output.dim(1).set_min(0);
        output.bound(c, 0, 3);
        matrix.dim(0).set_bounds(0, 3);
        matrix.dim(1).set_bounds(0, 3);
        if (get_target().has_gpu_feature()) {
            schedule_for_gpu();
            return;
        }
        // Bands of rows; two rows and two vectors at a time, so that which filter a pixel is behind
        // is known when compiling.
        const int lanes = natural_vector_size<int16_t>();
        fixed.compute_root();
        curve.compute_root();
        strength.compute_root();
        output.split(y, y, yi, 64)
            .split(yi, yi, yr, 2)
            .reorder(x, c, yr, yi, y)
            .parallel(y)
            .vectorize(x, natural_vector_size<uint8_t>())
            .unroll(c);
        curved.store_at(output, y)
            .compute_at(output, yi)
            .reorder(x, c, y)
            .vectorize(x, lanes)
            .unroll(c);
        rgb.compute_at(output, yi)
            .align_bounds(x, 2)
            .align_bounds(y, 2)
            .split(y, y, yr, 2)
            .split(x, x, xr, 2 * lanes)
            .reorder(xr, c, yr, x, y)
            .vectorize(xr)
            .unroll(yr)
            .unroll(c);
        denoised.store_at(output, y).compute_at(output, yi).vectorize(x, lanes);
    }

private:
    /// Linear filters of 5 x 5 estimate the colours that a pixel lacks from those it has, and from
    /// how the colour that it has bends.
    void demosaic() {
        const auto at = [&](int dx, int dy) {
            return cast<int32_t>(denoised(x + dx, y + dy));
        };
        Expr here = at(0, 0);
        Expr cross = at(-1, 0) + at(1, 0) + at(0, -1) + at(0, 1);
        Expr corners = at(-1, -1) + at(1, -1) + at(-1, 1) + at(1, 1);
        Expr row = at(-1, 0) + at(1, 0), column = at(0, -1) + at(0, 1);
        Expr far_row = at(-2, 0) + at(2, 0), far_column = at(0, -2) + at(0, 2);
        const auto in_sixteenths = [](Expr sum) {
            return cast<int16_t>(calotype::clamp((sum + 8) >> 4, 0, 1023));
        };
        Expr green = in_sixteenths(4 * cross + 8 * here - 2 * (far_row + far_column));
        Expr along_row = in_sixteenths(10 * here + 8 * row + far_column - 2 * (corners + far_row));
        Expr along_column =
            in_sixteenths(10 * here + 8 * column + far_row - 2 * (corners + far_column));
        Expr opposite = in_sixteenths(12 * here + 4 * corners - 3 * (far_row + far_column));
        Expr own = cast<int16_t>(here);

        Expr even_x = x % 2 == 0, even_y = y % 2 == 0;
        const auto by_place = [&](Expr red, Expr green_of_red, Expr green_of_blue, Expr blue) {
            return calotype::select(even_y, calotype::select(even_x, red, green_of_red),
                                    calotype::select(even_x, green_of_blue, blue));
        };
        rgb(x, y, c) = calotype::mux(c, {by_place(own, along_row, along_column, opposite),
                                         by_place(green, own, own, green),
                                         by_place(opposite, along_column, along_row, own)});
    }

    void schedule_for_gpu() {
        Var xi{"xi"}, yi{"yi"}, ui{"ui"}, xp{"xp"}, yp{"yp"};
        fixed.compute_root().gpu_tile(u, v, ui, yi, 3, 3);
        curve.compute_root().gpu_tile(u, ui, 256);
        strength.compute_root().gpu_single_thread();
        // A block makes the curved colours of its tile once, in shared memory; there a thread makes
        // four pixels, one behind each filter.
        output.tile(x, y, xi, yi, 60, 28, TailStrategy::GuardWithIf)
            .split(xi, xi, xp, 2)
            .split(yi, yi, yp, 2)
            .reorder(xp, yp, c, xi, yi, x, y)
            .unroll(xp)
            .unroll(yp)
            .unroll(c)
            .gpu_blocks(x, y)
            .gpu_threads(xi, yi);
        curved.compute_at(output, x)
            .bound_extent(x, 62)
            .bound_extent(y, 30)
            .split(x, x, xp, 2)
            .split(y, y, yp, 2)
            .reorder(xp, yp, c, x, y)
            .unroll(xp)
            .unroll(yp)
            .unroll(c)
            .gpu_threads(x, y);
        denoised.compute_at(output, x)
            .split(x, x, xp, 2)
            .split(y, y, yp, 2)
            .reorder(xp, yp, x, y)
            .unroll(xp)
            .unroll(yp)
            .gpu_threads(x, y);
    }

    Var x{"x"}, y{"y"}, c{"c"}, u{"u"}, v{"v"}, yi{"yi"}, yr{"yr"}, xr{"xr"};
    Func raw{"raw"}, denoised{"denoised"}, rgb{"rgb"}, fixed{"fixed"}, corrected{"corrected"},
        curve{"curve"}, curved{"curved"}, strength{"strength"}, columns{"columns"};
};

CALOTYPE_REGISTER_GENERATOR(CameraPipe, camera_pipe)
