// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Running in process: extern stages, handlers, parameters and their errors, callables.
#include "Halide.h"
#include "check.h"
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>
using namespace Halide;
#ifdef _WIN32
#define DLLEXPORT __declspec(dllexport)
#else
#define DLLEXPORT
#endif
static int queries = 0, calls = 0;
extern "C" DLLEXPORT int flip_x(halide_buffer_t *in, int width, halide_buffer_t *out) {
    if (in->is_bounds_query()) {
        queries++;
        in->dim[0].min = 0;
        in->dim[0].extent = width;
        in->dim[1].min = out->dim[1].min;
        in->dim[1].extent = out->dim[1].extent;
        return 0;
    }
    if (out->is_bounds_query())
        return 0;
    calls++;
    Halide::Runtime::Buffer<uint8_t> src(*in), dst(*out);
    for (int y = dst.dim(1).min(); y <= dst.dim(1).max(); y++)
        for (int x : dst.dim(0))
            dst(x, y) = src(width - 1 - x, y);
    return 0;
}
extern "C" DLLEXPORT int times_three(int x) {
    return x * 3;
}
HalideExtern_1(int, times_three, int);
extern "C" DLLEXPORT float blend3(float a, float b, float t) {
    return a + (b - a) * t;
}
HalidePureExtern_3(float, blend3, float, float, float);
int extern_stage() {
    Var x("x"), y("y");
    Func src("src"), flipped("flipped"), out("out");
    src(x, y) = cast<uint8_t>(x * 5 + y);
    flipped.define_extern("flip_x", {src, 40}, UInt(8), 2);
    out(x, y) = cast<int>(flipped(x, y)) + 1;
    src.compute_root();
    flipped.compute_root();
    CHECK(flipped.is_extern() && flipped.extern_function_name() == "flip_x");
    Buffer<int> o = out.realize({40, 10});
    for (int j = 0; j < 10; j++)
        for (int i = 0; i < 40; i++)
            CHECK(o(i, j) == (uint8_t)((39 - i) * 5 + j) + 1);
    CHECK(queries > 0 && calls == 1);
    Func p;
    p(x) = times_three(x) + 1;
    Buffer<int> po = p.realize({10});
    CHECK(po(4) == 13);
    Func b;
    b(x) = blend3(0.0f, 10.0f, cast<float>(x) / 10.0f);
    b.vectorize(x, 4);
    Buffer<float> bo = b.realize({8});
    CHECK(bo(5) > 4.99f && bo(5) < 5.01f);
    return 0;
}
static std::vector<std::string> printed;
static void my_print(JITUserContext *, const char *s) {
    printed.push_back(s);
}
static std::string last_error;
static void my_error(JITUserContext *ctx, const char *s) {
    last_error = s;
}
static std::atomic<int> mallocs{0}, frees{0};
static void *my_malloc(JITUserContext *, size_t n) {
    mallocs++;
    return std::aligned_alloc(128, (n + 127) / 128 * 128);
}
static void my_free(JITUserContext *, void *p) {
    if (p) {
        frees++;
        std::free(p);
    }
}
static int my_par_for(JITUserContext *ctx, int (*f)(JITUserContext *, int, uint8_t *), int min,
                      int extent, uint8_t *closure) {
    for (int i = min + extent - 1; i >= min; i--) {
        int e = f(ctx, i, closure);
        if (e)
            return e;
    }
    return 0;
}
struct MyContext : JITUserContext {
    int tag = 17;
};
static int seen_tag = 0;
static int tag_task(JITUserContext *ctx, int (*f)(JITUserContext *, int, uint8_t *), int idx,
                    uint8_t *closure) {
    seen_tag = ((MyContext *)ctx)->tag;
    return f(ctx, idx, closure);
}
int handlers() {
    Var x("x"), y("y");
    Func f("f"), g("g");
    g(x, y) = x + y;
    f(x, y) = print_when(x == 3 && y == 2, g(x, y) + g(x + 1, y), "at", x, y);
    g.compute_root();
    f.jit_handlers().custom_print = my_print;
    f.jit_handlers().custom_malloc = my_malloc;
    f.jit_handlers().custom_free = my_free;
    Buffer<int> o = f.realize({200, 200});
    CHECK(printed.size() == 1 && printed[0].find("11 at 3 2") != std::string::npos);
    CHECK(mallocs > 0 && mallocs == frees);
    Func par("par");
    par(x, y) = x * y;
    par.parallel(y);
    par.jit_handlers().custom_do_par_for = my_par_for;
    Buffer<int> po = par.realize({10, 10});
    CHECK(po(9, 9) == 81);
    Func par2("par2");
    par2(x, y) = x * y + 1;
    par2.parallel(y);
    MyContext ctx;
    ctx.handlers.custom_do_task = tag_task;
    Buffer<int> p2(10, 10);
    par2.realize(&ctx, p2);
    CHECK(seen_tag == 17 && p2(3, 3) == 10);
    Func bad("bad");
    ImageParam im(Int(32), 1, "im");
    bad(x) = im(x + 5);
    Buffer<int> small(8);
    im.set(small);
    bad.jit_handlers().custom_error = my_error;
    Buffer<int> bo(8);
    bad.realize(bo);
    CHECK(last_error.find("im") != std::string::npos);
    return 0;
}
int params() {
    Var x("x"), y("y");
    ImageParam in(UInt(8), 2, "in");
    Param<float> gain("gain", 1.5f, 0.0f, 4.0f);
    Param<int> off("off");
    off.set(3);
    Func f("f");
    f(x, y) = cast<uint8_t>(clamp(cast<float>(in(x, y)) * gain + off, 0.0f, 255.0f));
    in.dim(0).set_stride(1).set_bounds(0, 64);
    in.dim(1).set_min(0);
    in.set_host_alignment(16);
    Buffer<uint8_t> img(64, 20);
    img.fill([](int x, int y) { return (uint8_t)(x + y * 3); });
    in.set(img);
    Buffer<uint8_t> out = f.realize({64, 20});
    CHECK(out(10, 4) == (uint8_t)((10 + 12) * 1.5f + 3));
    gain.set(2.0f);
    f.realize(out);
    CHECK(out(10, 4) == 47);
    bool caught = false;
    gain.set(9.0f);
    try {
        f.realize(out);
    } catch (const RuntimeError &e) {
        caught = std::string(e.what()).find("gain") != std::string::npos;
    }
    CHECK(caught);
    gain.set(1.0f);
    Buffer<uint8_t> wide(80, 20);
    in.set(wide);
    caught = false;
    try {
        f.realize(out);
    } catch (const Halide::RuntimeError &e) {
        caught = true;
    }
    CHECK(caught);
    caught = false;
    try {
        Func z;
        Var q;
        z(q) = Expr(undef<int>()) + x;
        z.realize({3});
    } catch (const Halide::CompileError &e) {
        caught = true;
    }
    CHECK(caught);
    // infer_input_bounds
    ImageParam in2(Float(32), 2, "in2");
    Func blur;
    blur(x, y) = in2(x - 1, y) + in2(x + 2, y + 3);
    blur.infer_input_bounds({20, 10});
    Buffer<float> b2 = in2.get();
    CHECK(b2.dim(0).min() == -1 && b2.dim(0).extent() == 23 && b2.dim(1).min() == 0 &&
          b2.dim(1).extent() == 13);
    // Callable
    Param<int> k("k");
    ImageParam ci(Int(32), 1, "ci");
    Func cf("cf");
    cf(x) = ci(x) * k;
    Callable c = cf.compile_to_callable({k, ci});
    Buffer<int> cin(5), cout(5);
    cin.fill(4);
    CHECK(c(6, cin, cout) == 0);
    CHECK(cout(2) == 24);
    auto fn = c.make_std_function<int, Buffer<int, 1>, Buffer<int, 1>>();
    CHECK(fn(2, cin, cout) == 0 && cout(0) == 8);
    return 0;
}
int main() {
    if (extern_stage() || handlers() || params())
        return 1;
    printf("Success!\n");
    return 0;
}
