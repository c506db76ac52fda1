// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values that are small as graphs and huge as trees: squaring 64 times makes 2^64 nodes if anything
// on the way from definition to code follows every path. That these end is most of the test.
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "calotype.h"

namespace calotype {
namespace {

constexpr int levels = 64;
Var x("x"), xo("xo"), xi("xi");

uint32_t pick(bool c, uint32_t t, uint32_t f) {
    return c ? t : f;
}
Expr pick(const Expr &c, const Expr &t, const Expr &f) {
    return select(c, t, f);
}

// The same text makes the expression and the value that it should have.
template<typename V>
V squares(V v) {
    for (int i = 0; i < levels; i++) {
        v = v * v + i;
    }
    return v;
}

template<typename V>
V choices(V v) {
    for (int i = 0; i < levels; i++) {
        v = pick(v > V(uint32_t(i * 3)), v - i, v * 2 + i) ^ (v / 2);
    }
    return v;
}

/// Two values, each of which uses both of those before.
template<typename V>
std::pair<V, V> sums_and_products(V a, V b) {
    for (int i = 0; i < levels; i++) {
        const V sum = a + b;
        b = a * b + i;
        a = sum;
    }
    return {a, b};
}

/// A stored Func, so that values cannot be constants.
Func source() {
    Func f("f");
    f(x) = cast<uint32_t>(x) * 265443571 + 12345;
    f.compute_root();
    return f;
}
uint32_t source_at(int i) {
    return uint32_t(i) * 265443571 + 12345;
}

using Schedule = std::function<void(Func &)>;
const std::vector<Schedule> schedules = {
    [](Func &) {},
    [](Func &g) { g.vectorize(x, 8); },
    [](Func &g) { g.split(x, xo, xi, 8, TailStrategy::GuardWithIf).vectorize(xi).parallel(xo); },
    [](Func &g) { g.split(x, xo, xi, 4, TailStrategy::ShiftInwards).unroll(xi); },
};

template<typename Make, typename Want>
void check(Make make, Want want) {
    for (const Schedule &schedule : schedules) {
        Func g = make();
        schedule(g);
        Buffer<uint32_t> result = g.realize({37});
        for (int i = 0; i < 37; i++) {
            ASSERT_EQ(result(i), uint32_t(want(i))) << "at " << i;
        }
    }
}

TEST(SharedValues, arithmetic) {
    check(
        [] {
            Func f = source(), g("g");
            g(x) = squares(Expr(f(x)));
            return g;
        },
        [](int i) { return squares(source_at(i)); });
    check(
        [] {
            Func f = source(), g("g");
            g(x) = cast<uint32_t>(squares(cast<uint8_t>(f(x))));
            return g;
        },
        [](int i) {
            uint8_t v = uint8_t(source_at(i));
            for (int k = 0; k < levels; k++) {
                v = uint8_t(v * v + k);
            }
            return v;
        });
}

TEST(SharedValues, choices) {
    check(
        [] {
            Func f = source(), g("g");
            g(x) = choices(Expr(f(x)));
            return g;
        },
        [](int i) { return choices(source_at(i)); });
    // Of the coordinate itself, which bounds inference and the partition of loops look at.
    check(
        [] {
            Func g("g");
            g(x) = choices(cast<uint32_t>(x));
            return g;
        },
        [](int i) { return choices(uint32_t(i)); });
}

TEST(SharedValues, tuples_share_among_values) {
    Func f = source(), g("g"), h("h");
    const auto both = sums_and_products(Expr(f(x)), Expr(f(x + 1)));
    g(x) = Tuple(both.first, both.second);
    g.compute_root().vectorize(x, 4);
    h(x) = g(x)[0] ^ g(x)[1];
    Buffer<uint32_t> result = h.realize({20});
    for (int i = 0; i < 20; i++) {
        const auto want = sums_and_products(source_at(i), source_at(i + 1));
        ASSERT_EQ(result(i), want.first ^ want.second) << "at " << i;
    }
}

TEST(SharedValues, chains_of_inlined_funcs) {
    check(
        [] {
            Func f = source();
            for (int i = 0; i < levels; i++) {
                Func next("next");
                // Two calls, which are two nodes.
                next(x) = f(x) * f(x + 1 - 1) + i;
                f = next;
            }
            return f;
        },
        [](int i) { return squares(source_at(i)); });
}

TEST(SharedValues, eagerly_inlined_funcs) {
    std::vector<Func> chain = {source()};
    for (int i = 0; i < levels; i++) {
        Func next("next");
        next(x) = chain.back()(x) * chain.back()(x) + i;
        if (i > 0) {
            next.eager_inline(chain.back());
        }
        chain.push_back(next);
    }
    Buffer<uint32_t> result = chain.back().realize({10});
    for (int i = 0; i < 10; i++) {
        ASSERT_EQ(result(i), squares(source_at(i))) << "at " << i;
    }
}

TEST(SharedValues, inlined_neighbours) {
    constexpr int deep = 28;
    check(
        [] {
            Func f = source();
            for (int i = 0; i < deep; i++) {
                Func next("next");
                next(x) = f(x - 1) + f(x + 1);
                f = next;
            }
            return f;
        },
        [](int i) {
            std::vector<uint32_t> row;
            for (int k = -deep; k <= deep; k++) {
                row.push_back(source_at(i + k));
            }
            for (int n = deep; n > 0; n--) {
                for (size_t k = 0; k + 2 < row.size(); k++) {
                    row[k] += row[k + 2];
                }
                row.resize(row.size() - 2);
            }
            return row[0];
        });
}

TEST(SharedValues, of_inlined_funcs_at_several_places) {
    check(
        [] {
            Func f = source(), h("h"), g("g");
            h(x) = squares(Expr(f(x)));
            g(x) = h(x - 1) + h(x + 1) * h(x - 1);
            return g;
        },
        [](int i) {
            const uint32_t a = squares(source_at(i - 1));
            return a + squares(source_at(i + 1)) * a;
        });
}

TEST(SharedValues, coordinates) {
    check(
        [] {
            Func f = source(), g("g");
            g(x) = f(cast<int>(squares(cast<uint32_t>(x)) % 10));
            return g;
        },
        [](int i) { return source_at(int(squares(uint32_t(i)) % 10)); });
    check(
        [] {
            Func f = source(), g("g");
            g(x) = f(clamp(cast<int>(squares(Expr(f(x))) >> 1), 2, 17));
            return g;
        },
        [](int i) { return source_at(std::clamp(int(squares(source_at(i)) >> 1), 2, 17)); });
}

TEST(SharedValues, coordinates_beyond_an_edge) {
    Buffer<uint32_t> in(10);
    for (int i = 0; i < 10; i++) {
        in(i) = source_at(i);
    }
    check(
        [&] {
            Func g("g");
            g(x) = BoundaryConditions::repeat_edge(in)(cast<int>(squares(cast<uint32_t>(x)) % 30) -
                                                       10);
            return g;
        },
        [](int i) { return source_at(std::clamp(int(squares(uint32_t(i)) % 30) - 10, 0, 9)); });
}

TEST(SharedValues, conditions_of_updates) {
    check(
        [] {
            Func f = source(), g("g");
            RDom r(0, 10);
            r.where(squares(cast<uint32_t>(r + x)) % 3 == 1);
            g(x) = cast<uint32_t>(0);
            g(x) += f(r);
            return g;
        },
        [](int i) {
            uint32_t sum = 0;
            for (int r = 0; r < 10; r++) {
                sum += squares(uint32_t(r + i)) % 3 == 1 ? source_at(r) : 0;
            }
            return sum;
        });
}

TEST(SharedValues, updates_and_reductions) {
    check(
        [] {
            Func f = source(), g("g");
            RDom r(0, 5);
            g(x) = f(x);
            g(x) = squares(Expr(g(x)));
            g(x) += sum(squares(Expr(f(x + r))));
            return g;
        },
        [](int i) {
            uint32_t v = squares(source_at(i));
            for (int r = 0; r < 5; r++) {
                v += squares(source_at(i + r));
            }
            return v;
        });
}

TEST(SharedValues, undefined_in_part) {
    check(
        [] {
            Func f = source(), g("g");
            g(x) = f(x) % 200;
            Expr e = g(x);
            for (int i = 0; i < levels; i++) {
                e = e * e + select(e % 64 != i, e, undef<uint32_t>());
            }
            g(x) = e;
            return g;
        },
        [](int i) {
            const uint32_t old = source_at(i) % 200;
            uint32_t v = old;
            for (uint32_t k = 0; k < levels; k++) {
                if (v % 64 == k) {
                    return old;
                }
                v = v * v + v;
            }
            return v;
        });
}

TEST(SharedValues, of_scalars) {
    Param<uint32_t> p("p");
    const Expr deep = squares(Expr(p));
    Func f = source(), g("g");
    RDom r(0, cast<int>(deep % 7) + 1);
    g(x) = require(deep != 3, f(x), "never", deep);
    g(x) += f(x + r);
    g.bound(x, 0, cast<int>(deep % 9) + 4).specialize(deep % 2 == 0);
    g.update().split(x, xo, xi, cast<int>(deep % 5) + 1, TailStrategy::GuardWithIf);
    for (uint32_t value : {0u, 1u, 2u, 77u}) {
        const uint32_t d = squares(value);
        const int width = int(d % 9) + 4;
        p.set(value);
        Buffer<uint32_t> result = g.realize({width});
        for (int i = 0; i < width; i++) {
            uint32_t want = source_at(i);
            for (int k = 0; k < int(d % 7) + 1; k++) {
                want += source_at(i + k);
            }
            ASSERT_EQ(result(i), want) << value << " at " << i;
        }
    }
}

TEST(SharedValues, newton_steps) {
    Func g("g");
    const Expr a = cast<float>(x) + 1.5f;
    Expr e = a;
    for (int i = 0; i < levels; i++) {
        e = (e + a / e) * 0.5f;
    }
    g(x) = e;
    g.vectorize(x, 8);
    Buffer<float> result = g.realize({16});
    for (int i = 0; i < 16; i++) {
        EXPECT_NEAR(result(i) * result(i), float(i) + 1.5f, 1e-4f * float(i + 2));
    }
}

}  // namespace
}  // namespace calotype
