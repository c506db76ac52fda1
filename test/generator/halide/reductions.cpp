// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions: a histogram by rfactor, stages computed together, the place of a minimum.
#include "Halide.h"
#include "check.h"
#include <cmath>
#include <cstdio>
#include <limits>
#include <vector>
using namespace Halide;
int histogram() {
    const int W = 200, H = 150;
    Buffer<uint8_t> in(W, H);
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            in(x, y) = (uint8_t)(x * 7 + y * y);
    Var x("x"), y("y"), i("i"), u("u");
    Func hist("hist");
    RDom r(in);
    hist(i) = 0;
    hist(cast<int>(in(r.x, r.y))) += 1;
    Func partial = hist.update().rfactor(r.y, u);
    partial.compute_root().update().parallel(u);
    partial.vectorize(i, 8);
    Func cdf("cdf");
    RDom b(1, 255);
    cdf(i) = hist(i);
    cdf(b) = cdf(b - 1) + hist(b);
    Func eq("eq");
    eq(x, y) = cast<uint8_t>(clamp((cdf(in(x, y)) * 255) / (W * H), 0, 255));
    hist.compute_root();
    cdf.compute_root().bound(i, 0, 256);
    Var xo, xi, yo, yi;
    eq.tile(x, y, xo, yo, xi, yi, 32, 16).vectorize(xi, 16).parallel(yo);
    Buffer<uint8_t> out = eq.realize({W, H});
    std::vector<int> h(256), c(256);
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            h[in(x, y)]++;
    int s = 0;
    for (int k = 0; k < 256; k++) {
        s += h[k];
        c[k] = s;
    }
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            CHECK(out(x, y) == (uint8_t)(c[in(x, y)] * 255 / (W * H)));
    return 0;
}
int compute_with_test() {
    Var x("x"), y("y");
    Func in("in"), dx("dx"), dy("dy"), mag("mag");
    in(x, y) = cast<float>((x * 13 + y * 29) % 97);
    dx(x, y) = (in(x + 1, y) - in(x - 1, y)) / 2.0f;
    dy(x, y) = (in(x, y + 1) - in(x, y - 1)) / 2.0f;
    mag(x, y) = sqrt(dx(x, y) * dx(x, y) + dy(x, y) * dy(x, y));
    in.compute_root();
    Var yo, yi;
    mag.split(y, yo, yi, 8);
    dx.compute_at(mag, yo).vectorize(x, 4);
    dy.compute_at(mag, yo).vectorize(x, 4).compute_with(dx, y);
    Buffer<float> out = mag.realize({64, 40});
    auto f = [](int x, int y) {
        int v = (x * 13 + y * 29) % 97;
        if (v < 0)
            v += 97;
        return (float)v;
    };
    for (int y = 0; y < 40; y++)
        for (int x = 0; x < 64; x++) {
            float a = (f(x + 1, y) - f(x - 1, y)) / 2, b = (f(x, y + 1) - f(x, y - 1)) / 2;
            CHECK(std::fabs(out(x, y) - std::sqrt(a * a + b * b)) < 1e-4f);
        }
    return 0;
}
int argmin_test() {
    Var x("x"), y("y");
    Func f("f");
    f(x, y) = (x * 37 + y * 11) % 101;
    RDom r(0, 50, 0, 30);
    Func best("best");
    best() = Tuple(std::numeric_limits<int>::max(), -1, -1);
    Expr better = f(r.x, r.y) < best()[0];
    best() = Tuple(select(better, f(r.x, r.y), best()[0]), select(better, r.x, best()[1]),
                   select(better, r.y, best()[2]));
    Realization res = best.realize();
    Buffer<int> v = res[0], bx = res[1], by = res[2];
    int m = 1000, mx = 0, my = 0;
    for (int y = 0; y < 30; y++)
        for (int x = 0; x < 50; x++) {
            int q = (x * 37 + y * 11) % 101;
            if (q < m) {
                m = q;
                mx = x;
                my = y;
            }
        }
    CHECK(v() == m && bx() == mx && by() == my);
    Func g("g");
    Tuple am = argmin(r, f(r.x, r.y), "am");
    g() = Tuple(am[0], am[1], am[2]);
    Realization r2 = g.realize({});
    Buffer<int> gx = r2[0], gy = r2[1], gv = r2[2];
    CHECK(gx() == mx && gy() == my && gv() == m);
    // maximum / sum / product inline reductions with where
    RDom t(0, 10, 0, 10);
    t.where(t.x <= t.y);
    Func tri;
    tri() = sum(t.x + t.y);
    Buffer<int> ts = tri.realize();
    int want = 0;
    for (int y = 0; y < 10; y++)
        for (int x = 0; x <= y; x++)
            want += x + y;
    CHECK(ts() == want);
    return 0;
}
int lambda_and_ops() {
    Var x("x"), y("y");
    Buffer<int> im = lambda(x, y, x * y + 3).realize({5, 6});
    CHECK(im(4, 5) == 23);
    Func f;
    f(x, _) = lambda(x, y, x - y)(x, _) * 2;
    Buffer<int> o = f.realize({4, 4});
    CHECK(o(3, 1) == 4);
    Func u;
    u(x) = mux(x % 3, {10, 20, 30});
    Buffer<int> m = u.realize({9});
    for (int i = 0; i < 9; i++)
        CHECK(m(i) == 10 * (i % 3 + 1));
    Func w;
    w(x) = print_when(x == 100, x, "never");
    w(x) += 1;
    Buffer<int> wo = w.realize({10});
    CHECK(wo(5) == 6);
    Func bits;
    bits(x) = popcount(cast<uint32_t>(x)) + count_leading_zeros(cast<uint32_t>(x + 1)) +
              count_trailing_zeros(cast<uint32_t>(x + 1));
    Buffer<uint32_t> bo = bits.realize({100});
    for (uint32_t i = 0; i < 100; i++)
        CHECK(bo(i) ==
              (uint32_t)(__builtin_popcount(i) + __builtin_clz(i + 1) + __builtin_ctz(i + 1)));
    Func sat;
    sat(x) = saturating_cast<uint8_t>(x * 3 - 20);
    Buffer<uint8_t> so = sat.realize({120});
    for (int i = 0; i < 120; i++) {
        int v = i * 3 - 20;
        CHECK(so(i) == (v < 0 ? 0 : v > 255 ? 255 : v));
    }
    Func q;
    q(x) = fast_integer_divide(cast<uint16_t>(x), cast<uint8_t>(7)) +
           fast_integer_modulo(cast<uint16_t>(x), cast<uint8_t>(7));
    Buffer<uint16_t> qo = q.realize({1000});
    for (int i = 0; i < 1000; i++)
        CHECK(qo(i) == i / 7 + i % 7);
    return 0;
}
int main() {
    if (histogram() || compute_with_test() || argmin_test() || lambda_and_ops())
        return 1;
    printf("Success!\n");
    return 0;
}
