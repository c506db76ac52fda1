// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What lanes of a warp take from each other: shuffles on CUDA, shared memory on OpenCL.
#include "gpu.h"

namespace calotype::test {
namespace {

Var x("x"), y("y"), xo("xo"), v("v");

/// So many shuffles of that kind, and no other; with them neither shared memory nor barriers.
void expect_shuffles(const Func &f, const std::string &kind, int n) {
    const std::string ptx = ptx_of(f);
    EXPECT_EQ(count(ptx, "shfl.sync." + kind), n) << ptx;
    EXPECT_EQ(count(ptx, "shfl.sync."), n) << ptx;
    EXPECT_EQ(count(ptx, ".shared"), 0) << ptx;
    EXPECT_EQ(count(ptx, "bar.sync") + count(ptx, "bar.warp.sync"), 0) << ptx;
}

/// f stays in shared memory.
void expect_shared(const Func &f) {
    const std::string ptx = ptx_of(f);
    EXPECT_EQ(count(ptx, "shfl.sync."), 0) << ptx;
    EXPECT_GT(count(ptx, ".shared"), 0) << ptx;
    EXPECT_GT(count(ptx, "bar.sync") + count(ptx, "bar.warp.sync"), 0) << ptx;
}

/// g takes from f, each with the lanes of one warp as rows of 32.
struct Two {
    Func f{"f"}, g{"g"};

