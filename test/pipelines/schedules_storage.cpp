// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where and how a Func is stored changes nothing of its values; what storage cannot hold is
// reported.
#include <calotype/calotype.h>

#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "harness/expect_error.h"
#include "pipelines/guarded_malloc.h"

using namespace calotype;

namespace {

/// g(x, y) = f(x, y) + f(x + 1, y + 1) with f(x, y) = 3 x + 5 y, f scheduled by `schedule`.
template<typename Schedule>
void check_storage(Schedule schedule, int width = 37, int height = 19) {
    Func f("f"), g("g");
    Var x("x"), y("y");
    f(x, y) = 3 * x + 5 * y;
    g(x, y) = f(x, y) + f(x + 1, y + 1);
    schedule(f, g, x, y);
    Buffer<int> result = g.realize({width, height});
    for (int j = 0; j < height; j++) {
        for (int i = 0; i < width; i++) {
            ASSERT_EQ(result(i, j), 6 * i + 10 * j + 8) << i << ", " << j;
        }
    }
}

TEST(Storage, OrderAndAlignment) {
    check_storage([](Func f, Func, Var x, Var y) { f.compute_root().reorder_storage(y, x); });
    check_storage([](Func f, Func, Var x, Var y) {
        f.compute_root().reorder_storage(y, x).align_storage(y, 16);
    });
    check_storage(
        [](Func f, Func, Var x, Var) { f.compute_root().align_storage(x, 8).vectorize(x, 8); });
}

/// Channels come first, and vectors lie along x: `schedule` is that of f, which has an update.
template<typename Schedule>
void check_channels_first(Schedule schedule) {
    Func f("f"), g("g");
    Var c("c"), x("x"), y("y");
    RDom r(0, 5, "r");
    f(c, x, y) = x + 10 * c + 100 * y;
    f(c, x, y) = max(f(c, x, y), (x + r) % 7 + c * y);
    g(x, y) = f(0, x, y) + 2 * f(2, x + 1, y);
    g.vectorize(x, 8);
    schedule(f, g, c, x, y, r);
    Buffer<int> result = g.realize({37, 11});
    const auto value = [](int i, int k, int j) {
        int most = i + 10 * k + 100 * j;
        for (int s = 0; s < 5; s++) {
            most = std::max(most, (i + s) % 7 + k * j);
        }
        return most;
    };
    for (int j = 0; j < 11; j++) {
        for (int i = 0; i < 37; i++) {
            ASSERT_EQ(result(i, j), value(i, 0, j) + 2 * value(i + 1, 2, j)) << i << ", " << j;
        }
    }
}

TEST(Storage, OfVectorsThatDoNotLieAlongTheFirstDimension) {
    check_channels_first([](Func f, Func g, Var c, Var x, Var y, const RDom &r) {
        f.compute_at(g, y).bound(c, 0, 3).unroll(c).vectorize(x, 8);
        f.update().reorder(c, r, x, y).unroll(c).vectorize(x, 8);
    });
    check_channels_first([](Func f, Func, Var, Var x, Var, const RDom &) {
        f.compute_root().vectorize(x, 8, TailStrategy::GuardWithIf);
        f.update().vectorize(x, 5, TailStrategy::GuardWithIf);
    });
    check_channels_first([](Func f, Func g, Var, Var x, Var y, const RDom &) {
        f.store_root().compute_at(g, y).fold_storage(y, 2).vectorize(x, 4);
        f.update().vectorize(x, 4);
    });
    check_channels_first([](Func f, Func g, Var, Var x, Var y, const RDom &) {
        f.compute_at(g, y).align_storage(x, 16).vectorize(x, 4);
        f.update().vectorize(x, 4);
    });
}

TEST(Storage, FoldedExplicitlyAndByTheCompiler) {
    check_storage([](Func f, Func g, Var, Var y) { f.compute_at(g, y).store_root(); });
    check_storage(
        [](Func f, Func g, Var, Var y) { f.compute_at(g, y).store_root().fold_storage(y, 2); });
    check_storage(
        [](Func f, Func g, Var, Var y) { f.compute_at(g, y).store_root().fold_storage(y, 8); });
}

/// Where that can be shown, the direction that the schedule gives makes no difference.
TEST(Storage, FoldedWhicheverWayTheWindowMoves) {
    for (bool forward : {true, false}) {
        check_storage([&](Func f, Func g, Var, Var y) {
            f.compute_at(g, y).store_root().fold_storage(y, 2, forward);
        });
        check_storage([&](Func f, Func g, Var x, Var y) {
            f.compute_at(g, x).store_at(g, y).fold_storage(x, 2, forward);
        });
    }
    for (bool forward : {true, false}) {
        Func f("f"), g("g");
        Var x("x"), y("y");
        f(x, y) = 3 * x + 5 * y;
        g(x, y) = f(x, 30 - y) + f(x, 31 - y);
        f.store_root().compute_at(g, y).fold_storage(y, 2, forward);
        Buffer<int> result = g.realize({8, 19});
        result.for_each_element(
            [&](int i, int j) { ASSERT_EQ(result(i, j), 6 * i + 305 - 10 * j) << i << ", " << j; });
    }
}

TEST(Storage, MemoryTypes) {
    for (MemoryType type : {MemoryType::Auto, MemoryType::Heap, MemoryType::Stack}) {
        check_storage([&](Func f, Func g, Var x, Var) { f.compute_at(g, x).store_in(type); });
    }
}

TEST(Storage, BoundIsEnoughOrReported) {
    auto bound = [](Func f, Func g, Var x, Var y) {
        f.compute_at(g, y).bound_storage(x, 40);
    };
    check_storage(bound, 39);
    try {
        check_storage(bound, 40);
        FAIL() << "41 values were stored in 40 places";
    } catch (const RuntimeError &e) {
        EXPECT_EQ(std::string(e.what()).substr(0, 11), "storage of ");
        EXPECT_NE(std::string(e.what()).find("is bounded to 40 in x, must be at least 41"),
                  std::string::npos);
    }
}

/// What is stored at once of a window that moves is one fold of it.
TEST(Storage, BoundIsEnoughForAWindow) {
    for (int bound : {2, 3, 38}) {
        check_storage([&](Func f, Func g, Var x, Var y) {
            f.compute_at(g, x).store_at(g, y).bound_storage(x, bound);
        });
        check_storage([&](Func f, Func g, Var x, Var y) {
            f.compute_at(g, x).store_at(g, y).fold_storage(x, 2).bound_storage(x, bound);
        });
    }
    check_storage([](Func f, Func g, Var, Var y) {
        f.compute_at(g, y).store_root().bound_storage(y, 3).vectorize(Var("x"), 4);
    });
    Func f("window_of_four"), g("g");
    Var x("x");
    f(x) = x;
    g(x) = f(x) + f(x + 1);
    f.store_root().compute_at(g, x).fold_storage(x, 4).bound_storage(x, 2);
    EXPECT_RUNTIME_ERROR(g.realize({10}),
                         "storage of window_of_four is bounded to 2 in x, must be at least 4");
}

TEST(ComputeWith, TwoFuncsShareTheirOuterLoops) {
    for (LoopAlignStrategy align :
         {LoopAlignStrategy::NoAlign, LoopAlignStrategy::AlignStart, LoopAlignStrategy::AlignEnd}) {
        Func a("a"), b("b"), sum("sum");
        Var x("x"), y("y");
        a(x, y) = x * y;
        b(x, y) = x - y;
        sum(x, y) = a(x, y - 2) + b(x + 1, y + 3);
        a.compute_root();
        b.compute_root().compute_with(a, y, align);
        Buffer<int> result = sum.realize({11, 13});
        for (int j = 0; j < 13; j++) {
            for (int i = 0; i < 11; i++) {
                ASSERT_EQ(result(i, j), i * (j - 2) + (i + 1) - (j + 3)) << i << ", " << j;
            }
        }
    }
}

TEST(ComputeWith, UpdatesOfOutputs) {
    Func a("a"), b("b");
    Var x("x"), y("y");
    RDom r(0, 4, "r");
    a(x, y) = x;
    a(x, y) += r * y;
    b(x, y) = y;
    b(x, y) += r * x;
    b.compute_with(a, y);
    b.update().compute_with(a.update(), y);
    Realization both = Pipeline({a, b}).realize({9, 7});
    Buffer<int> first = both[0], second = both[1];
    for (int j = 0; j < 7; j++) {
        for (int i = 0; i < 9; i++) {
            ASSERT_EQ(first(i, j), i + 6 * j);
            ASSERT_EQ(second(i, j), j + 6 * i);
        }
    }
}

size_t most_allocated;
int times_allocated;
void *counting_malloc(JITUserContext *, size_t bytes) {
    most_allocated = std::max(most_allocated, bytes);
    times_allocated++;
    return malloc(bytes);
}
void plain_free(JITUserContext *, void *p) {
    free(p);
}

// What a loop fused of others needs of a Func is known although the quotient of two ranges is not.
TEST(Storage, OfWhatFusedLoopsRead) {
    Var x("x"), y("y"), c("c"), xo("xo"), yo("yo"), t("t");
    Func f("f"), g("g"), h("h");
    f(x, y, c) = x + y + c;
    g(x, y, c) = f(y, x, c) * 2;
    h(x, y, c) = g(y, x, c) + 1;
    f.compute_root();
    g.compute_at(h, t);
    h.tile(x, y, xo, yo, x, y, 8, 8).fuse(yo, c, t);
    for (const Func &output : {h}) {
        output.output_buffer().dim(0).set_bounds(0, 32);
        output.output_buffer().dim(1).set_bounds(0, 48);
        output.output_buffer().dim(2).set_bounds(0, 3);
    }
    h.jit_handlers().custom_malloc = counting_malloc;
    h.jit_handlers().custom_free = plain_free;
    most_allocated = 0;
    Buffer<int> result = h.realize({32, 48, 3});
    EXPECT_LE(most_allocated, 32 * 48 * 3 * sizeof(int) + 256);
    EXPECT_EQ(result(31, 47, 2), (31 + 47 + 2) * 2 + 1);
}

// Storage and production have their conditions from what reads them, which have conditions of their own.
TEST(Storage, IsThereWhereverItsFuncIsProduced) {
    Var x("x"), y("y");
    Param<int> choice("choice");
    Func e("e"), f("f"), g("g"), h("h");
    e(x, y) = cast<uint8_t>(x * 7 + y * 13);
    f(x, y) = cast<int>(e(x, y)) - 2;
    g(x, y) = select(choice > -1, f(x - 1, y) * 2, x * y);
    h(x, y) = select(choice > 0, x + y, g(x, y + 3) * 2);
    g.compute_at(h, x);
    f.store_root().compute_at(g, y);
    e.compute_at(h, y);
    h.jit_handlers().custom_malloc = test::guarded_malloc;
    h.jit_handlers().custom_free = test::guarded_free;
    for (int c : {2, 1, 0, -1}) {
        choice.set(c);
        Buffer<int> result = h.realize({43, 16});
        const int of_e = uint8_t(6 * 7 + 5 * 13), of_g = c > -1 ? (of_e - 2) * 2 : 7 * 5;
        EXPECT_EQ(result(7, 2), c > 0 ? 9 : of_g * 2) << c;
    }
}

/// Channels one after the other, and in each of them a window of rows.
TEST(Storage, FoldedInTwoDimensions) {
    Var x("x"), y("y"), c("c");
    Func f("f"), g("g");
    f(x, y, c) = x + 10 * y + 1000 * c;
    g(x, y, c) = f(x - 1, y + 1, c) + f(x, y - 1, c);
    f.store_root().compute_at(g, x);
    most_allocated = 0;
    g.jit_handlers().custom_malloc = counting_malloc;
    g.jit_handlers().custom_free = plain_free;
    Buffer<int> result = g.realize({20, 200, 3});
    result.for_each_element(
        [&](int i, int j, int k) { ASSERT_EQ(result(i, j, k), 2 * (i + 10 * j + 1000 * k) - 1); });
    EXPECT_LT(most_allocated, 21 * 4 * 4 + 200u);
}

// Storage in the frame whose size is not known: along a chain two blocks take turns.
TEST(Storage, InTheFrameIsUsedAgain) {
    Var x("x"), xo("xo"), xi("xi");
    Param<int> size("size");
    std::vector<Func> chain = {Func("f0")};
    chain[0](x) = x % 17;
    for (int i = 1; i < 12; i++) {
        chain.emplace_back("f" + std::to_string(i));
        chain[i](x) = chain[i - 1](x - 1) + chain[i - 1](x + 1) * i;
    }
    Func last = chain.back();
    Buffer<int> expected = Pipeline(last).realize({15000});
    last.split(x, xo, xi, size);
    for (int i = 0; i < 11; i++) {
        chain[i].compute_at(last, xo).store_in(MemoryType::Stack).vectorize(x, 8);
    }
    last.jit_handlers().custom_malloc = counting_malloc;
    last.jit_handlers().custom_free = plain_free;
    // Two blocks take turns, on the stack while both are small.
    for (const auto &[tile, blocks] : {std::pair(1000, 0), {5000, 2}}) {
        times_allocated = 0;
        size.set(tile);
        Buffer<int> result = last.realize({15000});
        EXPECT_EQ(times_allocated, blocks);
        for (int i = 0; i < 15000; i++) {
            ASSERT_EQ(result(i), expected(i)) << i;
        }
    }
}

TEST(Storage, ExtentsThatAreAligned) {
    Var x("x");
    Func f("f"), g("g");
    f(x) = x * x;
    g(x) = f(x) + f(x + 1);
    f.compute_root().align_extent(x, 16).vectorize(x, 16, TailStrategy::RoundUp);
    g.jit_handlers().custom_malloc = counting_malloc;
    g.jit_handlers().custom_free = plain_free;
    most_allocated = 0;
    Buffer<int> result = g.realize({500});
    EXPECT_GE(most_allocated, 512 * sizeof(int));
    EXPECT_LE(most_allocated, 512 * sizeof(int) + 128);
    EXPECT_EQ(result(499), 499 * 499 + 500 * 500);

    Func whole("whole");
    whole(x) = x;
    whole.align_extent(x, 16);
    Buffer<int> aligned(32), odd(30);
    whole.realize({aligned});
    EXPECT_EQ(aligned(31), 31);
    EXPECT_RUNTIME_ERROR(whole.realize({odd}),
                         "output buffer " + whole.name() +
                             " covers [0, 29] in dimension 0, must cover [0, 31]");
}

// What the checks of one fold remember stands between the storage of another Func and the loop.
TEST(Storage, SeveralFolded) {
    Var x("x"), y("y"), c("c");
    Func a("a"), b("b"), out("out");
    Param<int> stride("stride");
    a(x, y) = x + 2 * y;
    b(x, y) = a(x, y * stride / 2) + a(x, y * stride / 2 + 1);
    out(x, y) = a(x, y * stride) + b(x, y * stride) + b(x, y * stride + 1);
    a.compute_at(out, y).store_root().fold_storage(y, 64);
    b.compute_at(out, y).store_root().fold_storage(y, 4);
    stride.set(1);
    Buffer<int> result = out.realize({8, 24});
    for (int j = 0; j < 24; j++) {
        const auto at = [](int row) {
            return 3 + 2 * row;
        };
        const auto sum = [&](int row) {
            return at(row / 2) + at(row / 2 + 1);
        };
        ASSERT_EQ(result(3, j), at(j) + sum(j) + sum(j + 1)) << j;
    }
}

TEST(Streaming, StoresAtAnyAlignment) {
    // Rows of an odd width begin anywhere; vectors of several registers, and a tail.
    Var x("x"), y("y");
    for (int width : {1, 7, 16, 33, 100}) {
        for (int lanes : {4, 16, 32}) {
            Func f("f"), g("g");
            f(x, y) = cast<uint8_t>(x * 3 + y);
            g(x, y) = f(x, y) + cast<uint8_t>(x);
            f.compute_root().vectorize(x, lanes, TailStrategy::GuardWithIf).stream_stores();
            g.vectorize(x, lanes, TailStrategy::GuardWithIf).stream_stores().stream_loads(f);
            Buffer<uint8_t> all(width + 3, 9);
            all.fill(77);
            Buffer<uint8_t> part = all.cropped(0, 2, width);
            g.realize(part);
            for (int j = 0; j < 9; j++) {
                for (int i = 0; i < width + 3; i++) {
                    const int expected = i >= 2 && i < width + 2 ? (i * 4 + j) % 256 : 77;
                    ASSERT_EQ(all(i, j), expected) << i << ", " << j;
                }
            }
        }
    }
}

/// Loads of few bytes, and those of which few are used: not all of them have such an instruction.
TEST(Streaming, NarrowValues) {
    Var x("x");
    for (int lanes : {1, 2, 8}) {
        Func f("f"), g("g");
        f(x) = Tuple(cast<uint16_t>(x), cast<uint8_t>(x), cast<int64_t>(x) * 65536 + x);
        const Expr wide = cast<int64_t>(f(x)[0]), narrow = cast<int64_t>(f(x)[1]);
        g(x) = select(x % 2 == 0, wide, x % 3 == 0, narrow, cast<int64_t>(cast<uint16_t>(f(x)[2])));
        f.compute_root().vectorize(x, 2, TailStrategy::GuardWithIf);
        g.stream_loads().vectorize(x, lanes, TailStrategy::GuardWithIf);
        Buffer<int64_t> result = g.realize({41});
        for (int i = 0; i < 41; i++) {
            ASSERT_EQ(result(i), i) << i;
        }
    }
}

TEST(Streaming, UpdatesReadWhatWasStreamed) {
    Var x("x");
    Func f("f"), g("g");
    f(x) = x;
    f(x) += 5;
    g(x) = f(x) * 2;
    f.compute_root().vectorize(x, 8).stream_stores();
    f.update().vectorize(x, 8).stream_stores().parallel(x);
    g.vectorize(x, 8).stream_loads();
    Buffer<int> result = g.realize({1000});
    for (int i = 0; i < 1000; i++) {
        ASSERT_EQ(result(i), 2 * i + 10) << i;
    }
}

}  // namespace
