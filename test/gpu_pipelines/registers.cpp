// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values that threads keep in registers from one stage to the next, with barriers between.
#include "gpu.h"

#include <algorithm>
#include <vector>

namespace calotype::test {
namespace {

Var x("x"), y("y"), xi("xi"), yi("yi"), xt("xt"), yt("yt"), xr("xr"), yr("yr");

TEST(GpuRegisters, a_stage_of_its_own_for_each_thread) {
    REQUIRE_GPU();
    Func f("f"), g("g");
    f(x, y) = x * 3 + y;
    f(x, y) += 5;
    g(x, y) = f(x, y) * 2;
    g.gpu_tile(x, y, xi, yi, 16, 8);
    f.compute_at(g, x).store_in(MemoryType::Register).gpu_threads(x, y);
    f.update().gpu_threads(x, y);
    expect_values<int>(g, 40, 21, [](int i, int j) { return (i * 3 + j + 5) * 2; });
}

/// Threads are counted through, and what one of them touches is still of constant size.
TEST(GpuRegisters, between_a_shared_stage_and_fused_threads) {
    REQUIRE_GPU();
    Func f("f"), g("g"), h("h");
    f(x, y) = x * 3 + y * y;
    g(x, y) = f(x - 1, y) + f(x + 1, y + 1);
    h(x, y) = g(x, y - 1) * g(x + 1, y + 1);
    Var t("t");
    h.tile(x, y, xi, yi, 32, 32)
        .split(yi, yi, yr, 4)
        .reorder(yr, xi, yi, x, y)
        .unroll(yr)
        .fuse(xi, yi, t)
        .gpu_blocks(x, y)
        .gpu_threads(t);
    g.compute_at(h, t).unroll(x).unroll(y);
    f.compute_at(h, x).split(y, y, yr, 6).reorder(yr, x, y).fuse(x, y, t).gpu_threads(t);
    const auto g_of = [](int i, int j) {
        return (i - 1) * 3 + j * j + (i + 1) * 3 + (j + 1) * (j + 1);
    };
    expect_values<int>(h, 70, 45,
                       [&](int i, int j) { return g_of(i, j - 1) * g_of(i + 1, j + 1); });
}

/// A thread keeps what it stored in its last iterations: no load waits for a store.
TEST(GpuRegisters, recurrences_keep_their_last_values) {
    const auto make = [](int rows) {
        Func f("f");
        RDom r(2, rows - 2, "r");
        f(x, y) = x * 3 + y;
        f(x, r) = f(x, r) + f(x, r - 1) - f(x, r - 2) * 2;
        f.gpu_tile(x, y, xi, yi, 16, 8);
        f.update().gpu_tile(x, xi, 16);
        return f;
    };
    const std::string ptx = ptx_of(make(21));
    // Two in front of the loop, and in each of 19 iterations what is stored again.
    EXPECT_LE(count(ptx.substr(ptx.rfind(".entry")), "ld.global"), 21) << ptx;
    REQUIRE_GPU();
    expect_values<int>(make(21), 40, 21, [](int i, int j) {
        std::vector<int> column;
        for (int row = 0; row <= j; row++) {
            const int value = i * 3 + row;
            column.push_back(row < 2 ? value : value + column[row - 1] - column[row - 2] * 2);
        }
        return column[j];
    });
}

/// The threads at the edges have fewer elements, which lie as those of all others do.
TEST(GpuRegisters, of_tiles_that_the_edges_cut) {
    const auto make = [] {
        Func f("f"), g("g");
        RDom r(0, 8, "r");
        f(x, y) = x + y;
        f(x, y) = max(f(x, y), x * r - y * (r % 3));
        g(x, y) = f(x, y) * 2;
        const TailStrategy tail = TailStrategy::GuardWithIf;
        g.tile(x, y, xi, yi, 16, 16, tail)
            .tile(xi, yi, xt, yt, xr, yr, 2, 4, tail)
            .gpu_blocks(x, y)
            .gpu_threads(xt, yt)
            .unroll(xr)
            .unroll(yr);
        f.compute_at(g, xt).unroll(x).unroll(y);
        f.update().reorder(x, y, r).unroll(x).unroll(y);
        return g;
    };
    const std::string ptx = ptx_of(make());
    EXPECT_EQ(count(ptx, ".local"), 0) << ptx;
    REQUIRE_GPU();
    expect_values<int>(make(), 37, 21, [](int i, int j) {
        int most = i + j;
        for (int r = 0; r < 8; r++) {
            most = std::max(most, i * r - j * (r % 3));
        }
        return most * 2;
    });
}

/// The product of matrices, with the inputs of a block's step in shared memory.
void check_product(int m, int n, int size_k, TailStrategy tail) {
    constexpr int block = 32, thread = 4, step = 8;
    ImageParam a(Float(32), 2, "a"), b(Float(32), 2, "b");
    Func c("c"), sum("sum");
    RDom k(0, size_k, "k");
    sum(x, y) += a(k, y) * b(x, k);
    c(x, y) = sum(x, y);

    c.tile(x, y, xi, yi, block, block, tail)
        .tile(xi, yi, xt, yt, xr, yr, thread, thread)
        .gpu_blocks(x, y)
        .gpu_threads(xt, yt)
        .unroll(yr)
        .unroll(xr);
    sum.compute_at(c, x).store_in(MemoryType::Register);
    sum.tile(x, y, xt, yt, xr, yr, thread, thread).gpu_threads(xt, yt).unroll(yr).unroll(xr);
    RVar r_out("r_out"), r_in("r_in");
    sum.update()
        .split(k, r_out, r_in, step)
        .tile(x, y, xt, yt, xr, yr, thread, thread)
        .reorder(xr, yr, r_in, xt, yt, r_out)
        .gpu_threads(xt, yt)
        .unroll(yr)
        .unroll(xr);
    Func as = a.in(), bs = b.in();
    as.compute_at(sum, r_out).store_in(MemoryType::GPUShared);
    as.split(_1, yt, yi, thread).gpu_threads(_0, yt);
    bs.compute_at(sum, r_out).store_in(MemoryType::GPUShared);
    bs.split(_0, xt, xi, thread).gpu_threads(xt, _1);

    Buffer<float> in_a(size_k, m), in_b(n, size_k);
    in_a.for_each_element([&](int i, int j) { in_a(i, j) = float((i * 7 + j * 3) % 11 - 5); });
    in_b.for_each_element([&](int i, int j) { in_b(i, j) = float((i * 5 + j) % 13 - 6); });
    a.set(in_a);
    b.set(in_b);
    expect_values<float>(c, n, m, [&](int i, int j) {
        float want = 0;
        for (int l = 0; l < size_k; l++) {
            want += in_a(l, j) * in_b(i, l);
        }
        return want;
    });
}

TEST(GpuRegisters, product_of_matrices) {
    REQUIRE_GPU();
    check_product(64, 96, 40, TailStrategy::RoundUp);
}

TEST(GpuRegisters, product_of_matrices_of_any_size) {
    REQUIRE_GPU();
    check_product(70, 45, 40, TailStrategy::ShiftInwards);
}

}  // namespace
}  // namespace calotype::test
