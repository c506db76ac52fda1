// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Local Laplacian filtering: edge-aware contrast of details.
// Paris, Hasinoff, Kautz: Local Laplacian Filters (2011), in the fast form of Aubry et al. (2014):
// the image is remapped round `levels` intensities, one Laplacian pyramid each, and the output
// pyramid is interpolated between them.
#include <calotype/calotype.h>

#include <string>
#include <vector>

class LocalLaplacian : public calotype::Generator<LocalLaplacian> {
public:
    GeneratorParam<int> pyramid_levels{"pyramid_levels", 8, 2, 12};

    Input<Buffer<uint16_t, 3>> input{"input"};  ///< x, y, 3 channels
    Input<int> levels{"levels"};                ///< intensities to remap round, at least 2
    Input<float> alpha{"alpha"};                ///< strength of the details: 0 leaves them
    Input<float> beta{"beta"};                  ///< contrast of what is left: 1 leaves it
    Output<Buffer<uint16_t, 3>> output{"output"};

    void generate() {
        const int last = pyramid_levels - 1;
        // The amount added to a value at distance d (in 256ths of the range) of the intensity
        // remapped round.
        Expr d = cast<float>(v) / 256.0f;
        remap(v) = alpha * d * calotype::exp(-d * d / 2.0f);

        clamped = calotype::BoundaryConditions::repeat_edge(input);
        floating(x, y, c) = clamped(x, y, c) / 65535.0f;
        gray(x, y) =
            0.299f * floating(x, y, 0) + 0.587f * floating(x, y, 1) + 0.114f * floating(x, y, 2);

        // One remapped image an intensity, and the Gaussian pyramids of all.
        remapped.resize(pyramid_levels);
        Expr intensity = cast<float>(k) * (1.0f / (levels - 1));
        Expr scaled = calotype::clamp(cast<int>(gray(x, y) * cast<float>((levels - 1) * 256)), 0,
                                      (levels - 1) * 256);
        remapped[0] = named("remapped", 0);
        remapped[0](x, y, k) =
            beta * (gray(x, y) - intensity) + intensity + remap(scaled - 256 * k);
        finest(x, y, k) = remapped[0](x, y, k);
        guide.resize(pyramid_levels);
        guide[0] = named("guide", 0);
        guide[0](x, y) = gray(x, y);
        for (int j = 1; j < pyramid_levels; j++) {
            remapped[j] = named("remapped", j);
            remapped[j](x, y, k) = downsample(j == 1 ? finest : remapped[j - 1])(x, y, k);
            guide[j] = named("guide", j);
            guide[j](x, y) = downsample(guide[j - 1])(x, y);
        }

        // Laplacian pyramids: what each level has that the next coarser one lacks; chosen by the
        // guide's intensity.
        std::vector<Func> details(pyramid_levels);
        details[last] = remapped[last];
        for (int j = last - 1; j >= 0; j--) {
            details[j] = named("details", j);
            details[j](x, y, k) = remapped[j](x, y, k) - upsample(remapped[j + 1])(x, y, k);
        }
        collapsed.resize(pyramid_levels);
        for (int j = last; j >= 0; j--) {
            Expr level = guide[j](x, y) * cast<float>(levels - 1);
            Expr lower = calotype::clamp(cast<int>(level), 0, levels - 2);
            Expr weight = level - cast<float>(lower);
            Expr detail =
                (1.0f - weight) * details[j](x, y, lower) + weight * details[j](x, y, lower + 1);
            collapsed[j] = named("collapsed", j);
            collapsed[j](x, y) = j == last ? detail : detail + upsample(collapsed[j + 1])(x, y);
        }

        // Colours follow the grey value.
        const float tiny = 0.01f;
        Expr coloured = floating(x, y, c) * (collapsed[0](x, y) + tiny) / (gray(x, y) + tiny);
        output(x, y, c) = cast<uint16_t>(calotype::clamp(coloured, 0.0f, 1.0f) * 65535.0f);

        input.set_estimates({{0, 1536}, {0, 2560}, {0, 3}});
        levels.set_estimate(8);
        alpha.set_estimate(1.0f / 7);
        beta.set_estimate(1.0f);
        output.set_estimates({{0, 1536}, {0, 2560}, {0, 3}});
    }

