// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parameters, buffers, realizations and pipelines.
#include <gtest/gtest.h>

#include "harness/counted_storage.h"
#include "ir/equality.h"
#include "lang/language.h"

namespace calotype {

using namespace internal;
namespace {

Var x("x"), y("y");

TEST(Param, holds_values_of_its_type) {
    Param<uint8_t> p("value_p", 7, 1, 100);
    EXPECT_EQ(p.get(), 7);
    p.set(200);
    EXPECT_EQ(p.get(), 200);
    EXPECT_EQ(p.type(), UInt(8));
    EXPECT_TRUE(equal(p.max_value(), cast<uint8_t>(100)));
    Param<> any(Float(32), "value_any");
    any.set(3);
    EXPECT_EQ(any.get<float>(), 3.0f);
    Param<float> same = any;
    same.set(4.5f);
    EXPECT_EQ(any.get<float>(), 4.5f);
    Param<int64_t> wide("value_wide");
    wide.set(int64_t(-5));
    EXPECT_EQ(wide.get(), -5);
    Param<bool> flag("value_flag", true);
    EXPECT_TRUE(flag.get());
    Param<int *> pointer("value_pointer");
    int n = 0;
    pointer.set(&n);
    EXPECT_EQ(pointer.get(), &n);
}

TEST(Param, is_an_expression_and_an_argument) {
    Param<int> p("expr_p", 3, 0, 10);
    EXPECT_EQ(to_string(p + x), "expr_p + x");
    Argument a = p;
    EXPECT_EQ(a.name, "expr_p");
    EXPECT_TRUE(a.is_scalar());
    EXPECT_TRUE(equal(a.argument_estimates.scalar_max, Expr(10)));
}

TEST(ImageParam, calls_go_through_a_func) {
    ImageParam in(UInt(8), 2, "through_in");
    const Expr e = in(x, y + 1);
    const Call *call = e.as<Call>();
    ASSERT_TRUE(call);
    EXPECT_EQ(call->call_type, CallKind::Func);
    EXPECT_EQ(call->name, "through_in_im");
    EXPECT_EQ(to_string(in.width()), "through_in.extent.0");
    Func f("through_f");
    f(x, y) = in(x, y);
    EXPECT_EQ(in.in(f).args().size(), 2u);
}

TEST(ImageParam, holds_a_buffer) {
    ImageParam in(UInt(8), 1, "holding_in");
    EXPECT_FALSE(in.get().defined());
    Buffer<uint8_t> b(4);
    b(2) = 9;
    in.set(b);
    EXPECT_EQ(Buffer<uint8_t>(in.get())(2), 9);
    in.reset();
    EXPECT_FALSE(in.get().defined());
}

TEST(ImageParam, constraints) {
    ImageParam in(UInt(8), 2, "constrained_in");
    EXPECT_TRUE(equal(in.parameter().stride_constraint(0), Expr(1)));
    in.dim(0).set_stride(Expr()).set_bounds(0, 640).dim(1).set_estimate(0, 480);
    EXPECT_FALSE(in.parameter().stride_constraint(0).defined());
    EXPECT_TRUE(equal(in.parameter().extent_constraint(0), Expr(640)));
    EXPECT_TRUE(equal(in.dim(1).extent_estimate(), Expr(480)));
    // Numbers are estimates, too.
    EXPECT_TRUE(equal(in.dim(0).extent_estimate(), Expr(640)));
    in.dim(0).set_extent(in.dim(1).extent()).set_min(Expr());
    EXPECT_TRUE(equal(in.dim(0).min_estimate(), Expr(0)));
    EXPECT_TRUE(equal(in.dim(0).extent_estimate(), Expr(640)));
}

TEST(ImageParam, a_constraint_of_its_own_shape_does_not_own_it) {
    ImageParam in(UInt(8), 2, "self_constrained_in");
    {
        const Expr extent = in.dim(0).extent(), width = (extent + 7) / 8 * 8;
        in.dim(0).set_extent(width).set_min(in.dim(1).min()).set_stride(in.dim(0).stride());
        in.dim(1).set_estimate(in.dim(0).min(), extent);
        EXPECT_TRUE(equal(in.parameter().extent_constraint(0), width));
        EXPECT_TRUE(equal(in.dim(1).extent_estimate(), extent));
    }
    const IntrusivePtr<ParameterContents> contents = in.parameter().contents();
    in = ImageParam();
    EXPECT_TRUE(contents->is_unique());
}

TEST(Param, a_limit_of_itself_does_not_own_it) {
    Param<int> p("self_limited_p");
    p.set_range(min(p, 3), max(p, 9));
    const IntrusivePtr<ParameterContents> contents = p.parameter().contents();
    p = Param<int>();
    EXPECT_TRUE(contents->is_unique());
}

TEST(Buffer, copies_share_the_elements) {
    Buffer<uint8_t> a(3, 4, "shared_a");
    a.fill(1);
    Buffer<> b = a;
    EXPECT_TRUE(a.same_as(b));
    EXPECT_EQ(b.name(), "shared_a");
    Buffer<uint8_t, 2> c = b;
    c(1, 2) = 5;
    EXPECT_EQ(a(1, 2), 5);
    Buffer<uint8_t> d = a.copy();
    d(1, 2) = 6;
    EXPECT_EQ(a(1, 2), 5);
}

TEST(Buffer, sizes_in_braces_and_a_name) {
    const int width = 4;
    const Buffer<int> image({width, 3}, "image"), volume({width, 3, 2}, "volume");
    EXPECT_EQ(image.name(), "image");
    EXPECT_EQ(volume.dim(2).extent(), 2);
    const Buffer<int> taken(Runtime::Buffer<>(calotype_type_of<int>(), 5), "taken");
    EXPECT_EQ(taken.name(), "taken");
    EXPECT_EQ(taken.dim(0).extent(), 5);
}

TEST(Buffer, views) {
    Buffer<int> a(4, 5);
    a.for_each_element([&](int i, int j) { a(i, j) = 10 * i + j; });
    EXPECT_EQ(a.sliced(0, 2)(3), 23);
    EXPECT_EQ(a.cropped(1, 2, 2).dim(1).min(), 2);
    EXPECT_EQ(a.transposed(0, 1)(3, 2), 23);
    EXPECT_EQ(a.embedded(0).dimensions(), 3);
    EXPECT_EQ(a.dimensions(), 2);
    EXPECT_EQ(a.translated({1, 1})(3, 4), 23);
    EXPECT_TRUE(a.contains(3, 4));
    EXPECT_FALSE(a.contains(4, 4));
    Buffer<const int> read = a;
    EXPECT_EQ(read(2, 3), 23);
}

TEST(Buffer, other_memory) {
    int values[2][3] = {{1, 2, 3}, {4, 5, 6}};
    Buffer<int> a(values);
    EXPECT_EQ(a.width(), 3);
    EXPECT_EQ(a(2, 1), 6);
    Buffer<int> b(&values[0][0], 6);
    EXPECT_EQ(b(4), 5);
    Runtime::Buffer<float, 2> r(2, 2);
    r(1, 1) = 2.5f;
    Buffer<float> c(r, "wrapped");
    EXPECT_EQ(c(1, 1), 2.5f);
    Buffer<float, 0> s = Buffer<float, 0>::make_scalar();
    s() = 3.0f;
    EXPECT_EQ(s(), 3.0f);
    Buffer<uint8_t> inter = Buffer<uint8_t>::make_interleaved(4, 5, 3);
    EXPECT_EQ(inter.dim(0).stride(), 3);
    EXPECT_EQ(Buffer<int>::make_with_shape_of(inter).dim(0).stride(), 3);
}

TEST(Buffer, in_expressions) {
    Buffer<uint8_t> a(3, 4, "called");
    const Expr e = a(x, 2);
    const Call *call = e.as<Call>();
    ASSERT_TRUE(call);
    EXPECT_EQ(call->call_type, CallKind::Image);
    EXPECT_EQ(e.type(), UInt(8));
    EXPECT_EQ(call->symbol, SymbolPtr(a.image()));
    RDom r(a);
    EXPECT_TRUE(equal(r[1].extent(), Expr(4)));
}

TEST(Ownership, conditions_of_domains_and_updates_make_no_cycles) {
    int alive = 0;
    {
        const Image image(
            new ImageContents("owned_image", new calotype_test::CountedStorage(alive)));
        RDom r(0, 10, "owned_r");
        r.where(Call::make(Int(32), image->name, {r}, CallKind::Image, 0, image) > 0);
        Func f("owned_f"), g("owned_g");
        f(x) = 0;
        f(r) = f(r) + 1;
        g(x) = f(x);
        f.in(g).compute_root();
        f.update().parallel(r);
        Pipeline p(g);
        EXPECT_EQ(alive, 1);
    }
    EXPECT_EQ(alive, 0);
}

TEST(Realization, of_several_buffers) {
    Buffer<int> a(3);
    Buffer<float> b(4);
    Realization r(a, b);
    EXPECT_EQ(r.size(), 2u);
    EXPECT_TRUE(r[1].same_as(b));
    Realization one{Buffer<void>(a)};
    Buffer<int> back = one;
    EXPECT_TRUE(back.same_as(a));
}

TEST(Pipeline, arguments) {
    ImageParam b(UInt(8), 1, "arg_b"), a(UInt(8), 1, "arg_a");
    Param<int> n("arg_n"), m("arg_m"), limit("arg_limit");
    Buffer<uint8_t> table(4, "arg_table");
    Func f("arg_f"), g("arg_g");
    f(x) = a(x) + b(x) + table(x);
    g(x) = f(x) + cast<uint8_t>(n);
    g.bound(x, 0, m);
    Pipeline p(g);
    p.add_requirement(limit > 3, "too small:", limit);
    std::string names;
    for (const Argument &arg : p.infer_arguments()) {
        names += arg.name + " ";
    }
    EXPECT_EQ(names, "arg_a arg_b arg_limit arg_m arg_n ");
}

TEST(Pipeline, funcs_in_order) {
    Func f("order_f"), g("order_g");
    f(x) = x;
    g(x) = f(x);
    Pipeline p(g);
    EXPECT_EQ(p.get_func(0).name(), "order_f");
    EXPECT_EQ(p.get_func(1).name(), "order_g");
    EXPECT_EQ(p.outputs().size(), 1u);
}

// Names that differ in numbers alone go by the order of the calls.
TEST(Pipeline, funcs_of_one_name_in_order) {
    Func two("numbered2"), ten("numbered10"), before("called_last"), g("order_all");
    two(x) = x;
    ten(x) = x;
    before(x) = x;
    g(x) = two(x) + ten(x) + before(x);
    Pipeline p(g);
    const char *const names[] = {"called_last", "numbered2", "numbered10", "order_all"};
    for (int i = 0; i < 4; i++) {
        EXPECT_EQ(p.get_func(i).name(), names[i]);
    }
}

TEST(Pipeline, custom_passes_are_deleted) {
    int deleted = 0;
    {
        Func f("custom_f");
        f(x) = x;
        f.add_custom_lowering_pass(nullptr, [&]() { deleted++; });
        EXPECT_EQ(f.custom_lowering_passes().size(), 1u);
    }
    EXPECT_EQ(deleted, 1);
}

}  // namespace
}  // namespace calotype
