// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops that do not divide evenly, conditions that differ from lane to lane, and where storage
// lives.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "calotype.h"

namespace calotype {
namespace {

const Var x("x"), y("y"), xo("xo"), yo("yo"), xi("xi"), yi("yi"), fused("fused");

void expect_all(const Buffer<int> &result, const std::function<int(int, int)> &expected) {
    for (int j = 0; j < result.height(); j++) {
        for (int i = 0; i < result.width(); i++) {
            ASSERT_EQ(result(i, j), expected(i, j)) << "at " << i << ", " << j;
        }
    }
}

TEST(Tails, updates_that_blend) {
    for (TailStrategy tail :
         {TailStrategy::ShiftInwardsAndBlend, TailStrategy::RoundUpAndBlend,
          TailStrategy::GuardWithIf, TailStrategy::Predicate, TailStrategy::RoundUp}) {
        Func g("g"), f("f");
        g(x, y) = x;
        g(x, y) += 1;
        g.compute_root().update().vectorize(x, 8, tail);
        f(x, y) = g(x, y);
        expect_all(f.realize({37, 4}), [](int i, int) { return i + 1; });
    }
}

TEST(Tails, predicated_loads_and_stores) {
    for (TailStrategy tail : {TailStrategy::PredicateLoads, TailStrategy::PredicateStores}) {
        Func g("g"), f("f");
        g(x, y) = x * y;
        g.compute_root();
        f(x, y) = g(x, y) + g(x + 1, y);
        f.vectorize(x, 8, tail);
        expect_all(f.realize({40, 4}), [](int i, int j) { return i * j + (i + 1) * j; });
    }
}

// What a tile of `p` computes beyond its end, the next one computes too.
TEST(Tails, of_tiles_that_round_up) {
    Param<int> p("p");
    Func g("g"), h("h"), f("f");
    g(x, y) = x * 3 + y;
    h(x, y) = g(x - 1, y) + g(x + 2, y);
    f(x, y) = h(x, y) - y;
    h.compute_root()
        .split(x, xo, xi, p, TailStrategy::RoundUp)
        .vectorize(xi, 8, TailStrategy::RoundUp)
        .parallel(xo);
    g.compute_at(h, xo)
        .split(x, x, xi, 6, TailStrategy::GuardWithIf)
        .vectorize(xi, 4, TailStrategy::RoundUp);
    for (int size : {1, 5, 8, 10, 64}) {
        p.set(size);
        expect_all(f.realize({37, 3}), [](int i, int j) { return 6 * i + 3 + j; });
    }
    f.split(x, xo, xi, p, TailStrategy::RoundUp).vectorize(xi, 8, TailStrategy::RoundUp);
    p.set(16);
    expect_all(f.realize({48, 2}), [](int i, int j) { return 6 * i + 3 + j; });
}

// A producer's blocks are shifted over what earlier tiles needed: they ask for no more of inputs.
TEST(Tails, of_producers_in_the_last_tile_need_no_more_of_inputs) {
    for (int width : {130, 67, 64, 20}) {
        ImageParam in(Int(32), 2, "in");
        Func g("g"), h("h"), f("f");
        g(x, y) = in(x, y) + 1;
        h(x, y) = g(x, y) * 2;
        f(x, y) = h(x, y) + h(x + 1, y);
        f.split(x, xo, xi, 64, TailStrategy::GuardWithIf).vectorize(xi, 8);
        h.compute_at(f, xo).split(x, x, xi, 16, TailStrategy::ShiftInwards);
        g.compute_at(h, x).vectorize(x, 4, TailStrategy::ShiftInwards);
        f.infer_input_bounds({width, 2});
        EXPECT_EQ(in.get().dim(0).extent(), width + 1);
        EXPECT_EQ(in.get().dim(0).min(), 0);
        Buffer<int> input(width + 1, 2);
        input.fill([](int i, int j) { return i * 3 + j; });
        in.set(input);
        expect_all(f.realize({width, 2}), [](int i, int j) { return 2 * (6 * i + 3 + 2 * j + 2); });
    }
}

TEST(Tails, what_they_need_of_inputs) {
    const std::pair<TailStrategy, int> cases[] = {{TailStrategy::RoundUp, 32},
                                                  {TailStrategy::GuardWithIf, 30},
                                                  {TailStrategy::Predicate, 30},
                                                  {TailStrategy::PredicateStores, 32}};
    for (const auto &[tail, extent] : cases) {
        ImageParam in(Int(32), 1, "in");
        Func f("f");
        f(x) = in(x)*2;
        f.vectorize(x, 8, tail);
        f.infer_input_bounds({30});
        EXPECT_EQ(in.get().dim(0).extent(), extent);
    }
    // What is stored past the end is not asked for, so that nothing is loaded for it.
    ImageParam in(Int(32), 1, "in");
    Func g("g"), f("f");
    g(x) = in(x)*2;
    g.compute_root().vectorize(x, 8, TailStrategy::PredicateLoads);
    f(x) = g(x);
    f.infer_input_bounds({30});
    EXPECT_EQ(in.get().dim(0).extent(), 30);
}

TEST(Tails, of_updates_that_round_up_in_shifted_tiles_need_whole_tiles) {
    for (bool is_special : {false, true}) {
        ImageParam in(Int(32), 1, "in");
        Func sum("sum"), f("f");
        sum(x) = 0;
        sum(x) += in(x);
        f(x) = sum(x);
        Stage tiles = is_special ? f.specialize(in.width() >= 32) : Stage(f);
        tiles.vectorize(x, 8).unroll(x, 4);
        sum.compute_at(f, x);
        sum.update().vectorize(x, 8);
        for (int width : {96, 90, 32}) {
            Buffer<int> whole(width + (32 - width % 32) % 32);
            whole.fill(7);
            in.set(whole);
            Buffer<int> result = f.realize({width});
            EXPECT_EQ(result(0) + result(width - 1), 14) << width;
        }
    }
}

TEST(Tails, of_producers_that_round_up_in_guarded_pairs_of_shifted_tiles) {
    const Var tile("tile"), pair("pair"), in_pair("in_pair");
    ImageParam in(Int(32), 1, "in");
    Func g("g"), h("h"), f("f");
    h(x) = in(x) + 1;
    g(x) = h(x) * 2;
    f(x) = g(x);
    f.split(x, tile, xi, 64, TailStrategy::ShiftInwards)
        .split(tile, pair, in_pair, 2, TailStrategy::GuardWithIf);
    g.compute_at(f, in_pair).split(x, xo, xi, 8, TailStrategy::GuardWithIf);
    h.compute_at(f, pair).split(x, xo, xi, 8, TailStrategy::RoundUp);
    f.infer_input_bounds({1024});
    EXPECT_EQ(in.get().dim(0).extent(), 1024);
    Buffer<int> input(1024);
    input.fill([](int i) { return i * 3; });
    in.set(input);
    const Buffer<int> result = f.realize({1024});
    for (int i = 0; i < 1024; i++) {
        ASSERT_EQ(result(i), 2 * (i * 3 + 1)) << i;
    }
}

TEST(Tails, predicated_loads_beside_other_computations) {
    Func g("g"), f("f"), h("h");
    f(x) = x * 3;
    f.compute_root();
    g(x) = f(x) + 1;
    h(x) = g(x) * 2;
    h.split(x, xo, xi, 10, TailStrategy::GuardWithIf);
    g.store_root().compute_at(h, xo).vectorize(x, 8, TailStrategy::PredicateLoads);
    const Buffer<int> result = h.realize({40});
    for (int i = 0; i < 40; i++) {
        EXPECT_EQ(result(i), (i * 3 + 1) * 2);
    }
}

TEST(Tails, predicated_updates) {
    for (TailStrategy tail : {TailStrategy::PredicateLoads, TailStrategy::PredicateStores}) {
        Func g("g"), f("f");
        g(x) = x;
        g.compute_root();
        f(x) = 100;
        f(x) += g(x);
        f.compute_root().update().vectorize(x, 8, tail);
        Func h("h");
        h(x) = f(x);
        const Buffer<int> result = h.realize({29});
        for (int i = 0; i < 29; i++) {
            EXPECT_EQ(result(i), 100 + i);
        }
    }
}

TEST(Tails, of_a_fused_loop) {
    Func f("f");
    f(x, y) = x * 10 + y;
    f.fuse(x, y, fused).vectorize(fused, 8, TailStrategy::GuardWithIf);
    expect_all(f.realize({13, 7}), [](int i, int j) { return i * 10 + j; });
}

TEST(Tails, of_a_factor_as_large_as_any) {
    Param<int> factor("factor");
    factor.set(std::numeric_limits<int>::max());
    const auto expect_numbers = [](const Buffer<int> &result) {
        for (int i = 0; i < result.width(); i++) {
            ASSERT_EQ(result(i), i * 3);
        }
    };
    for (const Expr &number : {Expr(factor), Expr(std::numeric_limits<int>::max())}) {
        Func f("f"), sum("sum");
        f(x) = x * 3;
        f.split(x, xo, xi, number, TailStrategy::GuardWithIf);
        expect_numbers(f.realize({100}));
        RDom r(0, 100, "r");
        RVar ro("ro"), ri("ri");
        sum() = 0;
        sum() += r;
        sum.update().split(r, ro, ri, number);
        EXPECT_EQ(Buffer<int>(sum.realize())(), 4950);
    }
}

TEST(Tails, of_the_outer_dimension) {
    Func g("g"), f("f");
    g(x, y) = x - y;
    g.compute_root().align_bounds(x, 8, 3).vectorize(x, 8);
    f(x, y) = g(x, y) * 2;
    f.reorder(y, x).vectorize(y, 8).parallel(x);
    expect_all(f.realize({13, 40}), [](int i, int j) { return (i - j) * 2; });
}

// A loop over fewer blocks than the block it is split into: no row before the first one is computed.
TEST(Tails, of_blocks_of_blocks_that_are_shifted) {
    for (const TailStrategy tail : {TailStrategy::GuardWithIf, TailStrategy::Predicate,
                                    TailStrategy::PredicateStores, TailStrategy::ShiftInwards}) {
        for (int height : {3, 4, 7, 8, 20}) {
            Func f("f");
            f(x, y) = x * 10 + y;
            f.split(y, yo, yi, 3, tail).split(yo, xo, xi, 3, TailStrategy::ShiftInwards);
            expect_all(f.realize({5, height}), [](int i, int j) { return i * 10 + j; });
            f.bound(y, 0, height);
            expect_all(f.realize({5, height}), [](int i, int j) { return i * 10 + j; });
        }
    }
}

// Rows before those that are new hold what is still needed, of which `e` is not there any more.
TEST(Tails, of_blocks_of_blocks_beside_rows_that_are_kept) {
    for (const bool is_async : {false, true}) {
        for (const TailStrategy tail : {TailStrategy::GuardWithIf, TailStrategy::PredicateStores,
                                        TailStrategy::ShiftInwards, TailStrategy::RoundUp}) {
            Func e("e"), g("g"), f("f");
            e(x, y) = x + y * 3;
            g(x, y) = e(x, y) * 2;
            f(x, y) = g(x, y - 2) + g(x, y) + e(x, y + 1);
            g.store_root().compute_at(f, y).split(y, yo, yi, 3, tail);
            g.split(yo, xo, xi, 3, TailStrategy::ShiftInwards);
            e.compute_at(f, y);
            if (is_async) {
                g.async();
            }
            expect_all(f.realize({6, 17}), [](int i, int j) { return 5 * i + 15 * j - 9; });
        }
    }
}

TEST(Conditions, that_differ_from_lane_to_lane) {
    Func f("f");
    RDom r(0, 10);
    r.where(r < x);
    f(x, y) = 0;
    f(x, y) += y * r;
    f.update().vectorize(x, 8);
    expect_all(f.realize({32, 8}), [](int i, int j) {
        const int n = std::min(i, 10);
        return n * (n - 1) / 2 * j;
    });
}

TEST(Conditions, of_unrolled_reductions) {
    Func f("f");
    RDom r(0, 7, 0, 5);
    r.where(r.x + r.y < 6);
    f(x, y) = 0;
    f(x, y) += r.x * y;
    f.update().unroll(r.x, 2).parallel(y);
    expect_all(f.realize({9, 8}), [](int, int j) {
        int sum = 0;
        for (int b = 0; b < 5; b++) {
            for (int a = 0; a < 7 && a + b < 6; a++) {
                sum += a * j;
            }
        }
        return sum;
    });
}

TEST(Storage, on_the_stack_and_in_registers) {
    for (MemoryType where : {MemoryType::Stack, MemoryType::Register, MemoryType::Heap}) {
        Func g("g"), f("f");
        g(x, y) = x + y;
        f(x, y) = g(x, y) + g(x + 1, y);
        f.split(x, xo, xi, 8);
        g.compute_at(f, xo).store_in(where).vectorize(x, 8).unroll(x);
        expect_all(f.realize({32, 8}), [](int i, int j) { return 2 * i + 2 * j + 1; });
    }
}

TEST(Storage, slides_under_an_update_of_one_column) {
    Func g("g"), f("f");
    g(x, y) = x;
    g(0, y) = 100;
    g(x, y) += y;
    f(x, y) = g(x, y) + g(x, y + 1);
    g.store_root().compute_at(f, y);
    expect_all(f.realize({12, 24}),
               [](int i, int j) { return 2 * (i == 0 ? 100 : i) + 2 * j + 1; });
}

TEST(Storage, slides_under_a_scan) {
    Func g("g"), f("f");
    RDom r(1, 20);
    g(x, y) = x;
    g(r, y) += g(r - 1, y);
    f(x, y) = g(x, y) + g(x, y + 1);
    g.store_root().compute_at(f, y);
    expect_all(f.realize({20, 24}), [](int i, int) { return i * (i + 1); });
}

TEST(Storage, a_chain_of_windows) {
    auto last_of_chain = [](bool sliding) {
        std::vector<Func> stages(1, Func("in"));
        stages[0](x, y) = (x * 7 + y * 13) % 31;
        Func out("out");
        for (int k = 0; k < 8; k++) {
            Func previous = stages.back(), next("stage" + std::to_string(k));
            next(x, y) = previous(x, y - 1) + previous(x, y + 1) - previous(x + 1, y);
            stages.push_back(next);
        }
        out(x, y) = stages.back()(x, y);
        out.split(y, yo, yi, 16).vectorize(x, 8);
        for (size_t k = 1; k < stages.size(); k++) {
            if (sliding) {
                stages[k].store_at(out, yo).compute_at(out, yi).vectorize(x, 8);
            } else {
                stages[k].compute_root();
            }
        }
        return out;
    };
    const Buffer<int> plain = last_of_chain(false).realize({40, 48});
    expect_all(last_of_chain(true).realize({40, 48}), [&](int i, int j) { return plain(i, j); });
}

TEST(Parallel, loops_within_loops) {
    Func g("g"), f("f");
    g(x, y) = x * 3;
    g.compute_at(f, y).parallel(x);
    f(x, y) = g(x, y) + y;
    f.parallel(y);
    expect_all(f.realize({20, 24}), [](int i, int j) { return i * 3 + j; });
}

// The output is what was asked for: tiles need no more of it, whatever their loops became.
TEST(Fuse, guarded_tiles_need_no_more_than_the_output) {
    for (const bool stored : {false, true}) {
        Func g("g"), f("f");
        g(x, y) = x * 3;
        f(x, y) = g(x, y) + g(x + 1, y) + y;
        f.tile(x, y, xo, yo, xi, yi, 8, 8, TailStrategy::GuardWithIf).fuse(xo, yo, fused);
        f.parallel(fused).vectorize(xi, 8);
        if (stored) {
            g.compute_at(f, fused).vectorize(x, 4);
        }
        expect_all(f.realize({33, 21}), [](int i, int j) { return 6 * i + 3 + j; });
        expect_all(f.realize({3, 2}), [](int i, int j) { return 6 * i + 3 + j; });
    }
}

}  // namespace
}  // namespace calotype
