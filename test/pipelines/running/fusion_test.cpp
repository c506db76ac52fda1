// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// compute_with: several Funcs in common loops, with different bounds, alignments, splits and
// updates.
#include <calotype/calotype.h>

#include <gtest/gtest.h>

namespace calotype::test {
namespace {

const Var x("x"), y("y"), xo("xo"), xi("xi"), yo("yo"), yi("yi");

/// Of the size asked for, with the value said for each position.
template<typename F>
void expect_all(const Buffer<int> &b, F value) {
    const_cast<Buffer<int> &>(b).for_each_element(
        [&](int i, int j) { ASSERT_EQ(b(i, j), value(i, j)) << i << ", " << j; });
}

TEST(ComputeWithEach, three_funcs_of_different_bounds) {
    for (LoopAlignStrategy align : {LoopAlignStrategy::NoAlign, LoopAlignStrategy::AlignStart,
                                    LoopAlignStrategy::AlignEnd, LoopAlignStrategy::Auto}) {
        Func f("f"), g("g"), h("h"), out("out");
        f(x, y) = x + y;
        g(x, y) = x - y;
        h(x, y) = x * y;
        out(x, y) = f(x - 1, y + 2) + g(x + 3, y) + h(x, y - 4);
        f.compute_root();
        g.compute_root().compute_with(f, y, align);
        h.compute_root().compute_with(g, y, align);
        Buffer<int> result = out.realize({23, 11});
        expect_all(result,
                   [](int i, int j) { return (i - 1 + j + 2) + (i + 3 - j) + i * (j - 4); });
    }
}

/// Each choice among the definitions of both has loops of its own that both share.
TEST(ComputeWithEach, specialized) {
    Param<bool> wide("wide"), narrow("narrow");
    Func f("f"), g("g"), out("out");
    f(x, y) = x + y;
    g(x, y) = x - y;
    out(x, y) = f(x + 1, y) * g(x, y + 2);
    f.compute_root().specialize(wide).vectorize(x, 8);
    f.specialize(wide).specialize(narrow).unroll(y, 2);
    g.compute_root().compute_with(f, y).specialize(narrow).split(x, xo, xi, 5);
    for (int choice = 0; choice < 4; choice++) {
        wide.set(choice & 1);
        narrow.set(choice & 2);
        Buffer<int> result = out.realize({37, 12});
        expect_all(result, [](int i, int j) { return (i + 1 + j) * (i - j - 2); });
    }
}

TEST(ComputeWithEach, down_to_the_innermost_loop) {
    Func f("f"), g("g"), out("out");
    f(x, y) = x + y;
    g(x, y) = x - y;
    out(x, y) = f(x, y) * g(x + 1, y + 1);
    f.compute_root().vectorize(x, 8);
    g.compute_root().vectorize(x, 8).compute_with(f, x);
    Buffer<int> result = out.realize({40, 7});
    expect_all(result, [](int i, int j) { return (i + j) * (i - j); });
}

TEST(ComputeWithEach, in_tiles) {
    Func f("f"), g("g"), out("out");
    f(x, y) = x + y;
    g(x, y) = x - y;
    out(x, y) = f(x, y) * g(x, y + 1);
    f.compute_root().tile(x, y, xo, yo, xi, yi, 8, 4, TailStrategy::GuardWithIf).parallel(yo);
    g.compute_root()
        .tile(x, y, xo, yo, xi, yi, 8, 4, TailStrategy::GuardWithIf)
        .parallel(yo)
        .compute_with(f, xo);
    Buffer<int> result = out.realize({37, 18});
    expect_all(result, [](int i, int j) { return (i + j) * (i - j - 1); });
}

TEST(ComputeWithEach, where_they_are_used) {
    Func f("f"), g("g"), out("out");
    f(x, y) = x + y;
    g(x, y) = x - y;
    out(x, y) = f(x, y) + f(x + 1, y) + g(x, y) + g(x, y + 1);
    out.split(y, yo, yi, 4, TailStrategy::GuardWithIf);
    f.compute_at(out, yo);
    g.compute_at(out, yo).compute_with(f, y);
    Buffer<int> result = out.realize({19, 13});
    expect_all(result, [](int i, int j) { return 2 * (i + j) + 1 + 2 * (i - j) - 1; });
}

TEST(ComputeWithEach, updates) {
    Func f("f"), g("g"), out("out");
    RDom r(0, 5, "r");
    f(x, y) = x;
    f(x, y) += r * y;
    g(x, y) = y;
    g(x, y) += r * x;
    out(x, y) = f(x, y) + g(x, y);
    f.compute_root();
    g.compute_root();
    g.compute_with(f, y);
    g.update().compute_with(f.update(), y);
    Buffer<int> result = out.realize({12, 9});
    expect_all(result, [](int i, int j) { return i + 10 * j + j + 10 * i; });
}

TEST(ComputeWithEach, an_update_with_a_pure_definition) {
    Func f("f"), g("g"), out("out");
    f(x, y) = x;
    f(x, y) += y;
    g(x, y) = x * y;
    out(x, y) = f(x, y) + g(x, y);
    f.compute_root();
    g.compute_root().compute_with(f.update(), y);
    Buffer<int> result = out.realize({12, 9});
    expect_all(result, [](int i, int j) { return i + j + i * j; });
}

TEST(ComputeWithEach, outputs) {
    Func f("f"), g("g");
    f(x, y) = x + y;
    g(x, y) = x - y;
    g.compute_with(f, y);
    Realization r = Pipeline({f, g}).realize({15, 8});
    expect_all(r[0], [](int i, int j) { return i + j; });
    expect_all(r[1], [](int i, int j) { return i - j; });
}

TEST(ComputeWithEach, planes_of_half_the_size) {
    ImageParam in(Int(32), 2, "in");
    Func luma("luma"), chroma("chroma");
    luma(x, y) = in(x, y) + 1;
    chroma(x, y) = in(2 * x, 2 * y) + in(2 * x + 1, 2 * y + 1);
    luma.split(y, yo, yi, 2, TailStrategy::RoundUp);
    Pipeline p({luma, chroma});
    Buffer<int> image(32, 16), a(32, 16), b(16, 8);
    image.for_each_element([&](int i, int j) { image(i, j) = i * 31 + j * 7; });
    in.set(image);
    p.realize({a, b});
    expect_all(a, [&](int i, int j) { return image(i, j) + 1; });
    expect_all(b, [&](int i, int j) { return image(2 * i, 2 * j) + image(2 * i + 1, 2 * j + 1); });
}

TEST(ComputeWithEach, slides_together) {
    Func f("f"), g("g"), out("out");
    f(x, y) = x + y;
    g(x, y) = x - y;
    out(x, y) = f(x, y) + f(x, y + 2) + g(x, y - 1) + g(x, y + 1);
    f.store_root().compute_at(out, y);
    g.store_root().compute_at(out, y).compute_with(f, x);
    Buffer<int> result = out.realize({14, 21});
    expect_all(result, [](int i, int j) { return 2 * (i + j) + 2 + 2 * (i - j); });
}

/// What the last of a chain of Funcs needs in an iteration of the loops that all share is known in
/// these loops, so that its producer slides and takes four rows.
TEST(ComputeWithEach, slides_for_a_chain) {
    for (LoopAlignStrategy align : {LoopAlignStrategy::AlignStart, LoopAlignStrategy::AlignEnd}) {
        Func in("in"), f("f"), g("g"), h("h");
        in(x, y) = x * 3 + y;
        f(x, y) = x;
        g(x, y) = in(x, y - 1) + in(x, y + 1);
        h(x, y) = in(x, y) * 2;
        g.compute_with(f, y, align);
        h.compute_with(g, y, align);
        in.store_root().compute_at(f, y).fold_storage(y, 4);
        Buffer<int> a(14, 21), b(14, 21), c(14, 21);
        Pipeline({f, g, h}).realize({a, b, c});
        expect_all(a, [](int i, int) { return i; });
        expect_all(b, [](int i, int j) { return 6 * i + 2 * j; });
        expect_all(c, [](int i, int j) { return 6 * i + 2 * j; });
    }
}

/// The loops go on for f when g has come to its end, or begin before it does: nothing is asked for
/// beyond what g needs.
TEST(ComputeWithEach, one_ends_before_another) {
    for (LoopAlignStrategy align :
         {LoopAlignStrategy::NoAlign, LoopAlignStrategy::AlignStart, LoopAlignStrategy::AlignEnd}) {
        Buffer<int> image(14, 20), a(14, 30), b(14, 20), c(14, 10);
        image.for_each_element([&](int i, int j) { image(i, j) = i * 31 + j * 7; });
        Func in("in"), f("f"), g("g"), h("h");
        in(x, y) = image(x, y) + 1;
        f(x, y) = x + y;
        g(x, y) = in(x, y);
        h(x, y) = in(x, 2 * y) + in(x, 2 * y + 1);
        g.compute_with(f, y, align);
        h.compute_with(g, y, align);
        in.compute_at(f, y);
        Pipeline({f, g, h}).realize({a, b, c});
        expect_all(a, [](int i, int j) { return i + j; });
        expect_all(b, [&](int i, int j) { return image(i, j) + 1; });
        expect_all(c, [&](int i, int j) { return image(i, 2 * j) + image(i, 2 * j + 1) + 2; });
    }
}

/// A loop that is one with that of another Func is named by either.
TEST(ComputeWithEach, computed_in_a_loop_of_the_other_func) {
    Func part("part"), f("f"), g("g"), h("h");
    part(x, y) = x * y;
    f(x, y) = x + y;
    g(x, y) = x - y;
    h(x, y) = part(x, y) + part(x + 1, y);
    g.compute_with(f, y);
    h.compute_with(g, y);
    part.compute_at(h, y).bound_extent(y, 1);
    Buffer<int> a(14, 12), b(14, 12), c(14, 12);
    Pipeline({f, g, h}).realize({a, b, c});
    expect_all(a, [](int i, int j) { return i + j; });
    expect_all(b, [](int i, int j) { return i - j; });
    expect_all(c, [](int i, int j) { return (2 * i + 1) * j; });
}

/// Down a chain each shares loops with the next, here fewer than that does with the one after it.
TEST(ComputeWithEach, of_a_chain_the_first_shares_fewer_loops) {
    for (LoopAlignStrategy align :
         {LoopAlignStrategy::NoAlign, LoopAlignStrategy::AlignStart, LoopAlignStrategy::AlignEnd}) {
        Func e("e"), f("f"), g("g"), h("h"), out("out");
        e(x, y) = 3 * x + y;
        f(x, y) = e(x, y) + e(x, y + 1);
        g(x, y) = x - y;
        h(x, y) = x * y;
        out(x, y) = f(x - 1, y + 2) + g(x + 3, y) + h(x, y - 4);
        h.compute_root();
        g.compute_root().compute_with(h, x, align);
        f.compute_root().compute_with(g, y, align);
        e.compute_at(f, y);
        Buffer<int> result = out.realize({23, 11});
        expect_all(result, [](int i, int j) {
            return 6 * (i - 1) + 2 * (j + 2) + 1 + (i + 3 - j) + i * (j - 4);
        });
    }
}

/// Of the Funcs that are computed together, the pure definition uses some and the update another.
TEST(ComputeWithEach, for_different_stages) {
    Func f("f"), g("g"), p("p"), out("out");
    f(x, y) = x + y;
    g(x, y) = x - y;
    p(x, y) = x * y;
    out(x, y) = g(x + 2, y - 2) + p(x, y);
    out(x, y) += f(x - 1, y + 1);
    f.compute_at(out, y);
    g.compute_at(out, y).compute_with(f, x);
    p.compute_at(out, y).compute_with(f, x);
    Buffer<int> result = out.realize({14, 21});
    expect_all(result, [](int i, int j) { return i - j + 4 + i * j + i + j; });
}

}  // namespace
}  // namespace calotype::test
