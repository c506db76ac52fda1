// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of matrices by gpu_matrix_multiply: output = a b + output's index, for every kind of
// operand, operands by rows or by columns, in shared memory or not, with several shapes of tiles.
#include <calotype/calotype.h>

using namespace calotype;

namespace {

class MatrixProduct : public Generator<MatrixProduct> {
public:
    GeneratorParam<Type> type_a{"type_a", Float(16)}, type_b{"type_b", Float(16)};
    GeneratorParam<bool> a_by_columns{"a_by_columns", false}, b_by_columns{"b_by_columns", false};
    /// Where operands lie as they are multiplied: shared, async or global.
    GeneratorParam<std::string> memory{"memory", "async"};
    /// Of a block, of a warp, and of a step.
    GeneratorParam<int> width{"width", 32}, height{"height", 32}, depth{"depth", 32};
    GeneratorParam<int> warp_width{"warp_width", 16}, warp_height{"warp_height", 16};
    /// Rows in shared memory begin 16 bytes later each time; warpgroups want them without that.
    GeneratorParam<bool> padded{"padded", true};
    /// Inputs begin, and have rows that begin, at multiples of 16 bytes.
    GeneratorParam<bool> aligned{"aligned", false};
    /// Floats are cut off to TF32, not rounded.
    GeneratorParam<bool> truncated{"truncated", false};
    /// One below the other, by the same block.
    GeneratorParam<int> tiles{"tiles", 1};
    Input<Buffer<void, 2>> a{"a"};  ///< depth x height, or height x depth
    Input<Buffer<void, 2>> b{"b"};  ///< width x depth, or depth x width
    Output<Buffer<void, 2>> output{"output"};

    void configure() {
        a.set_type(type_a);
        b.set_type(type_b);
        output.set_type(sum_type());
    }

    void generate() {
        const int step = depth;
        const Expr steps = a.dim(a_by_columns ? 1 : 0).extent() / step;
        const RDom k(0, step, 0, steps, "k");
        const Expr d = k.y * step + k.x;
        rows(x, y) = a(x, y);
        columns(x, y) = b(x, y);
        const Expr p = a_by_columns ? rows(y, d) : rows(d, y);
        const Expr q = b_by_columns ? columns(d, x) : columns(x, d);
        sum(x, y) = cast(sum_type(), x - y);
        sum(x, y) += operand(p) * operand(q);
        output(x, y) = sum(x, y);
        if (aligned) {
            by_16_bytes(a);
            by_16_bytes(b);
        }
        inner = k.x;
        outer = k.y;
    }

    void schedule() {
        const int warps = width / warp_width * (height / warp_height);
        Var bx("bx"), by("by"), xi("xi"), yi("yi"), wx("wx"), wy("wy"), warp("warp"), tile("tile");
        output.tile(x, y, bx, by, xi, yi, width, height, TailStrategy::RoundUp)
            .split(by, by, tile, tiles, TailStrategy::RoundUp)
            .reorder(xi, yi, tile, bx, by)
            .tile(xi, yi, wx, wy, xi, yi, warp_width, warp_height)
            .fuse(wx, wy, warp)
            .gpu_blocks(bx, by)
            .gpu_matrix_tile(xi, yi, warp);
        sum.compute_at(output, tile)
            .store_in(MemoryType::Register)
            .tile(x, y, wx, wy, xi, yi, warp_width, warp_height, TailStrategy::RoundUp)
            .fuse(wx, wy, warp)
            .gpu_matrix_tile(xi, yi, warp);
        sum.update()
            .tile(x, y, wx, wy, xi, yi, warp_width, warp_height)
            .fuse(wx, wy, warp)
            .reorder(inner, xi, yi, warp, outer)
            .gpu_matrix_multiply(xi, yi, inner, warp);
        if (memory.value() != "global") {
            stage(rows, a_by_columns ? height : depth, warps);
            stage(columns, b_by_columns ? depth : width, warps);
        }
    }

private:
    Type sum_type() const {
        return type_a.value().is_float() ? Float(32) : Int(32);
    }
    template<typename B>
    static void by_16_bytes(B &buffer) {
        const int elements = 16 / buffer.type().bytes();
        buffer.set_host_alignment(16);
        buffer.dim(1).set_stride(buffer.dim(1).stride() / elements * elements);
    }
    Expr operand(const Expr &e) const {
        if (e.type() == Float(32)) {
            return truncated ? truncate_to_tf32(e) : tf32(e);
        }
        return cast(sum_type(), e);
    }

    /// Rows of `row` elements, copied in vectors.
    void stage(Func f, int row, int warps) {
        const int per_thread = 4 / f.types()[0].bytes() * 2,
                  padding = padded ? 16 / f.types()[0].bytes() : 0;
        Var c("c"), v("v"), all("all"), warp("warp"), g("g"), t("t");
        const bool is_async = memory.value() == "async";
        f.compute_at(sum, outer)
            .store_in(is_async ? MemoryType::GPUSharedAsync : MemoryType::GPUShared)
            .bound_extent(f.args()[0], row)
            .align_storage(f.args()[0], row + padding)
            .split(f.args()[0], c, v, per_thread)
            .fuse(c, f.args()[1], all)
            .split(all, all, warp, 32 * warps, TailStrategy::GuardWithIf)
            .split(warp, warp, g, 32)
            .split(g, g, t, 4)
            .reorder(v, all, t, g, warp)
            .vectorize(v)
            .gpu_threads(t, g, warp);
        if (is_async) {
            f.ring_buffer(3);
        }
    }

    Var x{"x"}, y{"y"};
    RVar inner, outer;
    Func rows{"rows"}, columns{"columns"}, sum{"sum"};
};

}  // namespace

CALOTYPE_REGISTER_GENERATOR(MatrixProduct, matrix_product)
