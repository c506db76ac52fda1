// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of matrices by the warpgroups of compute capability 9.0a.
#include "gpu_pipelines/gpu.h"

namespace calotype::test {
namespace {

const Var x("x"), y("y"), xi("xi"), yi("yi"), bx("bx"), by("by"), warp("warp");

/// A block of 128 x 128 results, of inputs that threads copy 8 neighbours at a time.
class WarpgroupProduct {
public:
    ImageParam a{Float(16), 2, "a"}, b{Float(16), 2, "b"};
    Func out{"out"};

    void define() {
        k = RDom(0, 64, 0, a.dim(0).extent() / 64, "k");
        const Expr depth = k.y * 64 + k.x;
        rows(x, y) = a(x, y);
        columns(x, y) = b(x, y);
        sum(x, y) = 0.0f;
        sum(x, y) += cast<float>(rows(depth, y)) * cast<float>(columns(x, depth));
        out(x, y) = sum(x, y);
        out.tile(x, y, bx, by, xi, yi, 128, 128, TailStrategy::RoundUp).gpu_blocks(bx, by);
        in_warps(out, xi, yi).gpu_matrix_tile(x, y, warp);
        sum.compute_at(out, bx).store_in(MemoryType::Register);
        in_warps(sum, x, y).gpu_matrix_tile(xi, yi, warp);
        in_warps(sum.update(), x, y)
            .reorder(k.x, xi, yi, warp, k.y)
            .gpu_matrix_multiply(xi, yi, k.x, warp);
        copy_by_threads(rows);
        copy_by_threads(columns);
    }

private:
    Stage in_warps(Stage s, const Var &u, const Var &v) {
        const Var wx("wx"), wy("wy"), inner_u = u.same_as(x) ? xi : x,
                                      inner_v = v.same_as(y) ? yi : y;
        return s.tile(u, v, wx, wy, inner_u, inner_v, 128, 16, TailStrategy::RoundUp)
            .fuse(wx, wy, warp);
    }
    void copy_by_threads(Func f) {
        const Var c("c"), v("v"), i("i"), g("g"), t("t");
        f.compute_at(sum, k.y)
            .store_in(MemoryType::GPUSharedAsync)
            .ring_buffer(4)
            .split(f.args()[0], c, v, 8)
            .fuse(c, f.args()[1], i)
            .split(i, i, warp, 256)
            .split(warp, warp, g, 32)
            .split(g, g, t, 4)
            .reorder(v, i, t, g, warp)
            .vectorize(v)
            .gpu_threads(t, g, warp);
    }

    RDom k;
    Func rows{"rows"}, columns{"columns"}, sum{"sum"};
};

const char *const bulk_copy = "cp.async.bulk.tensor";

std::string ptx_for_90a(WarpgroupProduct &p) {
    p.define();
    return ptx_of(p.out, Target("x86-64-linux-cuda-cuda_capability_90a-no_runtime"));
}

/// Constraints are checked on what is given for a stride, and that is what indices are made of.
TEST(GpuProducts, inputs_in_rows_of_16_bytes_are_copied_by_the_tensor_memory_unit) {
    WarpgroupProduct p;
    for (ImageParam *image : {&p.a, &p.b}) {
        image->set_host_alignment(16);
        image->dim(0).set_min(0);
        image->dim(1).set_min(0).set_stride(image->dim(1).stride() / 8 * 8);
    }
    const std::string ptx = ptx_for_90a(p);
    EXPECT_GT(count(ptx, "wgmma.mma_async"), 0) << ptx;
    EXPECT_GE(count(ptx, bulk_copy), 2) << ptx;
    EXPECT_EQ(count(ptx, "cp.async.cg"), 0) << ptx;
}

TEST(GpuProducts, other_inputs_are_copied_by_threads) {
    WarpgroupProduct p;
    const std::string ptx = ptx_for_90a(p);
    EXPECT_GT(count(ptx, "wgmma.mma_async"), 0) << ptx;
    EXPECT_EQ(count(ptx, bulk_copy), 0) << ptx;
}

}  // namespace
}  // namespace calotype::test