    void schedule() {
        if (using_autoscheduler()) {
            return;
        }
        if (get_target().has_gpu_feature()) {
            schedule_for_gpu();
            return;
        }
        const int lanes = natural_vector_size<float>();
        remap.compute_root();
        output.reorder(c, x, y).split(y, yo, yi, 64).parallel(yo).vectorize(x, lanes);
        gray.compute_root().parallel(y, 32).vectorize(x, lanes);
        for (int j = 1; j < 5 && j < pyramid_levels; j++) {
            guide[j].compute_root().parallel(y, 32).vectorize(x, lanes);
            remapped[j]
                .compute_root()
                .reorder_storage(x, k, y)
                .reorder(k, y)
                .parallel(y, 8)
                .vectorize(x, lanes);
            collapsed[j].compute_root().parallel(y, 8).vectorize(x, lanes);
        }
        collapsed[0].compute_at(output, yi).vectorize(x, lanes);
        for (int j = 5; j < pyramid_levels; j++) {
            // Too small to be worth tasks or vectors.
            guide[j].compute_root();
            remapped[j].compute_root().parallel(k);
            collapsed[j].compute_root();
        }
    }

private:
    /// Every level of every pyramid is a kernel; what stands between the levels is computed where
    /// it is used, except for the finest.
    void schedule_for_gpu() {
        Var xi{"xi"}, xv{"xv"}, yr{"yr"};
        remap.compute_root().gpu_tile(v, xi, 256);
        gray.compute_root()
            .tile(x, y, xi, yi, 64, 16)
            .split(xi, xi, xv, 2)
            .split(yi, yi, yr, 2)
            .reorder(xv, yr, xi, yi, x, y)
            .vectorize(xv)
            .unroll(yr)
            .gpu_blocks(x, y)
            .gpu_threads(xi, yi);
        for (int j = 1; j < pyramid_levels; j++) {
            // Two lines share two of the four that each is made from. Coarse levels have too few
            // for that.
            const bool coarse = j > 4;
            const int width = coarse ? 8 : 32, height = coarse ? 4 : 8, rows = j < 4 ? 2 : 1;
            tile_on_gpu(guide[j], width, height, rows);
            if (j > 1) {
                tile_on_gpu(remapped[j], width, height, rows).gpu_blocks(k);
            }
            tile_on_gpu(collapsed[j], width, height, 1);
        }
        schedule_finest_for_gpu();
        collapsed[0].compute_at(output, xi);
        output.bound(c, 0, 3).reorder(c, x, y).unroll(c).gpu_tile(x, y, xi, yi, 32, 8);
    }

    /// A block makes four intensities of a tile of the first level from the finest values in
    /// memory that its threads share: 64 x 32 of each, which its 32 x 8 threads divide evenly.
    /// Without that, each of them would be made, and looked up in the table, four times.
    void schedule_finest_for_gpu() {
        Var xi{"xi"}, xo{"xo"}, yr{"yr"}, ki{"ki"};
        remapped[1]
            .compute_root()
            .tile(x, y, xi, yi, 31, 15)
            .split(yi, yi, yr, 3)
            .split(k, k, ki, 4)
            .reorder(yr, ki, xi, yi, x, y, k)
            .unroll(yr)
            .unroll(ki)
            .gpu_blocks(x, y, k)
            .gpu_threads(xi, yi);
        finest.compute_at(remapped[1], x)
            .split(x, xo, xi, 32)
            .split(y, yo, yi, 8)
            .reorder(k, xo, yo, xi, yi)
            .unroll(k)
            .unroll(xo)
            .unroll(yo)
            .gpu_threads(xi, yi);
    }

    /// Blocks of width x height threads, each of which makes `rows` values of a column.
    Func tile_on_gpu(Func f, int width, int height, int rows) {
        Var xi{"xi"}, yr{"yr"};
        f.compute_root()
            .tile(x, y, xi, yi, width, height * rows)
            .split(yi, yi, yr, rows)
            .reorder(yr, xi, yi, x, y)
            .unroll(yr)
            .gpu_blocks(x, y)
            .gpu_threads(xi, yi);
        return f;
    }

    static Func named(const std::string &name, int level) {
        return Func(name + "_" + std::to_string(level));
    }

    /// Half the size, by the filter 1 3 3 1 in both directions.
    Func downsample(Func f) {
        using calotype::_;
        Func dx, dy;
        dx(x, y, _) = (f(2 * x - 1, y, _) + 3.0f * (f(2 * x, y, _) + f(2 * x + 1, y, _)) +
                       f(2 * x + 2, y, _)) /
                      8.0f;
        dy(x, y, _) = (dx(x, 2 * y - 1, _) + 3.0f * (dx(x, 2 * y, _) + dx(x, 2 * y + 1, _)) +
                       dx(x, 2 * y + 2, _)) /
                      8.0f;
        return dy;
    }

    /// Twice the size, linear.
    Func upsample(Func f) {
        using calotype::_;
        Func ux, uy;
        ux(x, y, _) = 0.25f * f((x / 2) - 1 + 2 * (x % 2), y, _) + 0.75f * f(x / 2, y, _);
        uy(x, y, _) = 0.25f * ux(x, (y / 2) - 1 + 2 * (y % 2), _) + 0.75f * ux(x, y / 2, _);
        return uy;
    }

    Var x{"x"}, y{"y"}, c{"c"}, k{"k"}, v{"v"}, yo{"yo"}, yi{"yi"};
    Func remap{"remap"}, clamped, floating{"floating"}, gray{"gray"}, finest{"finest"};
    std::vector<Func> remapped, guide, collapsed;
};

CALOTYPE_REGISTER_GENERATOR(LocalLaplacian, local_laplacian)
