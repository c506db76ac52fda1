// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls of functions of linkables that cannot be.
#include <calotype/calotype.h>

#include "harness/expect_error.h"
#include "harness/linkable_files.h"

#include <gtest/gtest.h>

CalotypePureExtern_1(int, noise, int);

namespace calotype {

using namespace internal;
namespace {

using namespace test;

Var x("x"), y("y");

Linkable code(const std::string &name) {
    return Linkable::from_bytes(CALOTYPE_PTX, ptx("sm_80", name), name);
}

void lower_for_cuda(const Func &f) {
    Func(f).compile_to_module({}, "p", Target("x86-64-linux-cuda"));
}

TEST(LinkedCalls, arguments) {
    const Linkable rng = code("rng");
    EXPECT_COMPILE_ERROR(extern_device_call(Linkable(), "f", Int(32), {x}),
                         "function 'f' is of a linkable that is not defined");
    EXPECT_COMPILE_ERROR(extern_device_call(rng, "f", Int(32), {x, Expr()}),
                         "argument 1 of function 'f' is undefined");
    EXPECT_COMPILE_ERROR(extern_device_call(rng, "f", Int(32), {Ramp::make(x, 1, 4)}),
                         "argument 0 of function 'f' has type int32x4, must be a scalar");
    EXPECT_COMPILE_ERROR(extern_device_call(rng, "f", Int(32), {x, {Expr(1.0f), Expr(2)}}),
                         "argument 1 of function 'f' is a vector of float32 and int32, must be of "
                         "one type");
    EXPECT_COMPILE_ERROR(extern_device_call(rng, "f", Int(32), {Expr("text")}),
                         "argument 0 of function 'f' is a string");
    const std::vector<Expr> many(17, Expr(1));
    EXPECT_COMPILE_ERROR(extern_device_call(rng, "f", Int(32), {Tuple(many)}),
                         "argument 0 of function 'f' is a vector of 17 lanes, must have 1 to 16");
}

TEST(LinkedCalls, names_and_results) {
    const Linkable rng = code("rng");
    EXPECT_COMPILE_ERROR(extern_device_call(rng, "a b", Int(32)),
                         "'a b' is not the name of a function of linkable 'rng'");
    EXPECT_COMPILE_ERROR(extern_device_symbol(rng, ""),
                         "'' is not the name of a symbol of linkable 'rng'");
    EXPECT_COMPILE_ERROR(extern_device_symbol(Linkable(), "s"),
                         "symbol 's' is of a linkable that is not defined");
    EXPECT_COMPILE_ERROR(pure_extern_device_call(rng, "f", Float(32, 4), {x}),
                         "function 'f' has a result of type float32x4, which is a vector: "
                         "pure_extern_device_call_vector calls it");
    EXPECT_COMPILE_ERROR(pure_extern_device_call_vector(rng, "f", Float(32, 17), {x}),
                         "function 'f' of linkable 'rng' has a result of type float32x17, must "
                         "have a type with 1 to 16 lanes");
}

TEST(LinkedCalls, one_name_of_two) {
    Func f("f");
    f(x) = extern_device_call(code("a"), "noise", Int(32), {x}) +
           extern_device_call(code("b"), "noise", Int(32), {x});
    EXPECT_COMPILE_ERROR(lower_for_cuda(f), "'noise' is taken from two linkables, 'a' and 'b'");
    Func g("g");
    g(x) = extern_device_call(code("a"), "noise", Int(32), {x}) +
           cast<int>(reinterpret<uint64_t>(extern_device_symbol(code("b"), "noise")));
    EXPECT_COMPILE_ERROR(lower_for_cuda(g), "'noise' is taken from two linkables, 'a' and 'b'");
    Func h("h");
    h(x) = extern_device_call(code("a"), "noise", Int(32), {x}) + noise(x);
    EXPECT_COMPILE_ERROR(lower_for_cuda(h),
                         "function 'noise' is called of linkable 'a' and also as a C function");
}

TEST(LinkedCalls, two_signatures) {
    const Linkable a = code("a");
    Func f("f"), g("g");
    g(x) = extern_device_call(a, "noise", Int(32), {x});
    f(x) = g(x) + extern_device_call(a, "noise", Int(32), {x, 1.0f});
    const std::string error = error_of<CompileError>([&] { lower_for_cuda(f); });
    EXPECT_TRUE(error == "function 'noise' of linkable 'a' is called with two signatures, "
                         "int32(int32, float32) and int32(int32)" ||
                error == "function 'noise' of linkable 'a' is called with two signatures, "
                         "int32(int32) and int32(int32, float32)")
        << error;
    Func h("h");
    h(x) = extern_device_call(a, "noise", Int(32), {x, {x, x}}) +
           extern_device_call(a, "noise", Int(32), {x, x, x});
    EXPECT_COMPILE_ERROR(lower_for_cuda(h),
                         "function 'noise' of linkable 'a' is called with two signatures, "
                         "int32(int32, int32x2) and int32(int32, int32, int32)");
}

// What lies on the host would have to call the device.
TEST(LinkedCalls, regions_are_not_computed_by_them) {
    Func f("f"), g("far");
    Param<int> p("p");
    g(x) = x;
    g.compute_root();
    f(x) = g(pure_extern_device_call(code("a"), "place", Int(32), {p}));
    EXPECT_COMPILE_ERROR(f.compile_to_module({p}, "p", Target("x86-64-linux-cuda")),
                         "func far is read at an unbounded range of coordinates in dimension x");
}

TEST(LinkedCalls, undefined_linkables) {
    Func f("f");
    f(x) = x;
    EXPECT_COMPILE_ERROR(Pipeline(f).add_linkable(Linkable()),
                         "an undefined linkable is added to a pipeline");
    EXPECT_COMPILE_ERROR((void)Linkable().setup("f"), "a property of an undefined linkable is set");
    EXPECT_COMPILE_ERROR((void)Linkable().add_path("f.ptx"),
                         "linkable file 'f.ptx' does not exist");
    EXPECT_COMPILE_ERROR(Linkable::host_only(""), "a linkable has an empty name");
    EXPECT_COMPILE_ERROR((void)code("a").name(""), "linkable 'a' is given an empty name");
    EXPECT_COMPILE_ERROR((void)code("a").after(""), "linkable 'a' comes after an empty name");
    const std::string cut("b\0c", 3);
    EXPECT_COMPILE_ERROR((void)code("a").name(cut),
                         "linkable 'a' is given a name with a NUL in it, behind 'b'");
    EXPECT_COMPILE_ERROR((void)code("a").after(cut),
                         "linkable 'a' comes after a name with a NUL in it, behind 'b'");
}

}  // namespace
}  // namespace calotype
