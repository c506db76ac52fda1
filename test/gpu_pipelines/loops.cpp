// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops mapped to blocks and threads in all ways compute what plain loops do.
#include <algorithm>
#include <string>

#include "gpu.h"

namespace calotype::test {
namespace {

Var x("x"), y("y"), xi("xi"), yi("yi"), xo("xo"), yo("yo"), xv("xv");

template<typename Schedule>
void check_tile(int width, int height, Schedule schedule) {
    Func f("f");
    f(x, y) = x * 5 - y * 3 + (x ^ y);
    schedule(f);
    expect_values<int>(f, width, height, [](int i, int j) { return i * 5 - j * 3 + (i ^ j); });
}

TEST(GpuLoops, tiles_and_tails) {
    REQUIRE_GPU();
    for (TailStrategy tail : {TailStrategy::Auto, TailStrategy::GuardWithIf,
                              TailStrategy::ShiftInwards, TailStrategy::Predicate}) {
        check_tile(77, 33, [&](Func f) { f.gpu_tile(x, y, xi, yi, 16, 8, tail); });
    }
    check_tile(64, 32, [](Func f) { f.gpu_tile(x, y, xi, yi, 16, 8, TailStrategy::RoundUp); });
}

TEST(GpuLoops, blocks_and_threads_of_one_dimension) {
    REQUIRE_GPU();
    check_tile(70, 9, [](Func f) { f.gpu_blocks(y).gpu_threads(x); });
    check_tile(70, 9, [](Func f) { f.gpu_blocks(x, y); });
    check_tile(70, 9, [](Func f) { f.gpu_tile(x, xi, 32, TailStrategy::GuardWithIf); });
    check_tile(9, 7, [](Func f) { f.gpu_single_thread(); });
}

TEST(GpuLoops, vectors_in_threads) {
    REQUIRE_GPU();
    check_tile(130, 20, [](Func f) { f.gpu_tile(x, y, xi, yi, 32, 8).vectorize(xi, 4); });
    check_tile(130, 20,
               [](Func f) { f.gpu_tile(x, y, xi, yi, 32, 8).unroll(yi, 2).vectorize(xi, 2); });
}

TEST(GpuLoops, updates_are_kernels_of_their_own) {
    REQUIRE_GPU();
    Func f("f");
    RDom r(0, 10);
    f(x, y) = x + y;
    f(x, y) += x * r;
    f(x, 0) = 7;
    f.gpu_tile(x, y, xi, yi, 8, 8);
    f.update(0).gpu_tile(x, y, xi, yi, 8, 8, TailStrategy::GuardWithIf);
    f.update(1).gpu_tile(x, xi, 16, TailStrategy::GuardWithIf);
    expect_values<int>(f, 30, 21, [](int i, int j) { return j == 0 ? 7 : i + j + i * 45; });
}

TEST(GpuLoops, update_stages_inside_of_a_block) {
    REQUIRE_GPU();
    Func f("f"), g("g");
    RDom r(0, 4);
    f(x, y) = x - y;
    f(x, y) += f(x, y) * r;
    g(x, y) = f(x, y) + f(x + 1, y + 1);
    g.gpu_tile(x, y, xi, yi, 8, 8);
    f.compute_at(g, x).gpu_threads(x, y);
    f.update().gpu_threads(x);
    const auto value = [](int i, int j) {
        int v = i - j;
        for (int k = 0; k < 4; k++) {
            v += v * k;
        }
        return v;
    };
    expect_values<int>(g, 30, 21, [&](int i, int j) { return value(i, j) + value(i + 1, j + 1); });
}

TEST(GpuLoops, updates_of_as_few_threads_wait_for_each_other) {
    constexpr int size = 16;
    const auto make = [] {
        Func f("f"), g("g");
        RDom r(1, size - 1);
        f(x, y) = x + y * 3;
        f(r, y) += f(r - 1, y);
        f(x, r) += f(x, r - 1);
        g(x, y) = f(size - 1 - x, y);
        Var yo("yo");
        g.bound(x, 0, size).bound(y, 0, size);
        g.split(y, yo, yi, 4).reorder(yo, x, yi).gpu_threads(x, yi);
        g.split(yo, yo, xi, size / 4).gpu_blocks(yo).reorder(xi, x, yi, yo);
        f.compute_at(g, yo).split(y, yo, yi, 4).reorder(yo, x, yi).gpu_threads(x, yi);
        f.update(0).gpu_threads(y);
        f.update(1).gpu_threads(x);
        return g;
    };
    const std::string ptx = ptx_of(make());
    EXPECT_EQ(count(ptx, "bar.sync"), 3) << ptx;
    REQUIRE_GPU();
    expect_values<int>(make(), size, size, [](int i, int j) {
        const auto first = [](int n) {
            return n * (n + 1) / 2;
        };
        const int k = size - 1 - i;
        return (j + 1) * first(k) + (k + 1) * 3 * first(j);
    });
}

TEST(GpuLoops, a_sum_in_parts) {
    REQUIRE_GPU();
    Func f("f"), sum("sum"), out("out");
    RDom r(0, 256);
    RVar ro("ro"), ri("ri");
    Var u("u");
    f(x, y) = (x * 7 + y) & 63;
    sum(y) = 0;
    sum(y) += f(r, y);
    out(x, y) = sum(y) + x;
    Func part = sum.update().split(r, ri, ro, 32).rfactor(ro, u);
    out.gpu_tile(x, y, xi, yi, 4, 4);
    sum.compute_root().gpu_blocks(y);
    sum.update().gpu_blocks(y);
    part.compute_at(sum, y).gpu_threads(u);
    part.update().gpu_threads(u);
    expect_values<int>(out, 8, 12, [](int i, int j) {
        int total = 0;
        for (int k = 0; k < 256; k++) {
            total += (k * 7 + j) & 63;
        }
        return total + i;
    });
}

TEST(GpuLoops, tuples) {
    REQUIRE_GPU();
    Func f("f"), g("g");
    f(x, y) = Tuple(x + y, x - y);
    g(x, y) = f(x, y)[0] * f(x + 1, y)[1];
    g.gpu_tile(x, y, xi, yi, 8, 8);
    f.compute_at(g, x).gpu_threads(x, y);
    expect_values<int>(g, 20, 20, [](int i, int j) { return (i + j) * (i + 1 - j); });
}

TEST(GpuLoops, specialised) {
    REQUIRE_GPU();
    for (bool wide : {false, true}) {
        Func f("f");
        Param<bool> p("p");
        f(x, y) = x * 2 + y;
        f.specialize(p).gpu_tile(x, y, xi, yi, 32, 4);
        f.gpu_tile(x, y, xi, yi, 8, 8);
        p.set(wide);
        expect_values<int>(f, 40, 40, [](int i, int j) { return i * 2 + j; });
    }
}

TEST(GpuLoops, computed_with) {
    REQUIRE_GPU();
    Func f("f"), g("g"), h("h");
    f(x, y) = x + y;
    g(x, y) = x * y;
    h(x, y) = f(x, y) - g(x, y);
    f.compute_root().gpu_tile(x, y, xi, yi, 8, 8);
    g.compute_root().gpu_tile(x, y, xi, yi, 8, 8).compute_with(f, x);
    h.gpu_tile(x, y, xi, yi, 16, 4);
    expect_values<int>(h, 33, 17, [](int i, int j) { return i + j - i * j; });
}

TEST(GpuLoops, lanes) {
    REQUIRE_GPU();
    Func f("f"), g("g");
    f(x, y) = x * 3 + y;
    g(x, y) = f(x, y) + f(x + 1, y);
    g.split(x, xo, xi, 32, TailStrategy::GuardWithIf).gpu_blocks(xo, y).gpu_lanes(xi);
    f.compute_at(g, xo).store_in(MemoryType::Register).gpu_lanes(x);
    f.bound_extent(x, 32);
    g.bound(x, 0, 31);
    expect_values<int>(g, 31, 13, [](int i, int j) { return i * 6 + 3 + j * 2; });
}

TEST(GpuLoops, of_no_iterations) {
    REQUIRE_GPU();
    Func f("f"), g("g");
    Param<int> n("n");
    RDom r(0, n);
    RVar ro("ro"), ri("ri");
    f(x, y) = x;
    f(r, y) += 1;
    g(x, y) = f(x, y);
    f.compute_root().gpu_tile(x, y, xi, yi, 8, 8);
    f.update().split(r, ro, ri, 8).gpu_blocks(ro).gpu_threads(ri);
    g.gpu_tile(x, y, xi, yi, 8, 8);
    for (int count : {0, 5}) {
        n.set(count);
        expect_values<int>(g, 16, 16, [&](int i, int) { return i + (i < count); });
    }
}

TEST(GpuLoops, of_no_iterations_beside_others_of_the_block) {
    REQUIRE_GPU();
    Func f("f"), g("g");
    Param<int> n("n");
    RDom r(0, n);
    f(x, y) = x;
    f(r, y) += 1;
    g(x, y) = f(x, y);
    g.gpu_blocks(x, y);
    f.compute_at(g, x).update().gpu_threads(r);
    for (int count : {3, 0, 5}) {
        n.set(count);
        expect_values<int>(g, 16, 2, [&](int i, int) { return i + (i < count); });
    }
}

template<typename T>
void check_type() {
    Func f("f"), g("g");
    f(x, y) = cast<T>(x * 3 + y);
    g(x, y) = f(x, y) + f(x + 1, y);
    g.gpu_tile(x, y, xi, yi, 8, 8);
    f.compute_at(g, x).gpu_threads(x, y);
    expect_values<T>(g, 19, 13, [](int i, int j) { return T(T(i * 3 + j) + T(i * 3 + 3 + j)); });
}

TEST(GpuLoops, all_types) {
    REQUIRE_GPU();
    check_type<int8_t>();
    check_type<uint8_t>();
    check_type<int16_t>();
    check_type<uint16_t>();
    check_type<int32_t>();
    check_type<uint32_t>();
    check_type<int64_t>();
    check_type<uint64_t>();
    check_type<float>();
    if (gpu_target().supports_type(Float(64))) {
        check_type<double>();
    }
}

TEST(GpuLoops, atomic_histogram) {
    REQUIRE_GPU();
    Func f("f"), hist("hist"), out("out");
    RDom r(0, 512);
    f(x) = (x * 37) % 16;
    hist(x) = 0;
    hist(f(r)) += 1;
    out(x, y) = hist(x) + y;
    RVar ro("ro"), ri("ri");
    out.gpu_tile(x, y, xi, yi, 8, 8);
    hist.compute_root().gpu_tile(x, xi, 8);
    hist.update().atomic().split(r, ro, ri, 64).gpu_blocks(ro).gpu_threads(ri);
    expect_values<int>(out, 16, 8, [](int i, int j) {
        int n = 0;
        for (int k = 0; k < 512; k++) {
            n += (k * 37) % 16 == i;
        }
        return n + j;
    });
}

TEST(GpuLoops, atomic_updates_that_read_what_they_replace_twice) {
    REQUIRE_GPU();
    Func count("count"), out("out");
    RDom r(0, 1 << 14);
    RVar ro("ro"), ri("ri");
    count(x) = 0;
    count(r % 3) = select(count(r % 3) == 9, 0, count(r % 3) + 1);  // modulo ten, in any order
    out(x, y) = count(x) + y;
    out.gpu_tile(x, y, xi, yi, 8, 8);
    count.compute_root().gpu_tile(x, xi, 8);
    count.update().atomic(true).split(r, ro, ri, 64).gpu_blocks(ro).gpu_threads(ri);
    expect_values<int>(out, 3, 8, [](int i, int j) { return ((1 << 14) + 2 - i) / 3 % 10 + j; });
}

template<typename T>
void expect_sum_and_ends(int threads, int at_once) {
    constexpr int n = 1237;
    Func f("f"), sum("sum"), least("least"), most("most"), out("out");
    f(x) = cast<T>(cast<int>(x) * 37 % 101);
    sum() = cast<T>(3);
    least() = cast<T>(77);
    most() = cast<T>(11);
    RDom r(0, n);
    sum() += f(r);
    least() = min(least(), f(r) + 5);
    most() = max(most(), f(r));
    out(x, y) = sum() + least() * 2 + most() + cast<T>(x - x);
    out.gpu_tile(x, y, xi, yi, 8, 8);
    f.compute_root().gpu_tile(x, xi, 16);
    for (Func each : {sum, least, most}) {
        RVar ro("ro"), ri("ri"), rs("rs");
        each.compute_root().gpu_single_thread();
        each.update()
            .split(r, ro, ri, threads * at_once, TailStrategy::GuardWithIf)
            .split(ri, rs, ri, threads, TailStrategy::GuardWithIf)
            .reorder(rs, ri, ro)
            .atomic()
            .gpu_blocks(ro)
            .gpu_threads(ri);
    }
    int expected = 3, least_value = 77, most_value = 11;
    for (int i = 0; i < n; i++) {
        expected += i * 37 % 101;
        least_value = std::min(least_value, i * 37 % 101 + 5);
        most_value = std::max(most_value, i * 37 % 101);
    }
    expect_values<T>(out, 8, 8,
                     [&](int, int) { return T(expected + least_value * 2 + most_value); });
}

// Lanes of whole warps combine their values before one of them updates; others update for themselves.
TEST(GpuLoops, atomic_updates_of_one_element_by_blocks_of_any_size) {
    REQUIRE_GPU();
    for (const int threads : {1, 20, 32, 33, 96, 256}) {
        for (const int at_once : {1, 3}) {
            SCOPED_TRACE(std::to_string(threads) + " threads, each " + std::to_string(at_once));
            expect_sum_and_ends<int>(threads, at_once);
            expect_sum_and_ends<uint32_t>(threads, at_once);
            expect_sum_and_ends<float>(threads, at_once);
        }
    }
}

TEST(GpuLoops, updates_of_what_the_host_made_in_one_of_two_ways) {
    REQUIRE_GPU();
    for (bool chosen : {false, true}) {
        Param<bool> choice("choice");
        choice.set(chosen);
        Func f("f"), out("out");
        f(x) = x * 3;
        f(x) += 2;
        out(x, y) = f(x) + y;
        f.compute_root().specialize(choice);
        f.update().gpu_tile(x, xi, 8);
        expect_values<int>(out, 16, 8, [](int i, int j) { return i * 3 + 2 + j; });
    }
}

/// Where each stores is an expression with lets, of which each copy has its own.
TEST(GpuLoops, atomic_histogram_of_two_values_in_parts) {
    REQUIRE_GPU();
    Func f("f"), hist("hist"), out("out");
    Var u("u");
    RDom r(0, 48, 0, 20);
    f(x, y) = (x + 1) * (y + 1) % 7;
    hist(x) = Tuple(0, 0);
    hist(f(r.x, r.y)) += Tuple(1, 2);
    out(x, y) = hist(x)[0] + 100 * hist(x)[1] + y;
    RVar ro("ro"), ri("ri");
    Func part = hist.update().rfactor(r.y, u);
    out.gpu_tile(x, y, xi, yi, 8, 8);
    hist.compute_root();
    part.compute_root();
    part.update().atomic().split(r.x, ro, ri, 8).gpu_blocks(ro).gpu_threads(ri);
    expect_values<int>(out, 7, 8, [](int i, int j) {
        int n = 0;
        for (int k = 0; k < 48 * 20; k++) {
            n += (k % 48 + 1) * (k / 48 + 1) % 7 == i;
        }
        return n + 200 * n + j;
    });
}

TEST(GpuLoops, threads_in_vectors) {
    REQUIRE_GPU();
    const auto check = [](MemoryType memory) {
        Func f("f"), g("g");
        f(x, y) = x * 5 - y * 3 + (x ^ y);
        g(x, y) = f(x, y) + f(x, y + 1);
        g.split(x, xo, xi, 4).split(y, yo, yi, 8).reorder(yi, xi, xo, yo);
        g.gpu_blocks(xo, yo).gpu_threads(yi).vectorize(xi);
        f.compute_at(g, xi).store_in(memory).gpu_threads(y);
        expect_values<int>(
            g, 64, 24, [](int i, int j) { return i * 10 - j * 6 - 3 + (i ^ j) + (i ^ (j + 1)); });
    };
    check(MemoryType::Auto);
    check(MemoryType::Heap);
}

// What follows the condition has loops of the device in one branch, and in the other none.
TEST(GpuLoops, specialized_for_the_device_or_the_host) {
    REQUIRE_GPU();
    Func f("f"), g("g");
    Param<bool> on_device("on_device");
    Var t("t");
    f(x, y) = x * 5 - y * 3 + (x ^ y);
    g(x, y) = f(x, y) - f(x + 1, y);
    g.specialize(on_device).gpu_tile(x, y, xi, yi, 8, 4);
    g.specialize(on_device).split(x, x, t, 1).serial(t);
    g.tile(x, y, xo, yo, xi, yi, 8, 8).fuse(xo, yo, t).parallel(t);
    f.compute_at(g, t);
    f.specialize(on_device).gpu_threads(x, y);
    for (const bool value : {true, false}) {
        on_device.set(value);
        expect_values<int>(g, 40, 24, [](int i, int j) { return (i ^ j) - ((i + 1) ^ j) - 5; });
    }
}

// Each thread goes down a column of its own, and another stage goes across.
TEST(GpuLoops, scans_of_columns) {
    REQUIRE_GPU();
    Func f("f");
    Param<int> rows("rows");
    RDom r(1, rows - 1);
    f(x, y) = x * 5 - y * 3;
    f(x, r) += f(x, r - 1);
    f(x, rows - 1 - r) += f(x, rows - r);
    rows.set(64);
    Func plain("plain");
    RDom p(1, 63);
    plain(x, y) = x * 5 - y * 3;
    plain(x, p) += plain(x, p - 1);
    plain(x, 63 - p) += plain(x, 64 - p);
    Buffer<int> want = plain.realize({64, 64});
    Func h("h");
    h(x, y) = f(y, x);
    h.bound(y, 0, 64).split(x, xo, xi, 32).split(y, yo, yi, 32).reorder(xi, yi, xo, yo);
    h.gpu_blocks(yo).gpu_threads(xi);
    f.compute_at(h, yo).store_in(MemoryType::Heap).gpu_threads(x);
    f.update(0).unroll(r, 4, TailStrategy::GuardWithIf).gpu_threads(x);
    f.update(1).unroll(r, 4, TailStrategy::GuardWithIf).gpu_threads(x);
    f.in().compute_at(h, xo).gpu_threads(x);
    expect_values<int>(h, 64, 64, [&](int i, int j) { return want(j, i); });
}

}  // namespace
}  // namespace calotype::test
