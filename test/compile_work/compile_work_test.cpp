// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <new>
#include <string>
#include <vector>

#include "calotype.h"
#include "ir/parser.h"
#include "lower/context.h"
#include "lower/gpu/shared/insert_barriers.h"
#include "lower/loops/bound_loop_extents.h"
#include "lower/storage/bound_small_allocations.h"
#include "lower/values/hoist_loop_invariants.h"

namespace {
std::atomic<uint64_t> allocations{0};
}

// Not inline, or the compiler takes malloc and free for mismatched pairs.
[[gnu::noinline]] void *operator new(size_t size) {
    allocations.fetch_add(1, std::memory_order_relaxed);
    if (void *p = std::malloc(size ? size : 1)) {
        return p;
    }
    throw std::bad_alloc();
}
[[gnu::noinline]] void *operator new(size_t size, const std::nothrow_t &) noexcept {
    allocations.fetch_add(1, std::memory_order_relaxed);
    return std::malloc(size ? size : 1);
}
[[gnu::noinline]] void operator delete(void *p) noexcept {
    std::free(p);
}
[[gnu::noinline]] void operator delete(void *p, size_t) noexcept {
    std::free(p);
}

namespace calotype {

using namespace internal;

namespace {

Var x("x"), y("y"), xo("xo"), xi("xi"), yo("yo"), yi("yi");

std::string name(const char *base, int i) {
    std::string result = base;
    result += std::to_string(i);
    return result;
}

/// A chain of stencils, each scheduled by the function.
Pipeline
stencils(int n, const std::function<void(Func producer, Func consumer, size_t number)> &schedule) {
    std::vector<Func> f(size_t(n) + 1);
    for (size_t i = 0; i < f.size(); i++) {
        f[i] = Func(name("f", int(i)));
        f[i](x, y) = i == 0 ? x + y * 3 : f[i - 1](x, y - 1) + f[i - 1](x, y + 1);
    }
    for (size_t i = 0; i < size_t(n); i++) {
        schedule(f[i], f.back(), i);
    }
    return Pipeline(f.back());
}

Pipeline inlined_chain(int n) {
    return stencils(n, [](Func f, Func, size_t number) {
        // One in two, so that each stored one reads three.
        if (number % 2 == 0) {
            f.compute_root();
        }
    });
}

Pipeline stored_stencils(int n) {
    return stencils(n, [](Func f, Func, size_t) { f.compute_root().vectorize(x, 8); });
}

Pipeline sliding_windows(int n) {
    return stencils(n, [](Func f, Func out, size_t) { f.store_root().compute_at(out, y); });
}

Pipeline folded_vectors(int n) {
    return stencils(n, [](Func f, Func out, size_t) {
        f.store_root().compute_at(out, y).vectorize(x, 8, TailStrategy::RoundUp);
    });
}

Pipeline updates(int n) {
    Func f("f");
    f(x) = x;
    for (int i = 0; i < n; i++) {
        f(x) += i;
    }
    return Pipeline(f);
}

Pipeline updates_of_a_window(int n) {
    Func f("f"), g("g");
    f(x) = x;
    for (int i = 0; i < n; i++) {
        f(x) += f(x) * i;
    }
    g(x) = f(x) + f(x + 1);
    f.compute_at(g, x).store_root();
    return Pipeline(g);
}

Pipeline scattered_updates(int n) {
    Func f("f"), g("g");
    f(x) = x;
    for (int i = 0; i < n; i++) {
        RDom r(0, 8 + i);
        f(r) += f(r + 1) + i;
    }
    g(x) = f(x);
    f.compute_root();
    return Pipeline(g);
}

Pipeline sums_of_loads(int n) {
    ImageParam in(Int(32), 1, "in");
    Func f("f");
    Expr e = in(x);
    for (int i = 1; i < n; i++) {
        e = e + in(x + i * 3) * i;
    }
    f(x) = e;
    f.vectorize(x, 8);
    return Pipeline(f);
}

Pipeline chains_of_choices(int n) {
    ImageParam in(Int(32), 1, "in");
    Func f("f");
    Expr e = in(x);
    for (int i = 1; i < n; i++) {
        e = select(in(x) > i * 5, e + i, in(x + i));
    }
    f(x) = e;
    f.vectorize(x, 8);
    return Pipeline(f);
}

/// Both sides of a choice that is decided as the pipeline is built call the one before.
Pipeline decided_choices(int n) {
    std::vector<Func> f(size_t(n) + 1);
    for (size_t i = 0; i < f.size(); i++) {
        f[i] = Func(name("f", int(i)));
        f[i](x) = i == 0 ? Expr(x) : select(i < 100, f[i - 1](x + 1), f[i - 1](x * 2));
    }
    return Pipeline(f.back());
}

Pipeline specializations(int n) {
    Param<int> p("p");
    Func f("f");
    f(x, y) = x * p + y;
    for (int i = 0; i < n; i++) {
        f.specialize(p == i).vectorize(x, 8);
    }
    return Pipeline(f);
}

Pipeline boundaries(int n) {
    ImageParam in(Int(32), 2, "in");
    Func f = BoundaryConditions::repeat_edge(in);
    for (int i = 0; i < n; i++) {
        Func g(name("g", i));
        g(x, y) = f(x, y - 1) + f(x, y + 1);
        g.compute_root();
        f = BoundaryConditions::mirror_image(g, {{0, 64}, {0, 64}});
    }
    Func out("out");
    out(x, y) = f(x, y);
    return Pipeline(out);
}

Pipeline outputs(int n) {
    std::vector<Func> all;
    Func shared("shared");
    shared(x) = x * x;
    shared.compute_root();
    for (int i = 0; i < n; i++) {
        Func f(name("f", i));
        f(x) = shared(x + i);
        all.push_back(f);
    }
    return Pipeline(all);
}

Pipeline inputs(int n) {
    Expr e = 0;
    for (int i = 0; i < n; i++) {
        ImageParam in(Int(32), 1, name("in", i));
        e = e + in(x);
    }
    Func f("f");
    f(x) = e;
    return Pipeline(f);
}

Pipeline tuples(int n) {
    Func f("f"), g("g");
    std::vector<Expr> values;
    Expr sum = 0;
    for (int i = 0; i < n; i++) {
        values.push_back(x * i);
    }
    f(x) = Tuple(values);
    f.compute_root();
    for (int i = 0; i < n; i++) {
        sum += f(x)[i];
    }
    g(x) = sum;
    return Pipeline(g);
}

Pipeline loops_in_common(int n) {
    std::vector<Func> f(static_cast<size_t>(n));
    Func out("out");
    Expr sum = 0;
    for (int i = 0; i < n; i++) {
        f[size_t(i)] = Func(name("f", i));
        f[size_t(i)](x, y) = x * i + y;
        f[size_t(i)].compute_root();
        if (i > 0) {
            f[size_t(i)].compute_with(f[size_t(i) - 1], y);
        }
        sum += f[size_t(i)](x, y);
    }
    out(x, y) = sum;
    return Pipeline(out);
}

Pipeline consumers_inside_tiles(int n) {
    std::vector<Func> f(size_t(n) + 1);
    for (size_t i = 0; i < f.size(); i++) {
        f[i] = Func(name("f", int(i)));
        f[i](x, y) = i == 0 ? x + y * 3 : f[i - 1](x - 1, y) + f[i - 1](x + 1, y + 1);
    }
    Func out = f.back();
    out.tile(x, y, xo, y, xi, yi, 64, 64);
    for (size_t i = 0; i < size_t(n); i++) {
        f[i].compute_at(out, xo).vectorize(x, 8);
    }
    return Pipeline(out);
}

Pipeline windows_inside_tiles(int n) {
    return stencils(n, [](Func f, Func out, size_t number) {
        if (number == 0) {
            out.tile(x, y, xo, yo, xi, yi, 64, 64);
        }
        f.store_at(out, xo).compute_at(out, yi).vectorize(x, 8);
    });
}

Pipeline asynchronous(int n) {
    return stencils(n, [](Func f, Func out, size_t) { f.store_root().compute_at(out, y).async(); });
}

Pipeline unrolled(int n) {
    Func f("f"), g("g");
    f(x) = x * x;
    g(x) = f(x) + f(x + 1);
    g.split(x, xo, xi, n, TailStrategy::GuardWithIf).unroll(xi);
    f.compute_at(g, xo).unroll(x);
    return Pipeline(g);
}

Pipeline wrappers(int n) {
    Func f("f"), out("out");
    f(x) = x * x;
    f.compute_root();
    Func inner = f;
    out(x) = f(x) + f(x + 1);
    for (int i = 0; i < n; i++) {
        inner = inner.in();
        inner.compute_root();
    }
    return Pipeline(out);
}

struct Kind {
    const char *name;
    Pipeline (*make)(int n);
    int size;
    double most;  ///< how much more the second doubling may add than the first one
};
void PrintTo(const Kind &kind, std::ostream *out) {
    *out << kind.name;
}

/// A little more than 2, for n log n, and what of the work does not depend on n is left out.
constexpr double linear = 2.6;
/// With a quadratic part that is small.
constexpr double nearly_linear = 2.9;
/// Each storage looks through what the stages within it do, so far.
constexpr double quadratic = 4.4;

class CompileWork : public testing::TestWithParam<Kind> {};

double work_of(const Kind &kind, int n) {
    Pipeline p = kind.make(n);
    const std::vector<Argument> arguments = p.infer_arguments();
    const uint64_t before = allocations;
    p.compile_to_module(arguments, "f", Target("x86-64-linux-avx2"));
    return double(allocations - before);
}

TEST_P(CompileWork, grows_hardly_faster_than_the_pipeline) {
    const Kind &kind = GetParam();
    work_of(kind, kind.size);  // tables that are made once
    const double one = work_of(kind, kind.size), two = work_of(kind, 2 * kind.size),
                 four = work_of(kind, 4 * kind.size);
    EXPECT_LE((four - two) / (two - one), kind.most)
        << one << ", " << two << " and " << four << " allocations";
}

const std::vector<Kind> kinds = {
    {"inlined_chain", inlined_chain, 8, linear},
    {"stored_stencils", stored_stencils, 8, linear},
    {"sliding_windows", sliding_windows, 8, nearly_linear},
    {"folded_vectors", folded_vectors, 8, nearly_linear},
    {"updates", updates, 16, linear},
    {"updates_of_a_window", updates_of_a_window, 16, linear},
    {"scattered_updates", scattered_updates, 16, linear},
    {"sums_of_loads", sums_of_loads, 16, linear},
    {"chains_of_choices", chains_of_choices, 16, linear},
    {"decided_choices", decided_choices, 3, linear},
    {"specializations", specializations, 8, linear},
    {"boundaries", boundaries, 8, linear},
    {"outputs", outputs, 8, nearly_linear},
    {"inputs", inputs, 8, linear},
    {"tuples", tuples, 8, linear},
    {"loops_in_common", loops_in_common, 8, quadratic},
    {"consumers_inside_tiles", consumers_inside_tiles, 8, linear},
    {"windows_inside_tiles", windows_inside_tiles, 8, linear},
    {"asynchronous", asynchronous, 4, quadratic},
    {"unrolled", unrolled, 8, linear},
    {"wrappers", wrappers, 8, linear},
};

INSTANTIATE_TEST_SUITE_P(All, CompileWork, testing::ValuesIn(kinds),
                         [](const auto &info) { return std::string(info.param.name); });

/// What it takes to hoist from a loop with as many lets that it does not change, each used once.
double work_of_hoisting(int lets) {
    std::string text = "for (y, 0, h) {\n";
    for (int i = 0; i < lets; i++) {
        text += name("let a", i) + name(" = n * ", i + 2) + "\n";
        text += name("allocate b", i) + "[int32, 8]\n" + name("b", i) + name("[y] = a", i) + "\n";
    }
    const Stmt loop = parse_stmt(text + "}\n");
    LowerContext ctx;
    const uint64_t before = allocations;
    hoist_loop_invariants(loop, ctx);
    return double(allocations - before);
}

TEST(HoistWork, grows_hardly_faster_than_the_lets_of_a_loop) {
    const double one = work_of_hoisting(64), two = work_of_hoisting(128),
                 four = work_of_hoisting(256);
    EXPECT_LE((four - two) / (two - one), linear)
        << one << ", " << two << " and " << four << " allocations";
}

/// Indices into storage on the stack that depend on a loop, by way of lets that are longer than they.
TEST(ConstantIndexWork, is_not_done_for_indices_that_change) {
    constexpr int loads = 32;
    std::string text =
        "allocate b[int32, 64] in stack\nfor (y, 0, h) {\nlet a0 = min(y * 8, n - 8)\n";
    for (int i = 1; i <= loads; i++) {
        text += name("let a", i) + name(" = max(a", i - 1) + name(" + min(n, m), ", i) + ")\n";
        text += name("b[a", i) + " - a0] = 1\n";
    }
    const Stmt s = parse_stmt(text + "}\n");
    LowerContext ctx;
    const uint64_t before = allocations;
    bound_small_allocations(s, ctx);
    EXPECT_LE(allocations - before, loads * 60);
}

/// What it takes to find no bound of a loop that runs as often as the sum of so many choices says,
/// where so many conditions hold.
double work_of_bounding(int choices, int conditions, const char *condition) {
    std::string text, extent = "n";
    for (int i = 0; i < conditions; i++) {
        text += name("if (c", i) + " < " + condition + ") {\n";
    }
    for (int i = 0; i < choices; i++) {
        const std::string a = name("a", i), b = name("b", i);
        extent += " + select(" + a + " < " + b + ", max(" + a + ", n), " + b + ")";
    }
    text += "for (x, 0, " + extent + ") {\nf[x] = 1\n}\n";
    for (int i = 0; i < conditions; i++) {
        text += "}\n";
    }
    const Stmt s = parse_stmt(text);
    LowerContext ctx;
    const uint64_t before = allocations;
    bound_loop_extents(s, ctx);
    return double(allocations - before);
}

/// Of two answers to each, sixteen in all, the first is enough to know.
TEST(BoundWork, grows_hardly_faster_than_the_choices) {
    work_of_bounding(1, 0, "");  // tables that are made once
    const double one = work_of_bounding(1, 0, ""), two = work_of_bounding(2, 0, ""),
                 four = work_of_bounding(4, 0, "");
    EXPECT_LE((four - two) / (two - one), linear)
        << one << ", " << two << " and " << four << " allocations";
}

TEST(BoundWork, is_not_done_again_for_conditions_that_say_nothing_new) {
    constexpr int conditions = 16;
    work_of_bounding(2, 0, "");
    const double none = work_of_bounding(2, 0, ""),
                 apart = work_of_bounding(2, conditions, "m") - none,
                 related = work_of_bounding(2, conditions, "n") - none;
    EXPECT_LE(apart / none, 3) << none << " and " << apart << " allocations";
    EXPECT_LE(related / none, 9) << none << " and " << related << " allocations";
}

/// Loops that may run no iteration, in both branches of choices in a row: what is stored before each may be pending after it.
double work_of_barriers(int choices) {
    std::string text = "gpu_block<cuda> (bx, 0, n) {\ngpu_thread<cuda> (thread_x, 0, 64) {\n"
                       "allocate g[int32, 64] in gpu_shared\ng[thread_x] = thread_x\n";
    for (int i = 0; i < choices; i++) {
        const std::string body =
            "f[thread_x + bx*64] = g[63 - thread_x]\ng[thread_x] = f[thread_x + bx*64]\n}\n";
        text += name("if (c", i) + " < n) {\n";
        text += name("for (i", i) + ", 0, m) {\n" + body + "} else {\n";
        text += name("for (j", i) + ", 0, n) {\n" + body + "}\n";
    }
    const Stmt s = parse_stmt(text + "}\n}\n");
    LowerContext ctx;
    const uint64_t before = allocations;
    insert_barriers(s, ctx);
    return double(allocations - before);
}

TEST(BarrierWork, grows_hardly_faster_than_the_square_of_the_choices) {
    work_of_barriers(2);
    const double two = work_of_barriers(2), four = work_of_barriers(4), eight = work_of_barriers(8);
    EXPECT_LE((eight - four) / (four - two), 4)
        << two << ", " << four << " and " << eight << " allocations";
}

}  // namespace
}  // namespace calotype
