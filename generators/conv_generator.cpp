// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A layer of a convolutional network by the matrix instructions of a GPU: 3 x 3 filters over all input
// channels, a bias and a rectifier. No matrix is made of the input: for each of the nine places of the
// filters and each 64 channels a block multiplies 128 pixels of a row, taken from the input as they
// are, by the filters of 256 output channels.
//
// On compute capability 9.0a; elsewhere the products are those of warps. The width of the output must
// be a multiple of 128, the channels of the output of 256, and those of the input of 64.
#include <calotype/calotype.h>

namespace {

using namespace calotype;

class Conv : public Generator<Conv> {
public:
    /// float16 or bfloat16, of input and filters.
    GeneratorParam<Type> type{"type", Float(16)};
    GeneratorParam<int> stages{"stages", 4, 3, 8};
    Input<Buffer<void, 4>> input{"input"};     ///< channel, x, y, image: 2 more of x and y
    Input<Buffer<void, 4>> filter{"filter"};   ///< input channel, 3 of x, 3 of y, output channel
    Input<Buffer<float, 1>> bias{"bias"};      ///< output channel
    Output<Buffer<void, 4>> output{"output"};  ///< channel, x, y, image

    void configure() {
        input.set_type(type);
        filter.set_type(type);
        output.set_type(type);
    }

    void generate() {
        k = RDom(0, step, 0, 3, 0, 3, 0, input.dim(0).extent() / step, "k");
        const Expr channel = k.w * step + k.x;
        pixels(c, x, y, n) = input(c, x, y, n);
        weights(c, x, y, n) = filter(c, x, y, n);
        sum(c, x, y, n) = 0.0f;
        sum(c, x, y, n) += cast<float>(pixels(channel, x + k.y, y + k.z, n)) *
                           cast<float>(weights(channel, k.y, k.z, c));
        output(c, x, y, n) = cast(type, max(sum(c, x, y, n) + bias(c), 0.0f));

        const Expr channels = input.dim(0).extent();
        filter.dim(0).set_bounds(0, channels);
        filter.dim(1).set_bounds(0, 3);
        filter.dim(2).set_bounds(0, 3);
        filter.dim(3).set_min(0);
        bias.dim(0).set_bounds(0, filter.dim(3).extent());
        output.dim(0).set_bounds(0, filter.dim(3).extent());
        input.dim(0).set_min(0);
        by_16_bytes(input);
        by_16_bytes(filter);
        by_16_bytes(output);
        input.set_estimates({{0, 256}, {0, 130}, {0, 130}, {0, 4}});
        filter.set_estimates({{0, 256}, {0, 3}, {0, 3}, {0, 256}});
        bias.set_estimates({{0, 256}});
        output.set_estimates({{0, 256}, {0, 128}, {0, 128}, {0, 4}});
    }

    void schedule() {
        Var bc("bc"), bx("bx"), ci("ci"), xi("xi"), warp("warp");
        output.fuse(y, n, y)
            .tile(c, x, bc, bx, ci, xi, width, height, TailStrategy::RoundUp)
            .gpu_blocks(bc, bx, y)
            .never_partition_all();
        output.split(xi, warp, xi, rows).gpu_matrix_tile(ci, xi, warp);
        sum.compute_at(output, bc)
            .store_in(MemoryType::Register)
            .split(x, warp, xi, rows, TailStrategy::RoundUp)
            .gpu_matrix_tile(c, xi, warp);
        // Nine places, one after the other, for each 64 channels.
        sum.update()
            .split(x, warp, xi, rows)
            .fuse(k.y, k.z, place)
            .fuse(place, k.w, place)
            .reorder(k.x, c, xi, warp, place)
            .gpu_matrix_multiply(c, xi, k.x, warp);
        stage(pixels, x);
        stage(weights, n);
    }

private:
    static constexpr int step = 64, width = 256, height = 128, rows = 16;

    template<typename B>
    static void by_16_bytes(B &buffer) {
        const int elements = 16 / buffer.type().bytes();
        buffer.set_host_alignment(16);
        for (int d = 1; d < 4; d++) {
            buffer.dim(d).set_stride(buffer.dim(d).stride() / elements * elements);
        }
    }

    /// 64 channels of what follows one another in that dimension.
    void stage(Func f, const Var &across) {
        constexpr int elements = 8, threads = 32 * height / rows;
        Var v("v"), all("all"), w("w"), g("g"), t("t");
        f.compute_at(sum, place)
            .store_in(MemoryType::GPUSharedAsync)
            .ring_buffer(int(stages))
            .bound_extent(c, step)
            .reorder_storage(c, across)
            .split(c, c, v, elements)
            .reorder(v, c, across)
            .fuse(c, across, all)
            .split(all, all, w, threads)
            .split(w, w, g, 32)
            .split(g, g, t, 4)
            .reorder(v, all, t, g, w)
            .vectorize(v)
            .gpu_threads(t, g, w);
    }

    Var c{"c"}, x{"x"}, y{"y"}, n{"n"};
    RDom k;
    RVar place{"place"};
    Func pixels{"pixels"}, weights{"weights"}, sum{"sum"};
};

}  // namespace

CALOTYPE_REGISTER_GENERATOR(Conv, conv)
