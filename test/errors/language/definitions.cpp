// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What may be wrong with a definition. Names are taken once a process, so each test has its own.
#include "harness/expect_error.h"
#include "lang/language.h"

namespace calotype {
namespace {

Var x("x"), y("y"), z("z");

TEST(Definitions, func_without_name) {
    EXPECT_COMPILE_ERROR(Func(""), "the name of a func is empty");
}

TEST(Definitions, name_with_a_dot) {
    EXPECT_COMPILE_ERROR(Func("a.b"), "the name of func a.b contains a dot, which is reserved");
    EXPECT_COMPILE_ERROR(Var("a.b"), "the name of Var a.b contains a dot, which is reserved");
    EXPECT_COMPILE_ERROR(Func(std::string("a\0b", 3)),
                         "the name of func a\\x00b contains a zero byte");
    EXPECT_COMPILE_ERROR(Var("a\xff"), "the name of Var a\\xff is not UTF-8");
    EXPECT_COMPILE_ERROR(RDom(0, 3, "a.b"),
                         "the name of RDom a.b contains a dot, which is reserved");
    EXPECT_COMPILE_ERROR(RVar("a.b"), "the name of RVar a.b contains a dot, which is reserved");
    EXPECT_COMPILE_ERROR(Param<int>("a.b"),
                         "the name of Param a.b contains a dot, which is reserved");
    EXPECT_COMPILE_ERROR(ImageParam(UInt(8), 2, "a.b"),
                         "the name of ImageParam a.b contains a dot, which is reserved");
}

TEST(Definitions, argument_twice) {
    Func f("twice");
    EXPECT_COMPILE_ERROR(f(x, x) = x, "func twice: argument x appears twice in its definition");
}

TEST(Definitions, first_definition_with_a_constant_coordinate) {
    Func f("constant_coordinate");
    EXPECT_COMPILE_ERROR(f(x, 3) = x,
                         "coordinate 1 of the pure definition of func constant_coordinate is 3, "
                         "must be a Var");
}

TEST(Definitions, first_definition_with_an_rvar) {
    Func f("rvar_coordinate");
    RDom r(0, 10, "rvar_domain");
    EXPECT_COMPILE_ERROR(f(r) = 1, "coordinate 0 of the pure definition of func rvar_coordinate is "
                                   "rvar_domain$x, must be a Var");
}

TEST(Definitions, unknown_variable) {
    Func f("unknown_variable");
    EXPECT_COMPILE_ERROR(
        f(x) = x + y, "definition of func unknown_variable uses variable y, which is none of its "
                      "arguments");
}

TEST(Definitions, types_without_values) {
    Func f("of_float24"), g("of_float24_image"), stage("extern_types");
    EXPECT_COMPILE_ERROR(f(x) = cast(Float(24), x) > 0,
                         "definition of func of_float24 has a part of type float24, of which there "
                         "are no values: integers have 1 to 64 bits, floats 16, 32 or 64");
    EXPECT_COMPILE_ERROR(g(x) = cast<int>(ImageParam(BFloat(32), 1, "of_bfloat32")(x)),
                         "definition of func of_bfloat32_im has a part of type bfloat32, of which "
                         "there are no values: integers have 1 to 64 bits, floats 16, 32 or 64");
    EXPECT_COMPILE_ERROR(stage.define_extern("c_function", {}, Float(8), 1),
                         "the extern definition of func extern_types has a part of type float8, of "
                         "which there are no values: integers have 1 to 64 bits, floats 16, 32 or "
                         "64");
    EXPECT_COMPILE_ERROR(stage.define_extern("c_function", {}, Int(32, 4), 1),
                         "the extern definition of func extern_types has a value of type int32x4, "
                         "must be a type of one lane and at least one bit");
}

TEST(Definitions, argument_of_vectors) {
    Func f("of_vector_argument");
    f(x) = x;
    const Argument a("lanes", Argument::InputScalar, Int(32, 4), 0, ArgumentEstimates());
    EXPECT_COMPILE_ERROR(Pipeline(f).source("f", {a}),
                         "argument lanes of a pipeline has type int32x4, must have one of one lane "
                         "and at least one bit");
}

TEST(Definitions, implicit_variable_without_placeholder) {
    Func f("implicit_inner"), g("implicit_outer");
    f(x) = x;
    EXPECT_COMPILE_ERROR(g(x) = f(_),
                         "definition of func implicit_outer uses variable _0, which is none of its "
                         "arguments");
}

TEST(Definitions, two_placeholders) {
    Func f("two_placeholders");
    f(x, y) = 0;
    EXPECT_COMPILE_ERROR(f(_, _), "a call to func two_placeholders has _ at two coordinates");
}

TEST(Definitions, rvar_in_a_pure_definition) {
    Func f("rvar_in_pure");
    RDom r(0, 10, "pure_domain");
    EXPECT_COMPILE_ERROR(f(x) = x + r,
                         "definition of func rvar_in_pure uses RVar pure_domain$x, only update "
                         "definitions may: perhaps an inline reduction was meant");
}

TEST(Definitions, undefined_value) {
    Func f("undefined_value");
    EXPECT_COMPILE_ERROR(f(x) = Expr(), "definition of func undefined_value: value 0 is undefined");
}

TEST(Definitions, call_before_definition) {
    Func f("called_early"), g("calls_early");
    EXPECT_COMPILE_ERROR(g(x) = f(x) + 1, "func called_early is called before it is defined");
    EXPECT_COMPILE_ERROR(f(x) = f(x - 1) + 1, "func called_early is called before it is defined");
}

TEST(Definitions, wrong_number_of_coordinates) {
    Func f("two_coordinates");
    f(x, y) = x;
    EXPECT_COMPILE_ERROR(f(x),
                         "func two_coordinates is called with 1 coordinates, it has 2 dimensions");
    EXPECT_COMPILE_ERROR(f(x, y, z),
                         "func two_coordinates is called with 3 coordinates, it has 2 dimensions");
}

TEST(Definitions, coordinate_of_the_wrong_type) {
    Func f("float_coordinate"), g("calls_float_coordinate");
    f(x) = x;
    EXPECT_COMPILE_ERROR(g(x) = f(cast<float>(x)),
                         "coordinate 0 of a call to func float_coordinate has type float32, must "
                         "fit in int32");
    EXPECT_COMPILE_ERROR(g(x) = f(cast<int64_t>(x)),
                         "coordinate 0 of a call to func float_coordinate has type int64, must "
                         "fit in int32");
}

TEST(Definitions, update_of_another_type) {
    Func f("int_func");
    f(x) = x;
    EXPECT_COMPILE_ERROR(f(x) = 1.5f,
                         "update definition 0 of func int_func has type float32, the pure "
                         "definition has type int32");
}

TEST(Definitions, update_with_another_number_of_values) {
    Func f("pair_func");
    f(x) = Tuple(x, 1.0f);
    EXPECT_COMPILE_ERROR(
        f(x) = x, "update definition 0 of func pair_func has type int32, the pure definition "
                  "has type (int32, float32)");
    EXPECT_COMPILE_ERROR(f(x) += 1, "an update of func pair_func has 1 values, the func has 2");
    EXPECT_COMPILE_ERROR(Expr(f(x)),
                         "func pair_func has 2 values and is used as one: choose a value with []");
    EXPECT_COMPILE_ERROR(f(x)[2], "func pair_func has no value 2, it has 2");
}

TEST(Definitions, pure_var_in_another_place) {
    Func f("moved_var");
    f(x, y) = x;
    EXPECT_COMPILE_ERROR(f(y, 0) = x,
                         "update definition 0 of func moved_var uses variable y, which is none of "
                         "its arguments");
    EXPECT_COMPILE_ERROR(f(x, 0) = y,
                         "update definition 0 of func moved_var uses variable y, which is none of "
                         "its arguments");
}

TEST(Definitions, rvars_of_two_domains) {
    Func f("two_domains");
    RDom r(0, 10, "domain_a"), s(0, 10, "domain_b");
    f(x) = 0;
    EXPECT_COMPILE_ERROR(f(r) = s + 0,
                         "update definition 0 of func two_domains uses RVars of two reduction "
                         "domains, domain_a and domain_b");
}

TEST(Definitions, update_after_use) {
    Func f("used_func"), g("user_func");
    f(x) = x;
    g(x) = f(x);
    EXPECT_COMPILE_ERROR(
        f(x) += 1, "func used_func cannot be updated: it is already used by another func or a "
                   "pipeline");
}

TEST(Definitions, update_of_an_output) {
    Func f("output_func");
    f(x) = x;
    Pipeline p(f);
    EXPECT_COMPILE_ERROR(
        f(x) += 1, "func output_func cannot be updated: it is already used by another func or "
                   "a pipeline");
}

TEST(Definitions, extern_stage_of_itself) {
    Func f("extern_of_itself");
    EXPECT_COMPILE_ERROR(f.define_extern("c_function", {f}, Int(32), 1),
                         "argument 0 of the extern definition of func extern_of_itself is the func "
                         "itself");
}

TEST(Definitions, extern_stage_of_values_that_are_not_known) {
    Func f("extern_of_values");
    EXPECT_COMPILE_ERROR(f.define_extern("c_function", {Expr()}, Int(32), 1),
                         "argument 0 of the extern definition of func extern_of_values is "
                         "undefined");
    EXPECT_COMPILE_ERROR(f.define_extern("c_function", {Expr(2), x + 1}, Int(32), {x}),
                         "argument 1 of the extern definition of func extern_of_values depends on "
                         "variable x, only parameters are allowed");
}

TEST(Definitions, extern_stage_of_an_inlined_func) {
    Func f("inlined"), g("transposed"), stage("extern_stage");
    f(x, y) = x + y;
    g(x, y) = f(y, x);
    f.compute_root();
    stage.define_extern("c_function", {g}, Int(32), 2);
    EXPECT_COMPILE_ERROR(
        stage.realize({4, 4}),
        "func transposed is inlined, but extern stage extern_stage takes it as a buffer: say where "
        "it is computed, by compute_at or compute_root");
}

TEST(Definitions, declared_type_and_dimensions) {
    Func f(Float(32), 2, "declared");
    EXPECT_COMPILE_ERROR(f(x, y) = x,
                         "func declared is declared with type float32 but defined with type int32");
    EXPECT_COMPILE_ERROR(f(x) = 1.0f,
                         "func declared is declared with 2 dimensions but defined with 1");
}

TEST(Definitions, extern_after_definition) {
    Func f("pure_and_extern"), g("extern_and_pure");
    f(x) = x;
    EXPECT_COMPILE_ERROR(f.define_extern("c_function", {}, Int(32), 1),
                         "func pure_and_extern cannot get an extern definition: it is already "
                         "defined");
    g.define_extern("c_function", {}, Int(32), 1);
    EXPECT_COMPILE_ERROR(g(x) = 3,
                         "func extern_and_pure has an extern definition and can have no other");
}

TEST(Definitions, queries_of_the_undefined) {
    Func f("nothing_yet");
    EXPECT_COMPILE_ERROR(f.dimensions(),
                         "dimensions of func nothing_yet, which is not defined yet");
    EXPECT_COMPILE_ERROR(f.types(), "types of func nothing_yet, which is not defined yet");
    EXPECT_COMPILE_ERROR(f.values(), "values of func nothing_yet, which has no pure definition");
    EXPECT_COMPILE_ERROR(f.update(0), "func nothing_yet has no update definition 0, it has 0");
    EXPECT_COMPILE_ERROR(f.vectorize(x),
                         "a directive of func nothing_yet, which is not defined yet");
    EXPECT_COMPILE_ERROR(Pipeline{f}, "output func nothing_yet of a pipeline is not defined");
    EXPECT_COMPILE_ERROR(Pipeline(std::vector<Func>()), "a pipeline has no outputs");
}

TEST(Definitions, tuples) {
    EXPECT_COMPILE_ERROR(Tuple(std::vector<Expr>()), "a Tuple has no elements");
    EXPECT_COMPILE_ERROR(Tuple(Expr(1), Expr(2))[2], "a Tuple of 2 has no element 2");
    EXPECT_COMPILE_ERROR(select(x > 0, Tuple(1, 2), Tuple(1, 2, 3)),
                         "select of Tuples of different sizes, 2 and 3");
}

TEST(Definitions, constants_that_overflow) {
    Func f("overflows");
    f(x) = Expr(0x12345678) * Expr(0x76543210);
    EXPECT_COMPILE_ERROR(f.realize({10}),
                         "a value of overflows is a constant that overflows int32");
    Func wraps("wraps");
    wraps(x) = cast<uint8_t>(200) + cast<uint8_t>(100);
    EXPECT_NO_THROW(wraps.realize({10}));
}

}  // namespace
}  // namespace calotype
