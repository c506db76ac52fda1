// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The product of two matrices by the matrix instructions of a GPU ("tensor cores"):
// output = a b, with a bias a column and negative results cut off if asked for. A row is dimension 0.
//
// On compute capability 9.0a a block computes 128 x 256 results, of which four warps multiply 64 rows
// together; else 128 x 128, a warp 64 x 64 of them. Tiles of
// both inputs are copied into shared memory ahead of their use. Blocks that run at the same time
// share rows and columns, so that these stay in the L2 cache. Width and height must be multiples of
// the block, the depth of the step; rows of all matrices begin at multiples of 16 bytes.
#include <calotype/calotype.h>

namespace {

using namespace calotype;

class Matmul : public Generator<Matmul> {
public:
    /// float16, bfloat16, int8, uint8, or float32, which is rounded to TF32, or cut off to it for
    /// warpgroups.
    GeneratorParam<Type> type{"type", Float(16)};
    /// Of the output: float32 or `type`, for integers int32.
    GeneratorParam<Type> output_type{"output_type", Float(32)};
    /// Neighbours in memory are next in depth, in b, too.
    GeneratorParam<bool> b_by_columns{"b_by_columns", false};
    /// output = max(a b + bias, 0)
    GeneratorParam<bool> bias_and_relu{"bias_and_relu", false};
    /// Tiles of inputs in shared memory.
    GeneratorParam<int> stages{"stages", 4, 2, 8};
    Input<Buffer<void, 2>> a{"a"};             ///< depth x height
    Input<Buffer<void, 2>> b{"b"};             ///< width x depth, or depth x width
    Input<Buffer<void, 1>> *bias = nullptr;    ///< width
    Output<Buffer<void, 2>> output{"output"};  ///< width x height

    void configure() {
        a.set_type(type);
        b.set_type(type);
        output.set_type(output_type);
        if (bias_and_relu) {
            bias = add_input<Buffer<void, 1>>("bias");
            bias->set_type(sum_type());
        }
    }

    void generate() {
        const int step = step_of_depth();
        k = RDom(0, step, 0, a.dim(0).extent() / step, "k");
        const Expr depth = k.y * step + k.x;
        rows(x, y) = a(x, y);
        columns(x, y) = b(x, y);
        sum(x, y) = make_zero_of_sum();
        sum(x, y) +=
            operand(rows(depth, y)) * operand(b_by_columns ? columns(depth, x) : columns(x, depth));
        Expr result = sum(x, y);
        if (bias_and_relu) {
            result = max(result + (*bias)(x), make_zero_of_sum());
            bias->dim(0).set_min(0);
            bias->set_host_alignment(16);
        }
        output(x, y) = cast(output_type, result);
        for (int d = 0; d < 2; d++) {
            a.dim(d).set_min(0);
            b.dim(d).set_min(0);
            output.dim(d).set_min(0);
        }
        b.dim(b_by_columns ? 0 : 1).set_extent(a.dim(0).extent());
        by_16_bytes(a);
        by_16_bytes(b);
        by_16_bytes(output);
    }

    void schedule() {
        const int width = in_warpgroups() ? 256 : 128, height = 128;
        const int warp_width = in_warpgroups() ? width : 64,
                  warp_height = in_warpgroups() ? 16 : 64;
        Var bx("bx"), by("by"), group("group"), xi("xi"), yi("yi"), wx("wx"), wy("wy"),
            warp("warp");
        const auto in_warps = [&](Stage s, const Var &u, const Var &v, TailStrategy tail) {
            return s.tile(u, v, wx, wy, xi, yi, warp_width, warp_height, tail).fuse(wx, wy, warp);
        };
        constexpr int rows_at_once = 8;
        output.tile(x, y, bx, by, xi, yi, width, height, TailStrategy::RoundUp)
            .split(by, group, by, rows_at_once, TailStrategy::GuardWithIf)
            .reorder(xi, yi, by, bx, group)
            .gpu_blocks(by, bx, group)
            .never_partition_all();  // one version of the code
        in_warps(output, xi, yi, TailStrategy::Auto).gpu_matrix_tile(xi, yi, warp);
        sum.compute_at(output, by).store_in(MemoryType::Register);
        in_warps(sum, x, y, TailStrategy::RoundUp).gpu_matrix_tile(xi, yi, warp);
        in_warps(sum.update(), x, y, TailStrategy::Auto)
            .reorder(k.x, xi, yi, warp, k.y)
            .gpu_matrix_multiply(xi, yi, k.x, warp);
        stage(rows, step_of_depth());
        stage(columns, b_by_columns ? step_of_depth() : width);
    }

private:
    Type sum_type() const {
        return type.value().is_float() ? Float(32) : Int(32);
    }
    Expr make_zero_of_sum() const {
        return cast(sum_type(), 0);
    }
    Expr operand(const Expr &e) {
        if (e.type() == Float(32)) {
            return in_warpgroups() ? truncate_to_tf32(e) : tf32(e);
        }
        return cast(sum_type(), e);
    }
    int bytes() const {
        return type.value().bytes();
    }
    /// Of one step a row has 128 bytes, as warpgroups read them, or 64.
    int step_of_depth() {
        return (in_warpgroups() ? 128 : 64) / bytes();
    }
    bool in_warpgroups() {
        return get_target().has_feature(Target::CUDACapability90a) &&
               (bytes() == 2 || b_by_columns);
    }

    template<typename B>
    static void by_16_bytes(B &buffer) {
        const int elements = 16 / buffer.type().bytes();
        buffer.set_host_alignment(16);
        buffer.dim(1).set_stride(buffer.dim(1).stride() / elements * elements);
    }

    /// Copied by all threads, 16 bytes at a time. Rows that are not for warpgroups are padded, so that
    /// rows below each other are in different banks.
    void stage(Func f, int row) {
        const int threads = in_warpgroups() ? 256 : 128;
        const int elements = 16 / bytes();
        const bool by_words = bytes() == 4 && row > step_of_depth();  // threads read one each
        const int padding = in_warpgroups() ? 0 : by_words ? 2 * elements : elements;
        Var c("c"), v("v"), i("i"), warp("warp"), g("g"), t("t");
        f.compute_at(sum, k.y)
            .store_in(MemoryType::GPUSharedAsync)
            .ring_buffer(int(stages))
            .align_storage(f.args()[0], row + padding)
            .split(f.args()[0], c, v, elements)
            .fuse(c, f.args()[1], i)
            .split(i, i, warp, threads)
            .split(warp, warp, g, 32)
            .split(g, g, t, 4)
            .reorder(v, i, t, g, warp)
            .vectorize(v)
            .gpu_threads(t, g, warp);
    }

    Var x{"x"}, y{"y"};
    RDom k;
    Func rows{"rows"}, columns{"columns"}, sum{"sum"};
};

}  // namespace

CALOTYPE_REGISTER_GENERATOR(Matmul, matmul)
