// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "harness/expect_error.h"
#include "lang/language.h"

namespace calotype {
namespace {

Var x("x"), y("y");

TEST(Reductions, odd_number_of_bounds) {
    EXPECT_COMPILE_ERROR(RDom(0, 10, 0),
                         "a reduction domain takes pairs of min and extent, 3 bounds were given");
}

TEST(Reductions, bounds_of_a_var) {
    EXPECT_COMPILE_ERROR(RDom(0, x, "bounded_by_var"),
                         "a bound of reduction domain bounded_by_var depends on variable x, only "
                         "parameters are allowed");
}

TEST(Reductions, bounds_that_are_read) {
    const ImageParam in(UInt(8), 1, "in");
    EXPECT_COMPILE_ERROR(RDom(0, cast<int>(in(3)), "bounded_by_input"),
                         "a bound of reduction domain bounded_by_input depends on values of in_im, "
                         "only parameters are allowed");
    Func f("read_func");
    f(x) = x;
    EXPECT_COMPILE_ERROR(RDom(0, f(3), "bounded_by_func"),
                         "a bound of reduction domain bounded_by_func depends on values of "
                         "read_func, only parameters are allowed");
    Buffer<uint8_t> known(4);
    known.fill(2);
    EXPECT_EQ(RDom(0, known(3)).dimensions(), 1);
}

TEST(Reductions, bounds_of_a_float) {
    EXPECT_COMPILE_ERROR(RDom(0, cast<float>(Param<int>()), "bounded_by_float"),
                         "a bound of reduction domain bounded_by_float has type float32, must fit "
                         "in int32");
}

TEST(Reductions, bounds_of_a_constant_float) {
    EXPECT_COMPILE_ERROR(RDom(0, Expr(2.5f), "bounded_by_half"),
                         "a bound of reduction domain bounded_by_half has type float32, must fit "
                         "in int32");
    EXPECT_EQ(RDom(Expr(2.0f), Expr(3.0)).dimensions(), 1);
}

TEST(Reductions, ranges_of_floats) {
    const Expr u8 = cast<uint8_t>(Param<int>());
    EXPECT_COMPILE_ERROR(
        Range(u8, 2.5f),
        "a Range from a min of type uint8 and an extent of type float32, must be of "
        "scalar integers");
    EXPECT_EQ(RDom(Region{Range(u8, 300)}).x.extent().type(), Int(32));
}

TEST(Reductions, where_after_use) {
    Func f("where_used");
    RDom r(0, 10, "used_domain");
    f(x) = 0;
    f(r) += 1;
    EXPECT_COMPILE_ERROR(r.where(r < 5),
                         "reduction domain used_domain is already used in a definition, where must "
                         "come before that");
}

TEST(Reductions, where_of_an_int) {
    RDom r(0, 10, "int_condition");
    EXPECT_COMPILE_ERROR(r.where(r + 1),
                         "condition of where on reduction domain int_condition has type int32, "
                         "must be bool");
}

TEST(Reductions, dimension_out_of_range) {
    RDom r(0, 10, 0, 10);
    EXPECT_COMPILE_ERROR(r[2], "reduction domain has no dimension 2, it has 2");
    EXPECT_COMPILE_ERROR(r + 1,
                         "a reduction domain of 2 dimensions is used as an RVar, only one of one "
                         "dimension can be");
}

TEST(Reductions, rvar_of_no_domain) {
    RVar r("loose");
    EXPECT_COMPILE_ERROR(r + 1,
                         "RVar loose is used as a value, but belongs to no reduction domain");
}

TEST(Reductions, inline_reduction_over_nothing) {
    EXPECT_COMPILE_ERROR(sum(x + 1),
                         "sum of an expression without RVars: there is nothing to reduce over");
    RDom r(0, 10), s(0, 10);
    EXPECT_COMPILE_ERROR(maximum(r + s),
                         "maximum of an expression with RVars of several domains: say over which "
                         "one to reduce");
}

TEST(Reductions, rfactor_of_what_is_not_associative) {
    Func f("not_associative"), g("is_pure");
    RDom r(0, 10, "r_not_associative");
    f() = 0;
    f() = r - f();
    EXPECT_COMPILE_ERROR(
        f.update().rfactor(r, x),
        "rfactor of not_associative.update(0): the update could not be shown to be "
        "associative");
    g(x) = x;
    EXPECT_COMPILE_ERROR(Stage(g).rfactor(RVar("r"), y),
                         "rfactor of is_pure: only update definitions can be factored");
}

TEST(Reductions, rfactor_of_other_loops) {
    Func f("factored");
    RDom r(0, 10, "r_factored");
    f(x) = 0;
    f(x) += r;
    EXPECT_COMPILE_ERROR(f.update().rfactor(RVar("other"), y),
                         "rfactor of factored.update(0): there is no reduction loop other");
    EXPECT_COMPILE_ERROR(f.update().rfactor(r, x),
                         "rfactor of factored.update(0): Var x is already a dimension");
}

}  // namespace
}  // namespace calotype
