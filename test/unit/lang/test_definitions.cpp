// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What definitions make of a Func. Names are taken once a process, so each test has its own.
#include <gtest/gtest.h>

#include "ir/equality.h"
#include "lang/language.h"

namespace calotype {

using namespace internal;
namespace {

Var x("x"), y("y"), z("z");

TEST(Definition, pure) {
    Func f("pure_f");
    f(x, y) = x + 2 * y;
    EXPECT_EQ(f.dimensions(), 2);
    EXPECT_EQ(f.args()[1].name(), "y");
    EXPECT_EQ(f.type(), Int(32));
    EXPECT_TRUE(equal(f.value(), x + 2 * y));
    EXPECT_FALSE(f.has_update_definition());
    std::vector<std::string> loops;
    for (const Dim &d : f.function().stage(0)->schedule.dims) {
        loops.push_back(d.var);
    }
    EXPECT_EQ(loops, (std::vector<std::string>{"x", "y", outermost_name}));
}

TEST(Definition, names_are_unique) {
    Func a("same"), b("same");
    EXPECT_EQ(a.name(), "same");
    EXPECT_EQ(b.name(), "same$1");
}

TEST(Definition, no_dimensions) {
    Func f("scalar_f");
    f() = 3;
    EXPECT_EQ(f.dimensions(), 0);
    EXPECT_EQ(to_string(Expr(f())), "scalar_f()");
}

TEST(Definition, second_assignment_is_an_update) {
    Func f("updated_f");
    f(x, y) = 0;
    f(x, 3) = x;
    ASSERT_EQ(f.num_update_definitions(), 1);
    EXPECT_TRUE(equal(f.update_args()[1], Expr(3)));
    const Stage update = f.update();
    const StageSchedule &s = update.get_schedule();
    ASSERT_EQ(s.dims.size(), 2u);
    EXPECT_EQ(s.dims[0].var, "x");
}

TEST(Definition, loops_of_a_reduction) {
    Func f("reduced_f");
    RDom r(0, 10, 0, 20, "loops_r");
    f(x, y) = 0;
    f(r.x, y) += r.y;
    const Stage update = f.update();
    const StageSchedule &s = update.get_schedule();
    ASSERT_EQ(s.rvars.size(), 2u);
    EXPECT_EQ(s.rvars[1].var, "loops_r$y");
    ASSERT_EQ(s.dims.size(), 4u);
    EXPECT_EQ(s.dims[0].var, "loops_r$x");
    EXPECT_EQ(s.dims[0].dim_type, DimType::PureRVar);
    EXPECT_EQ(s.dims[1].dim_type, DimType::ImpureRVar);
    EXPECT_EQ(s.dims[2].dim_type, DimType::PureVar);
    EXPECT_EQ(f.rvars()[0].name(), "loops_r$x");
    EXPECT_TRUE(f.rvars()[0].domain().frozen());
}

TEST(Definition, where_is_the_predicate) {
    Func f("where_f");
    RDom r(0, 10, "where_r");
    r.where(r > 2);
    r.where(r < 7);
    f(x) = 0;
    f(r) = 1;
    EXPECT_TRUE(equal(f.function().stage(1)->predicate, Expr(r) > 2 && Expr(r) < 7));
}

TEST(Definition, updates_of_an_undefined_func_define_it) {
    Func sum("base_sum"), product("base_product"), histogram("base_histogram");
    RDom r(0, 10, "base_r");
    sum(x) += cast<uint8_t>(x);
    EXPECT_TRUE(equal(sum.value(), cast<uint8_t>(0)));
    product(x) *= 2.0f;
    EXPECT_TRUE(equal(product.value(), Expr(1.0f)));
    histogram(r / 2, y) += 1;
    EXPECT_EQ(histogram.args()[1].name(), "y");
    EXPECT_NE(histogram.args()[0].name(), "y");
}

TEST(Definition, calls_of_itself_hold_no_symbol) {
    Func f("self_f");
    f(x) = x;
    f(x) = f(x) + 1;
    const Call *call = f.update_value().as<Add>()->a.as<Call>();
    ASSERT_TRUE(call);
    EXPECT_EQ(call->name, "self_f");
    EXPECT_FALSE(call->symbol.defined());
}

TEST(Definition, tuples) {
    Func f("tuple_f");
    f(x) = Tuple(x, 2.0f);
    f(x)[1] += 1.0f;
    EXPECT_EQ(f.outputs(), 2);
    EXPECT_EQ(f.types()[1], Float(32));
    EXPECT_EQ(to_string(f.update_values()[0]), "tuple_f(x)");
    EXPECT_EQ(to_string(f.update_values()[1]), "tuple_f(x).1:float32 + 1.0f");
    EXPECT_EQ(f.function().buffer_name(1), "tuple_f.1");
    f(x) = Tuple(f(x));
    EXPECT_EQ(f.num_update_definitions(), 2);
}

TEST(Implicit, placeholder_takes_the_dimensions_of_the_callee) {
    Func f("implicit_f"), g("implicit_g"), h("implicit_h");
    f(x, y, z) = x + y + z;
    g(x, _) = f(x, _) + 1;
    EXPECT_EQ(g.dimensions(), 3);
    EXPECT_EQ(g.args()[1].name(), "_0");
    h(_, x) = f(_);
    EXPECT_EQ(h.dimensions(), 4);
    EXPECT_EQ(h.args()[3].name(), "x");
    Func i("implicit_i");
    i(_) = f(_);
    i(_) += 1;
    EXPECT_EQ(i.update_args().size(), 3u);
}

TEST(Implicit, placeholder_that_stands_for_nothing) {
    Func f("implicit_none");
    f(x, _) = x;
    EXPECT_EQ(f.dimensions(), 1);
}

TEST(Implicit, indices) {
    EXPECT_EQ(Var::implicit(3).name(), "_3");
    EXPECT_EQ(Var::implicit_index("_12"), 12);
    EXPECT_EQ(Var::implicit_index("_"), -1);
    EXPECT_EQ(Var::implicit_index("_x"), -1);
    EXPECT_TRUE(Var(_).is_placeholder());
    EXPECT_TRUE(Var(_2).is_implicit());
}

TEST(InlineReduction, free_variables_become_coordinates) {
    Func f("inline_input");
    f(x, y) = x * y;
    RDom r(0, 5, "inline_r"), outer(0, 3, "inline_outer");
    Expr e = sum(r, f(x + r, outer) * y, "inline_sum");
    const Call *call = e.as<Call>();
    ASSERT_TRUE(call);
    EXPECT_EQ(call->args.size(), 3u);
    Func s{Function(call->symbol)};
    EXPECT_EQ(s.num_update_definitions(), 1);
    EXPECT_EQ(s.rvars().size(), 1u);
    EXPECT_TRUE(equal(s.value(), Expr(0)));
}

TEST(InlineReduction, given_func) {
    Func m("given_maximum");
    RDom r(0, 5, "given_r");
    Expr e = maximum(cast<uint8_t>(r + x), m);
    EXPECT_EQ(to_string(e), "given_maximum(x):uint8");
    EXPECT_TRUE(equal(m.value(), UInt(8).min()));
}

TEST(InlineReduction, argmin_gives_coordinates_and_value) {
    RDom r(0, 5, 0, 6, "argmin_r");
    Tuple t = argmin(cast<float>(r.x * r.y));
    ASSERT_EQ(t.size(), 3u);
    EXPECT_EQ(t[0].type(), Int(32));
    EXPECT_EQ(t[2].type(), Float(32));
}

TEST(BoundaryCondition, of_a_parameter) {
    ImageParam in(UInt(8), 2, "boundary_in");
    Func f = BoundaryConditions::repeat_edge(in);
    EXPECT_EQ(f.dimensions(), 2);
    EXPECT_EQ(f.type(), UInt(8));
    Func g = BoundaryConditions::constant_exterior(in, 7);
    EXPECT_EQ(g.type(), UInt(8));
    Func h = BoundaryConditions::mirror_interior(in, {{0, 10}, {Expr(), Expr()}});
    EXPECT_EQ(to_string(h.value().as<Call>()->args[1]), "_1");
}

}  // namespace
}  // namespace calotype
