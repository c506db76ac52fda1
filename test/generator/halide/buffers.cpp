// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Buffers of both kinds, their views, and boundary conditions.
#include "Halide.h"
#include "HalideBuffer.h"
#include "check.h"
#include <cstdio>
#include <vector>
using namespace Halide;
int runtime_buffer() {
    using Runtime::Buffer;
    Buffer<int, 3> a(10, 8, 3);
    a.for_each_element([&](int x, int y, int c) { a(x, y, c) = x + 10 * y + 100 * c; });
    Buffer<int, 3> b = a.cropped(0, 2, 5).cropped({{2, 5}, {1, 4}, {0, 3}});
    CHECK(b.dim(0).min() == 2 && b.dim(0).extent() == 5 && b(6, 4, 2) == 246);
    Buffer<int, 2> s = a.sliced(2, 1);
    CHECK(s(3, 4) == 143);
    Buffer<int, 3> e = s.embedded(1, 7);
    CHECK(e.dimensions() == 3 && e.dim(1).min() == 7 && e(3, 7, 4) == 143);
    Buffer<int, 3> t = a.transposed({2, 0, 1});
    CHECK(t(4, 2, 6) == a(6, 4, 2));
    t.transpose(0, 1);
    CHECK(t(2, 4, 6) == a(6, 4, 2));
    Buffer<int, 3> tr = a.translated({5, -5, 0});
    CHECK(tr(5, -5, 0) == 0 && tr(14, 2, 2) == 9 + 70 + 200);
    a.set_min(1, 1, 1);
    CHECK(a(1, 1, 1) == 0);
    a.set_min(0, 0, 0);
    auto i = Buffer<uint8_t>::make_interleaved(6, 4, 3);
    CHECK(i.dim(0).stride() == 3 && i.dim(2).stride() == 1);
    i.fill(7);
    CHECK(i.all_equal(7));
    Buffer<uint8_t> pl = i.copy_to_planar();
    CHECK(pl.dim(0).stride() == 1 && pl(5, 3, 2) == 7);
    Buffer<void> v = a;
    CHECK(v.type() == halide_type_of<int>() && v.dimensions() == 3);
    Buffer<int> back = v.as<int>();
    CHECK(back(9, 7, 2) == 279);
    Buffer<const int> con = a;
    long long sum = 0;
    con.for_each_value([&](int q) { sum += q; });
    Buffer<int, 3> d(10, 8, 3);
    d.copy_from(a);
    a.for_each_value([&](int &p, const int &q) { p -= q; }, d);
    CHECK(a.all_equal(0));
    Buffer<float> sc = Buffer<float>::make_scalar();
    sc() = 2.5f;
    CHECK(sc() == 2.5f && sc.number_of_elements() == 1);
    std::vector<int> data(12);
    Buffer<int> wrap(data.data(), 4, 3);
    wrap.fill([](int x, int y) { return x - y; });
    CHECK(data[4 * 2 + 3] == 1);
    int pos[] = {1, 2};
    CHECK(wrap(pos) == -1);
    CHECK(wrap.contains(3, 2) && !wrap.contains(4, 0));
    Buffer<double> w2 = Buffer<double>::make_with_shape_of(wrap);
    CHECK(w2.width() == 4 && w2.height() == 3 && w2.size_in_bytes() == 96);
    for (int y : w2.dim(1))
        for (int x : w2.dim(0))
            w2(x, y) = x * y;
    CHECK(w2(3, 2) == 6.0);
    wrap.add_dimension();
    CHECK(wrap.dimensions() == 3 && wrap.dim(2).extent() == 1);
    Buffer<int> alloc(nullptr, 3, 3);
    CHECK(alloc.data() == nullptr);
    alloc.allocate();
    alloc.fill(1);
    CHECK(alloc(2, 2) == 1);
    halide_buffer_t *raw = alloc.raw_buffer();
    CHECK(raw->dim[1].stride == 3 && raw->number_of_elements() == 9);
    return 0;
}
int front_buffer() {
    Buffer<uint8_t> a(4, 5, 3, "pic");
    CHECK(a.name() == "pic" && a.channels() == 3 && a.left() == 0 && a.right() == 3 &&
          a.bottom() == 4);
    a.fill(9);
    Buffer<uint8_t, 3> b = a.copy();
    b(1, 2, 0) = 4;
    CHECK(a(1, 2, 0) == 9 && b(1, 2, 0) == 4);
    Buffer<> any = b;
    CHECK(any.type() == UInt(8));
    CHECK(any.as<uint8_t>()(1, 2, 0) == 4);
    Buffer<uint8_t> c = b.cropped(1, 1, 2).sliced(2, 0);
    CHECK(c.dimensions() == 2 && c(1, 2) == 4);
    Buffer<float> fi(std::vector<int>{3, 2, 2});
    CHECK(fi.number_of_elements() == 12);
    Var x, y, ch;
    Func f;
    f(x, y) = a(x, y, 1) + cast<uint8_t>(x);
    Buffer<uint8_t> o = f.realize({4, 5});
    CHECK(o(3, 1) == 12);
    Expr ex = b(x, y, 0);
    CHECK(ex.type() == UInt(8));
    Buffer<uint8_t> inter = Buffer<uint8_t>::make_interleaved(8, 8, 3);
    Func g;
    g(x, y, ch) = cast<uint8_t>(x + y + ch);
    g.output_buffer().dim(0).set_stride(3);
    g.output_buffer().dim(2).set_stride(1).set_bounds(0, 3);
    g.reorder(ch, x, y).unroll(ch);
    g.realize(inter);
    CHECK(inter(5, 6, 2) == 13);
    return 0;
}
int boundaries() {
    Buffer<int> in(5, 4);
    in.for_each_element([&](int x, int y) { in(x, y) = x * 10 + y; });
    Var x("x"), y("y");
    using namespace BoundaryConditions;
    Func fs[] = {constant_exterior(in, -1), repeat_edge(in), repeat_image(in), mirror_image(in),
                 mirror_interior(in)};
    auto at = [](int kind, int i, int n) {
        if (i >= 0 && i < n)
            return i;
        switch (kind) {
        case 1:
            return i < 0 ? 0 : n - 1;
        case 2:
            return ((i % n) + n) % n;
        case 3: {
            int m = ((i % (2 * n)) + 2 * n) % (2 * n);
            return m < n ? m : 2 * n - 1 - m;
        }
        case 4: {
            int p = 2 * (n - 1);
            int m = ((i % p) + p) % p;
            return m < n ? m : p - m;
        }
        }
        return -1;
    };
    for (int k = 0; k < 5; k++) {
        Func f;
        f(x, y) = fs[k](x, y);
        Buffer<int> o(21, 18);
        o.set_min(-8, -7);
        f.vectorize(x, 4, TailStrategy::GuardWithIf);
        f.realize(o);
        for (int j = -7; j < 11; j++)
            for (int i = -8; i < 13; i++) {
                int a = at(k, i, 5), b = at(k, j, 4);
                int want = a < 0 || b < 0 ? -1 : a * 10 + b;
                CHECK(o(i, j) == want);
            }
    }
    Func part = repeat_edge(in, {{Expr(), Expr()}, {0, 4}});
    Func h;
    h(x, y) = part(x, y);
    Buffer<int> o = h.realize({5, 9});
    CHECK(o(4, 8) == 43);
    ImageParam ip(Float(32), 2);
    Func ce = constant_exterior(ip, 3.5f, {{0, ip.width()}, {0, ip.height()}});
    Func k2;
    k2(x, y) = ce(x - 1, y);
    Buffer<float> fi(3, 3);
    fi.fill(1.0f);
    ip.set(fi);
    Buffer<float> fo = k2.realize({3, 3});
    CHECK(fo(0, 0) == 3.5f && fo(1, 0) == 1.0f);
    return 0;
}
int main() {
    if (runtime_buffer() || front_buffer() || boundaries())
        return 1;
    printf("Success!\n");
    return 0;
}