    explicit Two(MemoryType memory = MemoryType::Auto) : memory_(memory) {
        f(v, x, y) = x * 3 + y + v;
    }
    Func with(const Expr &e) {
        g(v, x, y) = e;
        g.bound(v, 0, 32).gpu_blocks(x, y).gpu_lanes(v);
        f.compute_at(g, x).store_in(memory_).bound(v, 0, 32).gpu_lanes(v);
        return g;
    }

private:
    MemoryType memory_;
};

template<typename F>
void expect_rows(Func g, F want) {
    if (!has_gpu()) {
        return;
    }
    Buffer<int> result = g.realize({32, 3, 2}, gpu_target());
    result.copy_to_host();
    result.for_each_element(
        [&](int i, int j, int k) { ASSERT_EQ(result(i, j, k), want(i, j * 3 + k)) << i; });
}

TEST(GpuLanes, neighbours) {
    Two down, up;
    Func g = down.with(down.f(min(v + 3, 31), x, y));
    expect_rows(g, [](int i, int of) { return of + std::min(i + 3, 31); });
    expect_shuffles(g, "idx", 1);

    g = up.with(select(v >= 1, up.f(max(v - 1, 0), x, y), -1));
    expect_rows(g, [](int i, int of) { return i >= 1 ? of + i - 1 : -1; });
    expect_shuffles(g, "idx", 1);
}

TEST(GpuLanes, one_for_all) {
    Two t;
    Func g = t.with(t.f(9, x, y) + v);
    expect_rows(g, [](int i, int of) { return of + 9 + i; });
    expect_shuffles(g, "idx", 1);
}

TEST(GpuLanes, exchange) {
    Two t(MemoryType::Register), written_out;
    Func g = t.with(t.f(clamp(v ^ 8, 0, 31), x, y));
    expect_rows(g, [](int i, int of) { return of + (i ^ 8); });
    expect_shuffles(g, "bfly", 1);

    g = written_out.with(written_out.f(31 - v, x, y));
    expect_rows(g, [](int i, int of) { return of + 31 - i; });
    expect_shuffles(g, "bfly", 1);
}

TEST(GpuLanes, round_again) {
    Two t;
    Func g = t.with(t.f((v + 5) % 32, x, y) * t.f(v, x, y));
    expect_rows(g, [](int i, int of) { return (of + (i + 5) % 32) * (of + i); });
    expect_shuffles(g, "idx", 1);
}

TEST(GpuLanes, what_each_has_is_not_shuffled) {
    Two t;
    Func g = t.with(t.f(v, x, y) + 1);
    expect_rows(g, [](int i, int of) { return of + i + 1; });
    expect_shuffles(g, "idx", 0);
}

TEST(GpuLanes, of_all_types) {
    struct {
        Type type;
        int words;
    } const rows[] = {{Bool(), 1},    {UInt(8), 1},    {Int(16), 1},   {UInt(32), 1}, {Int(64), 2},
                      {Float(16), 1}, {BFloat(16), 1}, {Float(32), 1}, {Float(64), 2}};
    for (const auto &row : rows) {
        Func f("f"), g("g");
        f(v, y) = cast(row.type, v & y);
        g(v, y) = f(31 - v, y);
        g.bound(v, 0, 32).gpu_blocks(y).gpu_lanes(v);
        f.compute_at(g, y).bound(v, 0, 32).gpu_lanes(v);
        SCOPED_TRACE(::testing::Message() << row.type);
        expect_shuffles(g, "bfly", row.words);
    }
}

/// Sums of rows of 64 over `lanes` lanes, and what is left over one.
Func tree_of_sums(MemoryType memory, const ImageParam &in, int lanes) {
    Func sum("sum"), g("g");
    RDom r(0, 64, "r");
    RVar ro("ro"), ri("ri");
    sum(y) += in(r, y);
    g(x, y) = sum(y) + x;
    g.bound(x, 0, lanes).gpu_blocks(y).gpu_lanes(x);
    sum.compute_at(g, y).store_in(memory);
    sum.update().split(r, ro, ri, lanes);
    for (; lanes > 1; lanes /= 2) {
        Var lane("lane");
        Func part = sum.update().rfactor(ri, lane);
        part.compute_at(g, y).store_in(memory).gpu_lanes(lane).update().gpu_lanes(lane);
        part.update().unroll(ro);
        RVar outer("outer"), inner("inner");
        sum.update().split(ri, outer, inner, lanes / 2);
        ro = outer;
        ri = inner;
    }
    sum.update().unroll(ro);
    return g;
}

TEST(GpuLanes, tree_of_sums) {
    ImageParam in(Int(32), 2, "in");
    Buffer<int> data(64, 5);
    data.for_each_element([&](int i, int j) { data(i, j) = i * i + j; });
    in.set(data);
    for (const MemoryType memory : {MemoryType::Auto, MemoryType::Register}) {
        for (const int lanes : {8, 32}) {
            Func g = tree_of_sums(memory, in, lanes);
            const std::string ptx = ptx_of(g);
            // The last one sends the sum to all.
            EXPECT_EQ(count(ptx, "shfl.sync.down"), lanes == 8 ? 2 : 4) << ptx;
            EXPECT_EQ(count(ptx, "shfl.sync.idx"), 2) << ptx;
            EXPECT_EQ(count(ptx, ".shared"), 0) << ptx;
            if (has_gpu()) {
                expect_values<int>(g, lanes, 5, [](int i, int j) { return 85344 + 64 * j + i; });
            }
        }
    }
}

TEST(GpuLanes, stays_shared_where_it_cannot_be_shown) {
    // All threads of the block take from it.
    Func f("f"), g("g");
    f(x, y) = x + y;
    g(x, y) = f(31 - x, 0) + f(x, 1);
    g.bound(x, 0, 32).bound(y, 0, 4).gpu_threads(y).gpu_lanes(x);
    g.split(x, xo, x, 32).reorder(x, y, xo).gpu_blocks(xo);
    f.compute_at(g, xo).gpu_lanes(x);
    expect_shared(g);
    // It is asked for.
    Two asked(MemoryType::GPUShared);
    expect_shared(asked.with(asked.f(31 - v, x, y)));
}

TEST(GpuLanes, what_is_read_for_a_condition_stays_under_those_around_it) {
    ImageParam in(Int(32), 1, "in");
    Func f("f");
    RDom r(0, 20, "r");
    r.where(in(r) > 0);
    f(x) = 0;
    f(r) += 1;
    Func g("g");
    g(x, y) = f(x) + y;
    g.bound(x, 0, 20).gpu_blocks(y).gpu_lanes(x);
    RVar ro("ro"), ri("ri");
    f.compute_at(g, y).store_in(MemoryType::Register).gpu_lanes(x);
    f.update().split(r, ro, ri, 32, TailStrategy::GuardWithIf).gpu_lanes(ri);
    if (!has_gpu()) {
        return;
    }
    Buffer<int> data(20);
    data.for_each_element([&](int i) { data(i) = i % 3 - 1; });
    in.set(data);
    expect_values<int>(g, 20, 3, [](int i, int j) { return (i % 3 == 2) + j; });
}

}  // namespace
}  // namespace calotype::test
