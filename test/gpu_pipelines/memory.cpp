// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the storage of kernels is changes no value.
#include <algorithm>

#include "gpu.h"

namespace calotype::test {
namespace {

Var x("x"), y("y"), xi("xi"), yi("yi"), xo("xo"), yo("yo");

int plain(int i, int j) {
    return i * 3 + j * 7 + ((i * j) & 15);
}

Func source(const std::string &name) {
    Func f(name);
    f(x, y) = x * 3 + y * 7 + ((x * y) & 15);
    return f;
}

/// g(x, y) = f(x, y) + f(x + 1, y) + f(x, y + 2) in tiles, with f scheduled by `schedule`.
template<typename Schedule>
void check_stencil(Schedule schedule, int width = 101, int height = 37) {
    REQUIRE_GPU();
    Func f = source("f"), g("g");
    g(x, y) = f(x, y) + f(x + 1, y) + f(x, y + 2);
    g.gpu_tile(x, y, xi, yi, 16, 8);
    schedule(f, g);
    expect_values<int>(g, width, height, [](int i, int j) {
        return plain(i, j) + plain(i + 1, j) + plain(i, j + 2);
    });
}

TEST(GpuMemory, shared_by_the_threads_of_a_block) {
    check_stencil([](Func f, Func g) { f.compute_at(g, x).gpu_threads(x, y); });
    check_stencil([](Func f, Func g) { f.compute_at(g, x).gpu_threads(x); });
    check_stencil([](Func f, Func g) { f.compute_at(g, x).gpu_threads(y); });
    check_stencil([](Func f, Func g) {
        f.compute_at(g, x).store_in(MemoryType::GPUShared).gpu_threads(x, y);
    });
}

TEST(GpuMemory, made_by_one_thread_for_all) {
    check_stencil([](Func f, Func g) { f.compute_at(g, x); });
}

TEST(GpuMemory, of_a_row_of_threads) {
    check_stencil([](Func f, Func g) { f.compute_at(g, yi).gpu_threads(x); });
    check_stencil([](Func f, Func g) { f.compute_at(g, yi); });
}

TEST(GpuMemory, of_a_thread) {
    check_stencil([](Func f, Func g) { f.compute_at(g, xi); });
    check_stencil([](Func f, Func g) { f.compute_at(g, xi).store_in(MemoryType::Register); });
    check_stencil([](Func f, Func g) { f.compute_at(g, xi).store_in(MemoryType::GPUShared); });
}

// Each thread has a piece of its own in shared memory, and some need more than others.
TEST(GpuMemory, of_threads_that_need_different_sizes) {
    REQUIRE_GPU();
    Func f = source("f"), g("g");
    g(x, y) = f(x, y) + f(clamp(x, 3, 9), y);
    g.gpu_tile(x, y, xi, yi, 16, 2);
    f.compute_at(g, xi).store_in(MemoryType::GPUShared);
    expect_values<int>(g, 32, 6,
                       [](int i, int j) { return plain(i, j) + plain(std::clamp(i, 3, 9), j); });
}

// Storage of the device that the threads of a block share, or those of one of its rows.
TEST(GpuMemory, of_the_device_for_a_block) {
    check_stencil(
        [](Func f, Func g) { f.compute_at(g, x).store_in(MemoryType::Heap).gpu_threads(x, y); });
    check_stencil(
        [](Func f, Func g) { f.compute_at(g, x).store_in(MemoryType::Heap).gpu_threads(x, y); }, 64,
        32);
    check_stencil(
        [](Func f, Func g) { f.compute_at(g, yi).store_in(MemoryType::Heap).gpu_threads(x); });
    check_stencil(
        [](Func f, Func g) { f.compute_at(g, yi).store_in(MemoryType::Heap).gpu_threads(x); }, 64,
        32);
}

// The rows of a block slide, and their storage goes round.
TEST(GpuMemory, folded) {
    REQUIRE_GPU();
    const auto check = [](TailStrategy tail, int factor, int width, int height) {
        Func f = source("f"), g("g");
        g(x, y) = f(x, y) + f(x + 1, y) + f(x, y + 2);
        g.split(y, yo, yi, 8, tail).split(x, xo, xi, 16, tail).reorder(xi, yi, xo, yo);
        g.gpu_blocks(xo, yo).gpu_threads(xi);
        f.store_at(g, xo).compute_at(g, yi).fold_storage(y, factor).gpu_threads(x);
        expect_values<int>(g, width, height, [](int i, int j) {
            return plain(i, j) + plain(i + 1, j) + plain(i, j + 2);
        });
    };
    for (const TailStrategy tail : {TailStrategy::GuardWithIf, TailStrategy::ShiftInwards}) {
        for (const int factor : {3, 4}) {
            check(tail, factor, 16, 8);
            check(tail, factor, 37, 29);
        }
    }
}

TEST(GpuMemory, of_the_device) {
    check_stencil([](Func f, Func) { f.compute_root().gpu_tile(x, y, xi, yi, 8, 8); });
    check_stencil([](Func f, Func) { f.compute_root(); });
    check_stencil(
        [](Func f, Func g) { f.compute_at(g, x).store_in(MemoryType::Heap).gpu_threads(x, y); });
}

TEST(GpuMemory, chains_share_places) {
    REQUIRE_GPU();
    Func a = source("a"), b("b"), c("c"), d("d");
    b(x, y) = a(x, y) + a(x + 1, y);
    c(x, y) = b(x, y) - b(x, y + 1);
    d(x, y) = c(x, y) + c(x + 1, y + 1);
    d.gpu_tile(x, y, xi, yi, 8, 8);
    for (Func f : {a, b, c}) {
        f.compute_at(d, x).gpu_threads(x, y);
    }
    const auto pb = [](int i, int j) {
        return plain(i, j) + plain(i + 1, j);
    };
    const auto pc = [&](int i, int j) {
        return pb(i, j) - pb(i, j + 1);
    };
    expect_values<int>(d, 77, 40, [&](int i, int j) { return pc(i, j) + pc(i + 1, j + 1); });
}

TEST(GpuMemory, of_a_size_that_only_the_launch_knows) {
    REQUIRE_GPU();
    Func f = source("f"), g("g");
    Param<int> n("n");
    RDom r(0, n);
    g(x, y) = 0;
    g(x, y) += f(x + r, y);
    Func h("h");
    h(x, y) = g(x, y);
    h.gpu_tile(x, y, xi, yi, 16, 4);
    f.compute_at(h, x).gpu_threads(x, y);
    g.compute_at(h, xi);
    n.set(9);
    expect_values<int>(h, 48, 8, [](int i, int j) {
        int sum = 0;
        for (int k = 0; k < 9; k++) {
            sum += plain(i + k, j);
        }
        return sum;
    });
}

TEST(GpuMemory, a_loop_over_slices_of_shared_memory) {
    REQUIRE_GPU();
    Func a = source("a"), b = source("b"), product("product"), out("out");
    RDom k(0, 32);
    RVar ko("ko"), ki("ki");
    product(x, y) = 0;
    product(x, y) += a(k, y) * b(x, k);
    out(x, y) = product(x, y);
    out.gpu_tile(x, y, xi, yi, 8, 8);
    product.compute_at(out, x).gpu_threads(x, y);
    product.update().split(k, ko, ki, 8).reorder(ki, x, y, ko).gpu_threads(x, y);
    a.compute_at(product, ko).gpu_threads(x, y);
    b.compute_at(product, ko).gpu_threads(x, y);
    expect_values<int>(out, 24, 40, [](int i, int j) {
        int sum = 0;
        for (int n = 0; n < 32; n++) {
            sum += plain(n, j) * plain(i, n);
        }
        return sum;
    });
}

TEST(GpuMemory, slices_of_slices_are_fetched_ahead) {
    REQUIRE_GPU();
    Func from_a = source("from_a"), from_b = source("from_b");
    Func a("a"), b("b"), product("product"), out("out");
    RDom k(0, 32);
    RVar ko("ko"), km("km"), ki("ki");
    a(x, y) = from_a(x, y);
    b(x, y) = from_b(x, y);
    product(x, y) = 0;
    product(x, y) += a(k, y) * b(x, k);
    out(x, y) = product(x, y);
    out.gpu_tile(x, y, xi, yi, 8, 8);
    product.compute_at(out, x).gpu_threads(x, y);
    product.update()
        .split(k, ko, ki, 16)
        .split(ki, km, ki, 4)
        .reorder(ki, x, y, km, ko)
        .gpu_threads(x, y);
    a.compute_at(product, ko).store_in(MemoryType::GPUSharedAsync).gpu_threads(x, y);
    b.compute_at(product, km).store_in(MemoryType::GPUSharedAsync).gpu_threads(x, y);
    from_a.compute_root().gpu_tile(x, y, xi, yi, 8, 8);
    from_b.compute_root().gpu_tile(x, y, xi, yi, 8, 8);
    expect_values<int>(out, 24, 40, [](int i, int j) {
        int sum = 0;
        for (int n = 0; n < 32; n++) {
            sum += plain(n, j) * plain(i, n);
        }
        return sum;
    });
}

TEST(GpuMemory, hoisted_storage_is_filled_ahead_as_any) {
    std::string copies_and_waits[2];
    for (const bool is_hoisted : {false, true}) {
        Func from("from"), tile("tile"), sum("sum"), out("out");
        RDom k(0, 1024);  // more steps than are unrolled
        RVar ko("ko"), ki("ki");
        from(x, y) = x * 3 + y * 7;
        tile(x, y) = from(x, y);
        sum(x, y) = 0;
        sum(x, y) += tile(k, y);
        out(x, y) = sum(x, y);
        out.gpu_tile(x, y, xi, yi, 8, 8);
        sum.compute_at(out, x).gpu_threads(x, y);
        sum.update().split(k, ko, ki, 8).reorder(ki, x, y, ko).gpu_threads(x, y);
        tile.compute_at(sum, ko).store_in(MemoryType::GPUSharedAsync).gpu_threads(x, y);
        tile.ring_buffer(3);
        if (is_hoisted) {
            tile.hoist_storage(out, x);
        }
        from.compute_root().gpu_tile(x, y, xi, yi, 8, 8);
        const std::string ptx = ptx_of(out);
        const auto copies = count(ptx, "cp.async.ca.shared.global"),
                   waits = count(ptx, "cp.async.wait_group 1");
        EXPECT_GT(waits, 0) << ptx;
        copies_and_waits[is_hoisted] = std::to_string(copies) + ", " + std::to_string(waits);
        if (has_gpu()) {
            expect_values<int>(out, 24, 40, [](int, int j) { return 1571328 + 7168 * j; });
        }
    }
    EXPECT_EQ(copies_and_waits[false], copies_and_waits[true]);
}

// Threads have pieces of one buffer, whatever each needs of it.
TEST(GpuMemory, of_threads_out_of_one_buffer) {
    REQUIRE_GPU();
    for (const MemoryType memory : {MemoryType::Auto, MemoryType::Heap, MemoryType::Stack}) {
        Func f = source("f"), g("g");
        Param<int> n("n");
        g(x, y) = f(x, y) + f(2 * x + n, y);
        g.gpu_tile(x, y, xi, yi, 16, 4, TailStrategy::GuardWithIf);
        f.compute_at(g, xi).store_in(memory);
        n.set(5);
        expect_values<int>(g, 75, 9,
                           [](int i, int j) { return plain(i, j) + plain(2 * i + 5, j); });
    }
}

// Two at once, in a loop of the thread, one of which is vectorized.
TEST(GpuMemory, of_threads_out_of_two_buffers) {
    REQUIRE_GPU();
    Func f = source("f"), wide("wide"), g("g");
    Param<int> n("n");
    Var u("u");
    wide(x, y) = f(x, y) + f(x + n, y);
    g(x, y) = wide(x, y) - wide(x + n, y);
    g.split(x, x, u, 3, TailStrategy::GuardWithIf).gpu_tile(x, y, xi, yi, 8, 4);
    wide.compute_at(g, u).vectorize(x, 4);
    f.compute_at(g, xi);
    n.set(7);
    expect_values<int>(g, 75, 9, [](int i, int j) { return plain(i, j) - plain(i + 14, j); });
}

TEST(GpuMemory, of_blocks_of_which_the_middle_ones_need_most) {
    REQUIRE_GPU();
    for (const MemoryType memory : {MemoryType::GPUShared, MemoryType::Heap}) {
        Func f = source("f"), g("g");
        g(x, y) = f(x * (63 - x), y);
        g.gpu_tile(x, y, xi, yi, 8, 2);
        f.compute_at(g, x).store_in(memory).split(x, xo, xi, 16).gpu_threads(xi);
        expect_values<int>(g, 64, 10, [](int i, int j) { return plain(i * (63 - i), j); });
    }
}

// A block has as many threads as the one that needs most, not as many as the whole image.
TEST(GpuThreads, of_blocks_of_which_the_outer_ones_need_most) {
    REQUIRE_GPU();
    Func f = source("f"), g("g");
    g(x, y) = f(x * (127 - x), y);
    g.gpu_tile(x, y, xi, yi, 8, 1);
    f.compute_at(g, x).gpu_threads(x);
    expect_values<int>(g, 128, 5, [](int i, int j) { return plain(i * (127 - i), j); });
}

TEST(GpuThreads, of_whole_groups_of_rows_below_a_tile_that_is_shifted) {
    REQUIRE_GPU();
    for (const int height : {8, 20, 301}) {
        Func f = source("f"), g("g");
        RDom r(0, 8);
        g(x, y) = sum(f(x, y / 8 * 8 + r));
        g.gpu_tile(x, y, xi, yi, 16, 8, TailStrategy::ShiftInwards);
        f.compute_at(g, x).gpu_threads(x, y);
        expect_values<int>(g, 16, height, [](int i, int j) {
            int all = 0;
            for (int k = 0; k < 8; k++) {
                all += plain(i, j / 8 * 8 + k);
            }
            return all;
        });
    }
}

/// f(y) = the sum of a row of g from `first` on, which a thread goes along.
template<typename T>
Func sums_of_rows(const ImageParam &g, const Expr &first, const Expr &iterations) {
    Var row("row"), thread("thread");
    Func f("sums"), sum("sum");
    RDom r(first, iterations, "r");
    sum(row) = cast<T>(1);
    sum(row) = sum(row) * cast<T>(3) + cast<T>(g(r, row));
    f(row) = sum(row);
    f.gpu_tile(row, thread, 16, TailStrategy::GuardWithIf);
    sum.compute_at(f, thread);
    return f;
}

/// Rows that are aligned and not, from elements that are and are not, of no iterations, of some and of many.
template<typename T>
void check_sums_of_rows() {
    ImageParam g(type_of<T>(), 2, "g");
    Param<int> first("first"), iterations("iterations");
    Func f = sums_of_rows<T>(g, first, iterations);
    const Target target = gpu_target();
    f.compile_jit(target);
    constexpr int height = 37, longest = 71;
    for (int width : {96, 99}) {
        Buffer<T> image(width, height);
        image.set_min(-5, 0);
        image.fill([](const int *at) { return T((at[0] * 7 + at[1] * 5) % 13); });
        g.set(image);
        for (int begin : {-5, -4, 0, 3}) {
            for (int n : {0, 1, 7, 16, longest}) {
                first.set(begin);
                iterations.set(n);
                Buffer<T> result = f.realize({height}, target);
                result.copy_to_host();
                for (int y = 0; y < height; y++) {
                    T expected = 1;
                    for (int x = begin; x < begin + n; x++) {
                        // Integers wrap.
                        expected = T(uint64_t(expected) * 3 + uint64_t(image(x, y)));
                    }
                    ASSERT_EQ(result(y), expected)
                        << "row " << y << " of " << width << ", " << n << " from " << begin;
                }
            }
        }
    }
}

TEST(GpuRows, are_read_several_elements_at_once) {
    ImageParam g(UInt(8), 2, "g");
    const std::string ptx = ptx_of(sums_of_rows<uint8_t>(g, 0, 100));
    EXPECT_GE(count(ptx, "ld.global.nc.v"), 1) << ptx;
    REQUIRE_GPU();
    check_sums_of_rows<uint8_t>();
    check_sums_of_rows<int16_t>();
    check_sums_of_rows<uint32_t>();
    check_sums_of_rows<int64_t>();
}

}  // namespace
}  // namespace calotype::test
