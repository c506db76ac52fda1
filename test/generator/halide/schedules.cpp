// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Schedules: tasks, windows, specializations, wrappers, loops of updates.
#include "Halide.h"
#include "check.h"
#include <cstdio>
#include <string>
using namespace Halide;
static int ncalls = 0;
extern "C" int counted(int x) {
    ncalls++;
    return x;
}
HalideExtern_1(int, counted, int);
int async_ring() {
    Var x("x"), y("y"), t("t");
    Func p("p"), c("c");
    p(x, y) = x * y + x;
    c(x, y) = p(x, y) + p(x + 1, y);
    p.hoist_storage_root().compute_at(c, y).async().ring_buffer(2);
    Buffer<int> o = c.realize({64, 64});
    for (int j = 0; j < 64; j++)
        for (int i = 0; i < 64; i++)
            CHECK(o(i, j) == (i * j + i) + ((i + 1) * j + i + 1));
    return 0;
}
int sliding() {
    Var x("x"), y("y");
    Func g("g"), f("f");
    g(x, y) = counted(x + y);
    f(x, y) = g(x, y) + g(x, y + 1) + g(x, y + 2);
    g.store_root().compute_at(f, y);
    ncalls = 0;
    f.realize({10, 20});
    CHECK(ncalls == 10 * 22);
    g.fold_storage(y, 4);
    ncalls = 0;
    f.realize({10, 20});
    CHECK(ncalls == 220);
    return 0;
}
int specialize() {
    Var x("x"), y("y");
    ImageParam in(UInt(8), 2);
    Param<bool> fast("fast");
    Func f("f");
    f(x, y) = in(x, y) * 2;
    f.specialize(in.width() >= 32 && fast).vectorize(x, 16);
    f.specialize(in.height() == 1).fuse(x, y, x);
    Buffer<uint8_t> im(40, 4), im2(7, 1);
    im.fill(3);
    im2.fill(4);
    fast.set(true);
    in.set(im);
    Buffer<uint8_t> o = f.realize({40, 4});
    CHECK(o(39, 3) == 6);
    in.set(im2);
    fast.set(false);
    Buffer<uint8_t> o2 = f.realize({7, 1});
    CHECK(o2(6, 0) == 8);
    Func g("g");
    Param<int> k;
    g(x) = x + k;
    g.specialize(k == 1);
    g.specialize_fail("k must be one");
    k.set(1);
    Buffer<int> og = g.realize({3});
    CHECK(og(2) == 3);
    k.set(2);
    bool caught = false;
    try {
        g.realize({3});
    } catch (const RuntimeError &e) {
        caught = std::string(e.what()).find("k must be one") != std::string::npos;
    }
    CHECK(caught);
    return 0;
}
int wrappers() {
    Var x("x"), y("y"), xo, yo, xi, yi, tile;
    Func f("f"), g("g"), h("h"), out("out");
    f(x, y) = x * 2 + y;
    g(x, y) = f(x, y) + 1;
    h(x, y) = f(x, y) + f(x + 1, y);
    out(x, y) = g(x, y) + h(x, y);
    Func fg = f.in(g), fc = f.clone_in(h);
    f.compute_root();
    fg.compute_root().vectorize(x, 4);
    fc.compute_root();
    g.compute_root();
    h.compute_root();
    out.tile(x, y, xo, yo, xi, yi, 8, 8, TailStrategy::GuardWithIf)
        .fuse(xo, yo, tile)
        .parallel(tile)
        .vectorize(xi, 8);
    Buffer<int> o = out.realize({33, 21});
    for (int j = 0; j < 21; j++)
        for (int i = 0; i < 33; i++)
            CHECK(o(i, j) == 2 * i + j + 1 + 4 * i + 2 + 2 * j);
    Func g2 = g.in();
    (void)g2;
    ImageParam ip(Int(32), 2, "ip");
    Func q("q");
    q(x, y) = ip(x, y) + ip(x, y + 1);
    ip.in(q).compute_at(q, y);
    q.prefetch(ip, y, y, 2);
    Buffer<int> b(10, 11);
    b.fill(2);
    ip.set(b);
    Buffer<int> qo = q.realize({10, 10});
    CHECK(qo(9, 9) == 4);
    return 0;
}
int looplevels_and_introspection() {
    Var x("x"), y("y"), c("c");
    LoopLevel where;
    Func f("f_levels"), g("g_levels");
    f(x, y) = x + y;
    g(x, y) = f(x, y) * 2;
    f.compute_at(where);
    where.set(LoopLevel(g, y));
    g.set_estimates({{0, 64}, {0, 64}});
    Buffer<int> o = g.realize({9, 9});
    CHECK(o(8, 8) == 32);
    CHECK(g.name() == "g_levels" && g.dimensions() == 2 && g.args()[0].name() == "x" &&
          !g.has_update_definition());
    CHECK(g.type() == Int(32) && g.outputs() == 1 && g.defined());
    Func u("u_levels");
    RDom r(0, 10, "r");
    u(x) = 0;
    u(x) += r * x;
    u(x) = max(u(x), 3);
    CHECK(u.num_update_definitions() == 2 && u.rvars(0).size() == 1 &&
          u.rvars(0)[0].name() == r.x.name());
    u.update(0).reorder(x, r).vectorize(x, 4, TailStrategy::GuardWithIf);
    u.update(1).unroll(x, 3, TailStrategy::GuardWithIf);
    Buffer<int> uo = u.realize({10});
    CHECK(uo(0) == 3 && uo(2) == 90);
    Pipeline p({g, u});
    CHECK(p.outputs().size() == 2);
    p.compile_to_lowered_stmt("schedules.stmt", p.infer_arguments(), StmtOutputFormat::Text);
    Module m = g.compile_to_module({}, "gfun");
    CHECK(m.functions().size() >= 1 && m.name() == "gfun");
    g.print_loop_nest();
    Func mm("mm");
    Param<int> k("k");
    mm(x) = x * k;
    mm.compute_root().memoize();
    Func use;
    use(x) = mm(x) + 1;
    k.set(3);
    Buffer<int> a = use.realize({5}), b = use.realize({5});
    CHECK(a(4) == 13 && b(4) == 13);
    k.set(4);
    Buffer<int> d = use.realize({5});
    CHECK(d(4) == 17);
    Internal::JITSharedRuntime::memoization_cache_set_size(0);
    return 0;
}
int updates() {
    Var x("x"), y("y"), xo, xi;
    RDom r(0, 16, 0, 16, "r");
    r.where(r.x + r.y < 20);
    Func f("f");
    f(x) = 0;
    f((r.x * 3 + r.y) % 8) += 1;
    RVar ro("ro"), ri("ri");
    f.update().split(r.x, ro, ri, 4).atomic().parallel(r.y);
    Buffer<int> o = f.realize({8});
    int want[8] = {0};
    for (int j = 0; j < 16; j++)
        for (int i = 0; i < 16; i++)
            if (i + j < 20)
                want[(i * 3 + j) % 8]++;
    for (int i = 0; i < 8; i++)
        CHECK(o(i) == want[i]);
    Func dot("dot");
    Buffer<float> a(64), b(64);
    for (int i = 0; i < 64; i++) {
        a(i) = i;
        b(i) = 2;
    }
    RDom k(0, 64);
    dot() = 0.0f;
    dot() += a(k) * b(k);
    RVar ko, ki;
    Var u;
    dot.update().split(k, ko, ki, 8);
    Func inter = dot.update().rfactor(ki, u);
    inter.compute_root().vectorize(u, 8).update().vectorize(u, 8);
    Buffer<float> d = dot.realize();
    CHECK(d() == 2 * 63 * 64 / 2);
    Func t("t");
    t(x, y) = {x, cast<float>(y)};
    t(x, 0) = {t(x, 0)[0] + 5, 1.5f};
    Realization tr = t.realize({4, 4});
    Buffer<int> t0 = tr[0];
    Buffer<float> t1 = tr[1];
    CHECK(t0(3, 0) == 8 && t1(3, 0) == 1.5f && t1(0, 3) == 3.0f);
    return 0;
}
// Each Func is computed where a select chooses it.
int what_selects_choose() {
    Var x("x");
    Func f("f"), g("g"), h("h");
    f(x) = counted(x + 1);
    g(x) = counted(x + 2);
    h(x) = select(x < 30, f(x), g(x - 1));
    f.compute_root();
    g.compute_root();
    ncalls = 0;
    Buffer<int> o = h.realize({100});
    CHECK(ncalls == 100);
    for (int i = 0; i < 100; i++)
        CHECK(o(i) == i + 1);
    return 0;
}
// A value that no point needs where it is first computed is needed by the next one.
int windows_through_skipped_points() {
    Var x("x");
    Func f("f"), g("g"), h("h");
    f(x) = counted(x);
    g(x) = f(x) + f(x - 1);
    h(x) = select(x == 4, 0, g(x));
    f.store_root().compute_at(g, x);
    g.compute_at(h, x);
    ncalls = 0;
    Buffer<int> o = h.realize({12});
    CHECK(ncalls == 13);
    for (int i = 0; i < 12; i++)
        CHECK(o(i) == (i == 4 ? 0 : 2 * i - 1));
    return 0;
}
// What is declared holds before there is a definition.
int declared_funcs() {
    Var x("x"), y("y");
    Func f(Int(32), 2, "declared");
    f.output_buffer().dim(0).set_bounds(0, 6);
    f(x, y) += cast<uint8_t>(x + y);
    Buffer<int> o = f.realize({6, 4});
    for (int j = 0; j < 4; j++)
        for (int i = 0; i < 6; i++)
            CHECK(o(i, j) == i + j);
    ImageParam im(UInt(16), 3, "im");
    Func of_image = im;
    CHECK(of_image.function().required_dimensions() == 3);
    CHECK(of_image.function().required_types().at(0) == UInt(16));
    return 0;
}
int main() {
    if (declared_funcs())
        return 1;
    if (what_selects_choose() || windows_through_skipped_points())
        return 1;
    if (async_ring() || sliding() || specialize() || wrappers() || looplevels_and_introspection() ||
        updates())
        return 1;
    printf("Success!\n");
    return 0;
}
