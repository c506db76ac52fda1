// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions and their factoring, against plain loops.
#include <gtest/gtest.h>

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdint>
#include <vector>

#include "calotype.h"

namespace calotype {
namespace {

Var x("x"), y("y"), u("u");

int input_value(int i) {
    return ((i * 37 + 11) % 97 + 97) % 97;
}

Func input() {
    Func f("input");
    f(x) = (x * 37 + 11) % 97;
    f.compute_root();
    return f;
}

TEST(Rfactor, sum_of_a_split_that_does_not_divide) {
    Func f("f"), in = input();
    RDom r(0, 1003);
    RVar ro("ro"), ri("ri");
    f() = 0;
    f() += in(r);
    f.update().split(r, ro, ri, 8);
    f.update().rfactor(ri, u).compute_root().vectorize(u, 8).update().vectorize(u, 8);
    Buffer<int> result = f.realize();
    int expected = 0;
    for (int i = 0; i < 1003; i++) {
        expected += input_value(i);
    }
    EXPECT_EQ(result(), expected);
}

TEST(Rfactor, into_a_func_that_preserves_nothing) {
    Func f("f"), in = input();
    RDom r(0, 20);
    f() = 3;
    f() += in(r);
    f.update().rfactor({}).compute_root();
    Buffer<int> result = f.realize();
    int expected = 3;
    for (int i = 0; i < 20; i++) {
        expected += input_value(i);
    }
    EXPECT_EQ(result(), expected);
}

// What is preserved is computed in vectors that do not divide its extent.
TEST(Rfactor, vectors_of_a_whole_rvar_read_no_more_than_it) {
    for (const bool is_constant : {true, false}) {
        ImageParam in(Int(32), 1, "in");
        Func f("f");
        RDom r(0, is_constant ? Expr(37) : in.width());
        f() = 0;
        f() += in(r);
        f.update().rfactor(r, u).compute_root().vectorize(u, 16).update().vectorize(u, 16);
        Buffer<int> image(37);
        int expected = 0;
        for (int i = 0; i < 37; i++) {
            image(i) = input_value(i);
            expected += image(i);
        }
        in.set(image);
        Buffer<int> result = f.realize();
        EXPECT_EQ(result(), expected);
    }
}

TEST(Rfactor, parts_of_a_split_read_no_more_than_the_whole) {
    for (const bool is_constant : {true, false}) {
        ImageParam in(Int(8), 1, "in");
        Func f("f");
        RDom r(0, is_constant ? Expr(1003) : in.dim(0).extent());
        RVar ro("ro"), ri("ri");
        f() = 0;
        f() += cast<int>(in(r));
        f.update().split(r, ro, ri, 128, TailStrategy::GuardWithIf);
        f.update().rfactor(ro, u).compute_root();
        Buffer<int8_t> ones(1003);
        ones.fill(1);
        in.set(ones);
        EXPECT_EQ(Buffer<int>(f.realize())(), 1003);
    }
}

TEST(Rfactor, of_several_choices_and_sums_at_once) {
    Func f("f"), in = input();
    RDom r(0, 1000);
    RVar ro("ro"), ri("ri"), rio("rio"), rii("rii");
    Var v("v");
    f() = {INT_MAX, 0, 0, INT_MIN, -1, 1};
    f() = {min(f()[0], in(r)),
           f()[1] + in(r),
           select(f()[0] <= in(r), f()[2], r),
           max(f()[3], in(r)),
           select(f()[3] >= in(r), f()[4], r),
           f()[5] * select(in(r) % 2 == 0, 3, 5)};
    f.update().split(r, ro, ri, 64);
    Func part = f.update().rfactor(ro, u).compute_root();
    part.update()
        .parallel(u)
        .split(ri, rio, rii, 8)
        .rfactor(rii, v)
        .compute_at(part, u)
        .vectorize(v)
        .update()
        .vectorize(v);
    int least = INT_MAX, sum = 0, first_least = 0, most = INT_MIN, first_most = -1;
    uint32_t product = 1;
    for (int i = 0; i < 1000; i++) {
        const int value = input_value(i);
        first_least = value < least ? i : first_least;
        first_most = value > most ? i : first_most;
        least = std::min(least, value);
        most = std::max(most, value);
        sum += value;
        product *= value % 2 == 0 ? 3 : 5;
    }
    const Realization result = f.realize();
    const int expected[] = {least, sum, first_least, most, first_most, int(product)};
    for (size_t i = 0; i < 6; i++) {
        EXPECT_EQ(Buffer<int>(result[i])(), expected[i]) << i;
    }
}

TEST(Rfactor, histogram_by_rows) {
    Func f("f");
    RDom r(0, 50, 0, 40);
    f(x) = 0;
    f((r.x * r.y) % 16) += 1;
    f.update().rfactor(r.y, u).compute_root().update().parallel(u);
    f.bound(x, 0, 16);
    Buffer<int> result = f.realize({16});
    int expected[16] = {};
    for (int j = 0; j < 40; j++) {
        for (int i = 0; i < 50; i++) {
            expected[i * j % 16]++;
        }
    }
    for (int i = 0; i < 16; i++) {
        EXPECT_EQ(result(i), expected[i]) << i;
    }
}

TEST(Rfactor, argmin) {
    Func f("f"), in = input();
    RDom r(0, 90);
    RVar ro("ro"), ri("ri");
    f() = Tuple(0, Int(32).max());
    f() = Tuple(select(in(r) < f()[1], r, f()[0]), min(in(r), f()[1]));
    f.update().split(r, ro, ri, 10);
    f.update().rfactor(ro, u).compute_root();
    Realization result = f.realize();
    int best = 0;
    for (int i = 0; i < 90; i++) {
        best = input_value(i) < input_value(best) ? i : best;
    }
    EXPECT_EQ(Buffer<int>(result[0])(), best);
    EXPECT_EQ(Buffer<int>(result[1])(), input_value(best));
}

TEST(Rfactor, fused_loops_and_a_condition) {
    Func f("f");
    RDom r(0, 7, 3, 9);
    r.where(r.x + r.y < 12);
    RVar fused("fused"), fo("fo"), fi("fi");
    f(x) = 0;
    f(x) += r.x * r.y + x;
    f.update().fuse(r.x, r.y, fused).split(fused, fo, fi, 4);
    f.update().rfactor(fi, u).compute_root();
    Buffer<int> result = f.realize({5});
    for (int k = 0; k < 5; k++) {
        int expected = 0;
        for (int j = 3; j < 12; j++) {
            for (int i = 0; i < 7; i++) {
                expected += i + j < 12 ? i * j + k : 0;
            }
        }
        EXPECT_EQ(result(k), expected);
    }
}

/// A specialization may store at all places where the update itself stores at some.
TEST(Rfactor, of_a_specialization) {
    Func f("f"), g("g");
    Var x("x"), y("y"), u("u");
    RDom r(1, 6, 2, 5);
    Param<int> p("p");
    f(x, y) = x * y;
    f.compute_root();
    g(x, y) = 20;
    g(r.x, r.y) = min(g(r.x, r.y), f(r.x, r.y) + 2);
    g.update().specialize(p > 4).rfactor(r.y, u).compute_root();
    for (int value : {2, 7}) {
        p.set(value);
        Buffer<int> result = g.realize({10, 9});
        result.for_each_element([&](int i, int j) {
            const bool inside = i >= 1 && i < 7 && j >= 2 && j < 7;
            ASSERT_EQ(result(i, j), inside ? std::min(20, i * j + 2) : 20) << i << ", " << j;
        });
    }
}

/// Each case may be factored in its own way, the one without a condition last.
TEST(Rfactor, of_specializations_and_of_what_they_leave) {
    Func f("f"), g("g");
    RDom r(0, 6, 0, 5, 0, 4);
    r.where(r.x + r.y > r.z);
    Param<int> p("p");
    Param<bool> q("q");
    Var x("x"), u("u"), v("v"), t("t");
    RVar ro("ro"), ri("ri");
    f(x) = x * x - 3 * x;
    f.compute_root();
    g(x) = x;
    g(x) += f(r.x + x) * r.y + r.z;
    Func by_z = g.update().specialize(p >= 5).rfactor({{r.y, u}, {r.z, v}}).compute_root();
    by_z.update().split(r.x, ro, ri, 2);
    by_z.update().specialize(q).rfactor(ri, t).compute_root();
    by_z.update().specialize(!q).rfactor(ro, t).compute_root();
    g.update().rfactor({{r.x, u}, {r.z, v}}).compute_root();
    for (int choice = 0; choice < 4; choice++) {
        p.set(choice & 1 ? 5 : 4);
        q.set(choice & 2);
        Buffer<int> result = g.realize({9});
        for (int i = 0; i < 9; i++) {
            int expected = i;
            for (int rz = 0; rz < 4; rz++) {
                for (int ry = 0; ry < 5; ry++) {
                    for (int rx = std::max(0, rz - ry + 1); rx < 6; rx++) {
                        expected += ((rx + i) * (rx + i) - 3 * (rx + i)) * ry + rz;
                    }
                }
            }
            ASSERT_EQ(result(i), expected) << i << " in case " << choice;
        }
    }
}

TEST(Rfactor, updates_that_add_nothing_or_only_what_is_more) {
    Func f("f"), g("g");
    Var x("x"), u("u"), v("v");
    RDom r(0, 10);
    f(x) = x;
    f(r) = f(r);
    f.update().rfactor(r, u).compute_root();
    g() = 3;
    g() = max(g() + (r - 5), g());
    RVar ro("ro"), ri("ri");
    g.update().split(r, ro, ri, 4).rfactor(ri, v).compute_root();
    Buffer<int> same = f.realize({10}), grown = g.realize();
    same.for_each_element([&](int i) { ASSERT_EQ(same(i), i); });
    EXPECT_EQ(grown(), 3 + 1 + 2 + 3 + 4);
}

TEST(Rfactor, largest_that_is_no_number_if_one_is) {
    for (int nan_at : {-1, 0, 5, 11}) {
        Buffer<float> in(12);
        in.for_each_element([&](int i) { in(i) = i == nan_at ? NAN : float(i * 7 % 12); });
        Func f("f");
        Var u("u");
        RDom r(0, 12);
        RVar ro("ro"), ri("ri");
        f() = Float(32).min();
        f() = select(f() > in(r) || is_nan(f()), f(), in(r));
        f.update().split(r, ro, ri, 4).rfactor(ri, u).compute_root();
        Buffer<float> result =
            f.realize({}, get_jit_target_from_environment().with_feature(Target::StrictFloat));
        EXPECT_EQ(std::isnan(result()), nan_at >= 0);
        EXPECT_TRUE(nan_at >= 0 || result() == 11);
    }
}

TEST(InlineReductions, all) {
    Func f("f"), in = input();
    RDom r(0, 5), s(-1, 3);
    f(x) = Tuple(sum(in(x + r)), maximum(in(x + s)), minimum(s, in(x + s)),
                 product(r, in(x) % 3 + 1), saturating_sum(cast<uint8_t>(in(x + r))));
    Realization result = f.realize({20});
    Buffer<int> sums = result[0], highest = result[1], lowest = result[2], products = result[3];
    Buffer<uint8_t> saturated = result[4];
    for (int i = 0; i < 20; i++) {
        int total = 0, product = 1, high = INT_MIN, low = INT_MAX;
        for (int k = 0; k < 5; k++) {
            total += input_value(i + k);
            product *= input_value(i) % 3 + 1;
        }
        for (int k = -1; k < 2; k++) {
            high = std::max(high, input_value(i + k));
            low = std::min(low, input_value(i + k));
        }
        EXPECT_EQ(sums(i), total);
        EXPECT_EQ(products(i), product);
        EXPECT_EQ(highest(i), high);
        EXPECT_EQ(lowest(i), low);
        EXPECT_EQ(saturated(i), std::min(total, 255));
    }
}

TEST(InlineReductions, position_of_the_largest) {
    RDom r(0, 10, 0, 10);
    Func f("f");
    Tuple best = argmax((r.x * 3 + r.y * 7) % 61);
    f() = best;
    Realization result = f.realize();
    int at_x = 0, at_y = 0, high = -1;
    for (int j = 0; j < 10; j++) {
        for (int i = 0; i < 10; i++) {
            if ((i * 3 + j * 7) % 61 > high) {
                high = (i * 3 + j * 7) % 61;
                at_x = i;
                at_y = j;
            }
        }
    }
    EXPECT_EQ(Buffer<int>(result[0])(), at_x);
    EXPECT_EQ(Buffer<int>(result[1])(), at_y);
    EXPECT_EQ(Buffer<int>(result[2])(), high);
}

/// Ints of which the last lies before memory that nobody may touch.
class BeforeForbiddenMemory {
public:
    explicit BeforeForbiddenMemory(int count)
        : count_(count), page_(size_t(sysconf(_SC_PAGESIZE))) {
        memory_ = static_cast<uint8_t *>(
            mmap(nullptr, 2 * page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        mprotect(memory_ + page_, page_, PROT_NONE);
    }
    BeforeForbiddenMemory(const BeforeForbiddenMemory &) = delete;
    ~BeforeForbiddenMemory() {
        munmap(memory_, 2 * page_);
    }
    int *data() const {
        return reinterpret_cast<int *>(memory_ + page_) - count_;
    }

private:
    const int count_;
    const size_t page_;
    uint8_t *memory_;
};

// The steady state of a window begins where its place says, which is read in front of the loops; but not where a condition
// that the reads are under has kept what is required of the places small.
TEST(Reductions, windows_at_places_that_are_read) {
    const int width = 23, height = 17, radius = 2, windows = 40, placed = 11;
    Buffer<int> image(width, height);
    image.fill([](int i, int j) { return (i * 37 + j * 11) % 101 - 50; });
    const BeforeForbiddenMemory memory(placed);
    for (const bool exterior : {true, false}) {
        for (int kind = 0; kind < 4; kind++) {
            const int count = kind < 2 ? windows : placed;
            std::vector<int> all(windows);
            for (int k = 0; k < windows; k++) {
                all[k] = (k * 53) % 41 - 9;  // many windows lie across an edge, or outside
            }
            std::copy_n(all.begin(), placed, memory.data());
            Buffer<int> at(kind < 2 ? all.data() : memory.data(), count);
            ImageParam in(Int(32), 2, "in"), place(Int(32), 1, "place");
            Param<int> last("last");
            Func window("window"), edge = exterior ? BoundaryConditions::constant_exterior(in, 7)
                                                   : BoundaryConditions::repeat_edge(in);
            RDom r(-radius, 2 * radius + 1, -radius, 2 * radius + 1);
            if (kind == 1) {
                r.where(abs(r.x) + r.y < place(x) % 4);
            } else if (kind == 2) {
                r.where(x < last);
            } else if (kind == 3) {
                r.where(x + abs(r.x) - abs(r.x) < last && abs(r.y) < 2);
            }
            window(x) = 0;
            window(x) += edge(place(x) + r.x, place(x) / 2 + r.y);
            in.set(image);
            place.set(at);
            last.set(placed);
            Buffer<int> result = window.realize({windows});
            for (int k = 0; k < windows; k++) {
                int expected = 0;
                for (int j = -radius; j <= radius; j++) {
                    for (int i = -radius; i <= radius; i++) {
                        const int remainder = ((all[k] % 4) + 4) % 4;
                        const bool counts = kind == 0   ? true
                                            : kind == 1 ? std::abs(i) + j < remainder
                                            : kind == 2 ? k < placed
                                                        : k < placed && std::abs(j) < 2;
                        const int px = all[k] + i,
                                  py = (all[k] - (all[k] % 2 != 0 && all[k] < 0)) / 2 + j;
                        const int cx = std::clamp(px, 0, width - 1),
                                  cy = std::clamp(py, 0, height - 1);
                        const bool outside = px != cx || py != cy;
                        expected += !counts ? 0 : outside && exterior ? 7 : image(cx, cy);
                    }
                }
                ASSERT_EQ(result(k), expected)
                    << "window " << k << ", kind " << kind << ", exterior " << exterior;
            }
        }
    }
}

// A window runs over the places alone at which something is added, as far as inputs say where those are; and what a condition
// keeps from being read is not read to find them.
TEST(Reductions, windows_end_where_inputs_say) {
    const int width = 23, height = 17, radius = 3, windows = 40, placed = 11;
    Buffer<int> image(width, height);
    image.fill([](int i, int j) { return (i * 37 + j * 11) % 101 - 50; });
    std::vector<int> all(windows);
    for (int k = 0; k < windows; k++) {
        all[k] = (k * 53) % 41 - 9;
    }
    const BeforeForbiddenMemory memory(placed);
    std::copy_n(all.begin(), placed, memory.data());
    for (int kind = 0; kind < 3; kind++) {
        const bool is_short = kind == 2;
        Buffer<int> at(is_short ? memory.data() : all.data(), is_short ? placed : windows);
        ImageParam in(Int(32), 2, "in"), place(Int(32), 1, "place");
        Param<int> last("last");
        Func window("window"), zeros = BoundaryConditions::constant_exterior(in, 0);
        RDom r(-radius, 2 * radius + 1, -radius, 2 * radius + 1);
        const Expr is_near = cast<int>(max(abs(r.x), abs(r.y))) < place(x) % 4;
        Expr weight = r.x + 5;
        if (kind == 1) {
            r.where(is_near);
        } else if (kind == 2) {
            r.where(x < last);
            weight = select(is_near, weight, 0);
        }
        window(x) = 0;
        window(x) += zeros(place(x) + r.x, place(x) / 2 + r.y) * weight;
        in.set(image);
        place.set(at);
        last.set(placed);
        Buffer<int> result = window.realize({windows});
        for (int k = 0; k < windows; k++) {
            const int x0 = all[k], y0 = int(std::floor(x0 / 2.0));
            const int reach = kind == 0 ? radius : std::min(radius, ((x0 % 4) + 4) % 4 - 1);
            int expected = 0;
            for (int j = -reach; j <= reach && (!is_short || k < placed); j++) {
                for (int i = -reach; i <= reach; i++) {
                    const int px = x0 + i, py = y0 + j;
                    const bool inside = px >= 0 && px < width && py >= 0 && py < height;
                    expected += inside ? image(px, py) * (i + 5) : 0;
                }
            }
            ASSERT_EQ(result(k), expected) << "window " << k << ", kind " << kind;
        }
    }
}

TEST(Reductions, triangle) {
    Func f("f");
    RDom r(0, 10, 0, 10);
    r.where(r.x < r.y);
    f() = 0;
    f() += r.x * r.y;
    Buffer<int> result = f.realize();
    int expected = 0;
    for (int j = 0; j < 10; j++) {
        for (int i = 0; i < j; i++) {
            expected += i * j;
        }
    }
    EXPECT_EQ(result(), expected);
}

TEST(Reductions, atomic_in_parallel_and_in_vectors) {
    Func f("f"), g("g"), in = input();
    RDom r(0, 1000);
    RVar ro("ro"), ri("ri");
    f(x) = 0;
    f(r % 7) += r;
    f.update().atomic().parallel(r, 10);
    Buffer<int> result = f.realize({7});
    int expected[7] = {}, total = 0;
    for (int i = 0; i < 1000; i++) {
        expected[i % 7] += i;
        total += input_value(i);
    }
    for (int i = 0; i < 7; i++) {
        EXPECT_EQ(result(i), expected[i]);
    }
    g() = 0;
    g() += in(r);
    g.update().split(r, ro, ri, 8).atomic().vectorize(ri);
    Buffer<int> sum = g.realize();
    EXPECT_EQ(sum(), total);
}

/// Where an atomic update stores is the result of a reduction, with one value or two that depend on each other, and so is what
/// an update under a lock stores.
TEST(Reductions, atomic_updates_at_places_that_are_reduced) {
    const int n = 20000, window = 5;
    Func g("g");
    g(x) = (x * 7919) % 64;
    g.compute_root();
    RDom r(0, n), k(0, window);
    const Tuple least = argmin(k, g(r + k), "least");
    const auto count = [&](const Expr &place) {
        Func f("f");
        f(x) = 0;
        f(clamp(place, 0, 63)) += 1;
        f.update().atomic().parallel(r, 64);
        return Buffer<int>(f.realize({64}));
    };
    const auto last = [&](const Expr &place) {
        Func f("f");
        f(x) = {-1, -1};
        const Expr at = clamp(place, 0, 63);
        f(at) = {max(f(at)[0], r), select(r > f(at)[0], r * 2 + least[0], f(at)[1])};
        f.update().atomic(true).parallel(r, 64);
        return f.realize({64});
    };
    for (const bool by_value : {false, true}) {
        std::vector<int> counts(64), latest(64, -1), stored(64, -1);
        for (int i = 0; i < n; i++) {
            int where = 0;
            const auto value = [&](int j) {
                return ((i + j) * 7919) % 64;
            };
            for (int j = 1; j < window; j++) {
                where = value(j) < value(where) ? j : where;
            }
            const int at = by_value ? value(where) : where;
            counts[size_t(at)]++;
            latest[size_t(at)] = i;
            stored[size_t(at)] = i * 2 + where;
        }
        const Expr place = least[by_value ? 1 : 0];
        const Buffer<int> counted = count(place);
        const Realization updated = last(place);
        const Buffer<int> newest = updated[0], values = updated[1];
        for (int i = 0; i < 64; i++) {
            EXPECT_EQ(counted(i), counts[size_t(i)]) << i;
            EXPECT_EQ(newest(i), latest[size_t(i)]) << i;
            EXPECT_EQ(values(i), stored[size_t(i)]) << i;
        }
    }
}

/// Both values go to the place that the old ones say, though storing the first changes what says so.
TEST(TupleUpdates, go_to_a_place_that_they_change) {
    constexpr int n = 10, min = -1;
    Func f("f");
    Param<int> shift("shift");
    RDom r(0, n);
    f(x) = Tuple((x * 7 + 2) % n, x);
    const Expr place = unsafe_promise_clamped(f(r)[0] + shift, min, n);
    f(place) = Tuple(f(place)[0] * 3 % n, f(place)[1] + r);
    Buffer<int> first(n + 2), second(n + 2);
    first.set_min(min);
    second.set_min(min);
    shift.set(0);
    f.realize({first, second});

    int a[n + 2], b[n + 2];
    for (int i = min; i <= n; i++) {
        a[i - min] = ((i * 7 + 2) % n + n) % n;
        b[i - min] = i;
    }
    for (int i = 0; i < n; i++) {
        const int at = a[i - min] - min;
        a[at] = a[at] * 3 % n;
        b[at] += i;
    }
    for (int i = min; i <= n; i++) {
        EXPECT_EQ(first(i), a[i - min]) << i;
        EXPECT_EQ(second(i), b[i - min]) << i;
    }
}

/// The lanes of a Tuple that is computed inside of an atomic update are no updates of it: each iteration counts.
TEST(Reductions, atomic_counts_of_what_tuples_say) {
    Func g("g");
    g(x) = x % 64;
    g.compute_root();
    RDom r(0, 200000), k(0, 2);
    Func ends("ends");
    ends(x) = {g(x), g(x)};
    ends(x) = {min(ends(x)[0], g(x + k)), max(ends(x)[1], g(x + k))};
    Func f("f");
    f(x) = 0;
    f((ends(r)[1] - ends(r)[0]) % 4) += 1;
    f.update().atomic().parallel(r, 16);
    const Buffer<int> counted = f.realize({4});
    EXPECT_EQ(counted(0) + counted(1) + counted(2) + counted(3), 200000);
}

TEST(Reductions, in_lanes_of_loops_of_any_extent) {
    ImageParam in(Int(32), 1, "in");
    Func f("f");
    RDom r(0, in.width());
    f() = {5, 100, INT_MIN, 1};
    f() = {f()[0] + in(r), f()[1] - in(r), max(f()[2], in(r)), f()[3] * (in(r) | 1)};
    RVar ro("ro"), ri("ri");
    f.update().atomic().split(r, ro, ri, 16).vectorize(ri, 8).unroll(ri);
    for (const int width : {1, 15, 16, 17, 160}) {
        Buffer<int> image(width);
        int sum = 5, difference = 100, largest = INT_MIN;
        unsigned product = 1;
        for (int i = 0; i < width; i++) {
            image(i) = input_value(i);
            sum += image(i);
            difference -= image(i);
            largest = std::max(largest, image(i));
            product *= unsigned(image(i) | 1);
        }
        in.set(image);
        Realization result = f.realize();
        EXPECT_EQ(Buffer<int>(result[0])(), sum) << width;
        EXPECT_EQ(Buffer<int>(result[1])(), difference) << width;
        EXPECT_EQ(Buffer<int>(result[2])(), largest) << width;
        EXPECT_EQ(Buffer<int>(result[3])(), int(product)) << width;
    }
}

TEST(Reductions, simultaneous_updates) {
    Func f("f");
    f(x) = x;
    f(scatter(0, 1)) = f(gather(1, 0));
    Buffer<int> result = f.realize({4});
    EXPECT_EQ(result(0), 1);
    EXPECT_EQ(result(1), 0);
    EXPECT_EQ(result(2), 2);
}

// Schedules that programs write name loops as they are in one Func, and use the names for others.
TEST(Reductions, domains_of_the_same_given_name) {
    Func f("f"), g("g");
    RDom a(0, 5, "r"), b(0, 7, "r");
    f(x) = 0;
    f(x) += a * x;
    g(x) = f(x);
    g(x) += b + x;
    f.compute_root();
    RVar r(g.update().get_schedule().dims()[0].var), ro("ro"), ri("ri");
    f.update().split(r, ro, ri, 2).reorder(x, ri, ro);
    g.update().reorder(x, r);
    Buffer<int> result = g.realize({9});
    for (int i = 0; i < 9; i++) {
        EXPECT_EQ(result(i), 10 * i + 21 + 7 * i);
    }
}

TEST(Reductions, nested_over_domains_of_the_same_given_name) {
    Func f("f");
    RDom a(0, 5, "r"), b(0, 7, "r"), c(0, 3, "r");
    f(x) = sum(a, x * a + sum(b, 7 * a * b + sum(c, 11 * a * b * c + (a - b) * c)));
    Buffer<int> result = f.realize({4});
    for (int i = 0; i < 4; i++) {
        int expected = 0;
        for (int p = 0; p < 5; p++) {
            expected += i * p;
            for (int q = 0; q < 7; q++) {
                expected += 7 * p * q;
                for (int k = 0; k < 3; k++) {
                    expected += 11 * p * q * k + (p - q) * k;
                }
            }
        }
        EXPECT_EQ(result(i), expected);
    }
}

}  // namespace
}  // namespace calotype
