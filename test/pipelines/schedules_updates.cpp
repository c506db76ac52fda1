// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Updates, tuples and boundaries under schedules that change how they run.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "calotype.h"
#include "harness/expect_error.h"

namespace calotype {
namespace {

const Var x("x"), y("y"), c("c"), yo("yo"), yi("yi"), xo("xo"), xi("xi");

int input_at(int i, int j) {
    return (i * 7 + j * 13 + 1000 * 31) % 31;
}

Func input() {
    Func in("in");
    in(x, y) = (x * 7 + y * 13) % 31;
    in.compute_root();
    return in;
}

void expect_all(const Buffer<int> &result, const std::function<int(int, int)> &expected) {
    for (int j = 0; j < result.dim(1).extent(); j++) {
        for (int i = 0; i < result.dim(0).extent(); i++) {
            ASSERT_EQ(result(i, j), expected(i, j)) << "at " << i << ", " << j;
        }
    }
}

int sum_of_row(int j, int n) {
    int sum = 0;
    for (int i = 0; i < n; i++) {
        sum += input_at(i, j);
    }
    return sum;
}

void expect_sums_of_rows(Func &f) {
    Buffer<int> result = f.realize({20});
    for (int j = 0; j < 20; j++) {
        ASSERT_EQ(result(j), sum_of_row(j, 64)) << j;
    }
}

TEST(AtomicUpdates, sums_over_lanes) {
    Func f("f"), in = input();
    RDom r(0, 64);
    f(y) = 0;
    f(y) += in(r, y);
    f.update().atomic().vectorize(r, 8);
    expect_sums_of_rows(f);
}

TEST(AtomicUpdates, sums_over_lanes_of_several_elements) {
    Func f("f"), in = input();
    RDom r(0, 64);
    RVar ro("ro"), ri("ri");
    f(y) = 0;
    f(y) += in(r, y);
    f.update()
        .split(r, ro, ri, 8)
        .split(y, yo, yi, 4)
        .reorder(ri, yi, ro, yo)
        .atomic()
        .vectorize(ri)
        .vectorize(yi);
    expect_sums_of_rows(f);
}

TEST(AtomicUpdates, sums_over_lanes_outside) {
    Func f("f"), in = input();
    RDom r(0, 64);
    RVar ro("ro"), ri("ri");
    f(y) = 0;
    f(y) += in(r, y);
    f.update()
        .split(r, ro, ri, 8)
        .split(y, yo, yi, 4)
        .reorder(yi, ri, ro, yo)
        .atomic()
        .vectorize(ri)
        .vectorize(yi);
    expect_sums_of_rows(f);
}

TEST(AtomicUpdates, largest_of_a_guarded_vector) {
    Func f("f"), in = input();
    RDom r(0, 61);
    f(y) = -1000;
    f(y) = max(f(y), in(r, y));
    f.update().atomic().vectorize(r, 8);
    Buffer<int> result = f.realize({20});
    for (int j = 0; j < 20; j++) {
        int largest = -1000;
        for (int i = 0; i < 61; i++) {
            largest = std::max(largest, input_at(i, j));
        }
        ASSERT_EQ(result(j), largest) << j;
    }
}

TEST(AtomicUpdates, histogram_on_many_threads) {
    Func h("h"), in = input();
    RDom r(0, 64, 0, 64);
    h(x) = 0;
    h(clamp(in(r.x, r.y), 0, 30)) += 1;
    h.update().atomic().parallel(r.y).vectorize(r.x, 8);
    Buffer<int> result = h.realize({31});
    std::vector<int> expected(31);
    for (int j = 0; j < 64; j++) {
        for (int i = 0; i < 64; i++) {
            expected[input_at(i, j)]++;
        }
    }
    for (int i = 0; i < 31; i++) {
        ASSERT_EQ(result(i), expected[i]) << i;
    }
}

TEST(AtomicUpdates, that_read_what_they_replace_twice) {
    Func count("count");
    RDom r(0, 1 << 16);
    count(x) = 0;
    count(r % 3) = select(count(r % 3) == 9, 0, count(r % 3) + 1);  // modulo ten, in any order
    count.update().atomic(true).parallel(r, 64);
    Buffer<int> result = count.realize({3});
    EXPECT_EQ(result(0), 21846 % 10);
    EXPECT_EQ(result(1), 21845 % 10);
    EXPECT_EQ(result(2), 21845 % 10);
}

TEST(AtomicUpdates, of_tuples_hold_a_lock) {
    Func m("m"), f("f");
    RDom r(0, 1000);
    m(x) = Tuple(0, 0);
    m(r % 7) = Tuple(m(r % 7)[0] + 1, m(r % 7)[1] + r);
    m.update().atomic(true).parallel(r);
    m.compute_root();
    f(x, y) = m(x)[0] * 1000000 + m(x)[1] + y;
    expect_all(f.realize({7, 2}), [](int i, int j) {
        int count = 0, sum = 0;
        for (int k = i; k < 1000; k += 7) {
            count++;
            sum += k;
        }
        return count * 1000000 + sum + j;
    });
}

TEST(Tuples, values_are_swapped) {
    for (bool vectorized : {false, true}) {
        Func m("m"), f("f");
        m(x) = Tuple(x, 2 * x);
        m(x) = Tuple(m(x)[1], m(x)[0]);
        m.compute_root();
        f(x, y) = m(x)[0] * 1000 + m(x)[1] + y;
        if (vectorized) {
            m.vectorize(x, 4).update().vectorize(x, 4);
            f.vectorize(x, 4);
        }
        expect_all(f.realize({20, 4}), [](int i, int j) { return 2 * i * 1000 + i + j; });
    }
}

TEST(Undef, leaves_what_was_there) {
    Func f("f"), g("g");
    f(x, y) = x + y;
    f(x, y) = select(x < 5, 7, undef<int>());
    f.compute_root().vectorize(x, 8).update().vectorize(x, 8);
    g(x, y) = f(x, y);
    expect_all(g.realize({24, 4}), [](int i, int j) { return i < 5 ? 7 : i + j; });
}

TEST(Requirements, of_vectors_are_checked_once) {
    Param<int> p("p");
    Func f("f");
    f(x) = require(p > 0, x / p, "p must be positive");
    f.vectorize(x, 4);
    p.set(2);
    Buffer<int> result = f.realize({16});
    EXPECT_EQ(result(9), 4);
    p.set(0);
    EXPECT_RUNTIME_ERROR(f.realize({16}), "requirement failed: p > 0: p must be positive");
}

TEST(Bools, in_memory) {
    Func b("b"), f("f");
    b(x, y) = x > y;
    b.compute_root().vectorize(x, 8);
    f(x, y) = select(b(x, y) && !b(y, x), 1, 0);
    f.vectorize(x, 8);
    expect_all(f.realize({32, 16}), [](int i, int j) { return i > j ? 1 : 0; });
}

TEST(Interleaving, planes_to_pixels) {
    Func g("g"), in = input();
    g(c, x) = in(x * 3 + c, 0) * (c + 1);
    g.bound(c, 0, 3).unroll(c).vectorize(x, 8).reorder(c, x);
    expect_all(g.realize({3, 64}), [](int i, int j) { return input_at(j * 3 + i, 0) * (i + 1); });
}

TEST(Interleaving, every_other_element) {
    Func g("g"), in = input();
    g(x, y) = in(2 * x, y) + in(2 * x + 1, y) * 10;
    g.vectorize(x, 8);
    expect_all(g.realize({32, 8}),
               [](int i, int j) { return input_at(2 * i, j) + input_at(2 * i + 1, j) * 10; });
}

TEST(Interleaving, every_element_twice) {
    Func g("g"), in = input();
    g(x, y) = in(x / 2, y / 2) + x;
    g.vectorize(x, 8);
    expect_all(g.realize({64, 16}), [](int i, int j) { return input_at(i / 2, j / 2) + i; });
}

TEST(Updates, scan) {
    Func s("s"), in = input();
    RDom r(1, 49);
    s(x, y) = in(x, y);
    s(x, r) += s(x, r - 1);
    s.vectorize(x, 8).update().vectorize(x, 8);
    expect_all(s.realize({40, 50}), [](int i, int j) {
        int sum = 0;
        for (int k = 0; k <= j; k++) {
            sum += input_at(i, k);
        }
        return sum;
    });
}

// Iterations cannot race where there is one alone, in however many lanes that are guarded.
TEST(Updates, over_one_value_may_be_parallel) {
    for (int factor : {1, 4}) {
        Func in = input(), f("f");
        RDom r(2, 1);
        RVar ro("ro"), ri("ri");
        f(x, y) = 1;
        f(x, y) += in(x, r) + r;
        f.update().split(r, ro, ri, factor, TailStrategy::GuardWithIf).vectorize(ri).parallel(ro);
        expect_all(f.realize({20, 5}), [](int i, int) { return 3 + input_at(i, 2); });
    }
}

/// One thread makes all of it, so that nothing has to be atomic: what reads elements other than the
/// one it replaces takes no lock.
TEST(Updates, atomic_ones_of_an_asynchronous_func) {
    Func f("f"), out("out");
    RDom r(0, 8);
    f(x, y) = cast<float>(x + y);
    f(r + 8, y) = f(r, y) * 3 + 1;
    out(x, y) = f(x, y);
    f.compute_root().async();
    f.update().atomic(true).vectorize(r, 8);
    Buffer<float> result = out.realize({16, 5});
    result.for_each_element([&](int i, int j) {
        EXPECT_EQ(result(i, j), i < 8 ? float(i + j) : float(i - 8 + j) * 3 + 1) << i << " " << j;
    });
}

TEST(Updates, triangle) {
    Func s("s"), in = input();
    RDom r(0, 20, 0, 20);
    r.where(r.x <= r.y);
    s(x, y) = 0;
    s(x, y) += in(x + r.x, y + r.y);
    s.update().vectorize(x, 8);
    expect_all(s.realize({16, 8}), [](int i, int j) {
        int sum = 0;
        for (int b = 0; b < 20; b++) {
            for (int a = 0; a <= b; a++) {
                sum += input_at(i + a, j + b);
            }
        }
        return sum;
    });
}

TEST(Updates, of_a_sliding_window) {
    Func g("g"), f("f");
    RDom r(0, 3);
    g(x, y) = x;
    g(x, y) += y * (r + 1);
    f(x, y) = g(x, y - 1) + g(x, y) * 2 + g(x, y + 1);
    g.store_root().compute_at(f, y).vectorize(x, 8).update().vectorize(x, 8);
    f.vectorize(x, 8);
    expect_all(f.realize({32, 40}),
               [](int i, int j) { return 4 * i + 6 * (j - 1) + 12 * j + 6 * (j + 1); });
}

TEST(Pyramids, slide_at_half_the_pace) {
    auto d1 = [](int i, int j) {
        return (input_at(2 * i, j) + input_at(2 * i + 1, 2 * j)) / 3;
    };
    auto d2 = [=](int i, int j) {
        return (d1(2 * i, j) + d1(2 * i + 1, 2 * j)) / 2;
    };
    Func in = input(), down1("down1"), down2("down2"), up("up");
    down1(x, y) = (in(2 * x, y) + in(2 * x + 1, 2 * y)) / 3;
    down2(x, y) = (down1(2 * x, y) + down1(2 * x + 1, 2 * y)) / 2;
    up(x, y) = down2(x / 2, y / 2) + down2((x + 1) / 2, (y + 1) / 2) + down1(x, y);
    down1.compute_root().vectorize(x, 8);
    down2.store_root().compute_at(up, y);
    up.vectorize(x, 8);
    expect_all(up.realize({40, 30}), [&](int i, int j) {
        return d2(i / 2, j / 2) + d2((i + 1) / 2, (j + 1) / 2) + d1(i, j);
    });
}

/// Cross-shaped sum of an image extended beyond its edges by `at`.
void expect_cross(Func extended, const std::function<int(int, int)> &at) {
    Func f("f");
    f(x, y) = extended(x - 2, y) + extended(x + 2, y) + extended(x, y - 3) + extended(x, y + 3);
    f.vectorize(x, 8).parallel(y);
    expect_all(f.realize({64, 48}), [&](int i, int j) {
        return at(i - 2, j) + at(i + 2, j) + at(i, j - 3) + at(i, j + 3);
    });
}

Buffer<int> image() {
    Buffer<int> im(64, 48);
    for (int j = 0; j < 48; j++) {
        for (int i = 0; i < 64; i++) {
            im(i, j) = input_at(i, j);
        }
    }
    return im;
}

TEST(Boundaries, repeat_edge) {
    Buffer<int> im = image();
    expect_cross(BoundaryConditions::repeat_edge(im),
                 [&](int i, int j) { return im(std::clamp(i, 0, 63), std::clamp(j, 0, 47)); });
}

TEST(Boundaries, constant_exterior) {
    Buffer<int> im = image();
    expect_cross(BoundaryConditions::constant_exterior(im, 5),
                 [&](int i, int j) { return i < 0 || j < 0 || i > 63 || j > 47 ? 5 : im(i, j); });
}

TEST(Boundaries, of_extents_given_one_by_one) {
    Buffer<int> im = image();
    const auto at_edge = [&](int i, int j) {
        return im(std::clamp(i, 0, 63), std::clamp(j, 0, 47));
    };
    expect_cross(BoundaryConditions::repeat_edge(im, 0, 64, 0, im.height()), at_edge);
    Func f("f");
    Var u("u"), v("v");
    f(u, v) = im(u, v);
    expect_cross(BoundaryConditions::repeat_edge(f, 0, 64, 0, 48), at_edge);
    expect_cross(BoundaryConditions::constant_exterior(f, 5, 0, 64, 0, 48),
                 [&](int i, int j) { return i < 0 || j < 0 || i > 63 || j > 47 ? 5 : im(i, j); });
    Func rows = BoundaryConditions::constant_exterior(f, Tuple(7), Expr(), Expr(), 0, 48);
    Buffer<int> above = rows.realize({64, 50});
    EXPECT_EQ(above(63, 47), im(63, 47));
    EXPECT_EQ(above(63, 48), 7);
}

TEST(Boundaries, mirror_interior) {
    Buffer<int> im = image();
    auto mirror = [](int v, int n) {
        return v < 0 ? -v : v > n - 1 ? 2 * (n - 1) - v : v;
    };
    expect_cross(BoundaryConditions::mirror_interior(im),
                 [&](int i, int j) { return im(mirror(i, 64), mirror(j, 48)); });
}

// Without a schedule, a Func that cannot be inlined is computed at each statement that uses it:
// here one of several stores, and a condition.
TEST(Updates, UnscheduledFuncsThatScattersAndConditionsRead) {
    Var v("v");
    RDom r(0, 4);
    Func f("f"), g("g"), h("h");
    f(v) = v;
    f(0) = 5;
    g(v) = 0;
    g(scatter(r, r + 1)) = gather(f(r + 1), f(r));
    h(v) = g(v) + f(v);
    g.compute_root();
    Buffer<int> result = h.realize({5});
    int expected[5] = {};
    const auto at = [](int i) {
        return i == 0 ? 5 : i;
    };
    for (int i = 0; i < 4; i++) {
        expected[i] = at(i + 1);
        expected[i + 1] = at(i);
    }
    for (int i = 0; i < 5; i++) {
        EXPECT_EQ(result(i), expected[i] + at(i)) << i;
    }

    RDom q(0, 8);
    q.where(f(q) % 2 == 1);
    Func odd("odd");
    odd(v) = 0;
    odd(q) = 1;
    Buffer<int> parities = odd.realize({8});
    for (int i = 0; i < 8; i++) {
        EXPECT_EQ(parities(i), at(i) % 2) << i;
    }
}

}  // namespace
}  // namespace calotype
