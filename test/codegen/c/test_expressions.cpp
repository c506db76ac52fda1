// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Expressions in C++ source whose exact meaning a double or an int would lose, compiled by the
// system's compiler.
#include "codegen/c/compiled.h"
#include "ir/operators.h"

namespace calotype::internal {
namespace {

LoweredModule module_of(const Stmt &body) {
    return internal::module_of("out", "src", body);
}

LoweredModule module_of(const std::string &body) {
    return module_of(parse_stmt(body));
}

/// Runs f(out, src).
template<typename T>
void run(const std::string &body, T *out, const T *in) {
    with_compiled(module_of(body), "-ftrapv", [&](auto *f) { EXPECT_EQ(f(out, in), 0); });
}

TEST(CppExpressions, LerpOf32BitsIsExact) {
    const uint32_t in[3] = {4000000001u, 3u, 4294967293u};
    uint32_t out = 0;
    run("out[0] = lerp(src[0]:uint32, src[1]:uint32, src[2]:uint32)", &out, in);
    const uint64_t top = 0xffffffffu;
    EXPECT_EQ(out, uint32_t((in[0] * (top - in[2]) + in[1] * uint64_t(in[2]) + top / 2) / top));
}

TEST(CppExpressions, LerpOf64BitsIsToNearest) {
    const uint64_t in[4] = {~uint64_t(0) - 6, 5, uint64_t(3) << 40, 1};
    uint64_t out[4] = {};
    run("out[0] = lerp(src[0]:uint64, src[1]:uint64, (uint32)1431655765)\n"
        "out[1] = lerp(src[1]:uint64, src[0]:uint64, (uint8)255)\n"
        "out[2] = lerp(src[1]:uint64, src[0]:uint64, 1.0f)\n"
        "out[3] = uint64(lerp(int64(src[2]:uint64), int64(0) - int64(src[2]:uint64), (uint8)51))",
        out, in);
    using Wide = unsigned __int128;
    const Wide top = 0xffffffffu, w = 1431655765;
    EXPECT_EQ(out[0], uint64_t((in[0] * (top - w) + in[1] * w + top / 2) / top));
    EXPECT_EQ(out[1], in[0]);
    EXPECT_EQ(out[2], in[0]);
    const uint64_t third = (uint64_t(3) << 41) / 5;
    EXPECT_EQ(out[3], in[2] - third - (2 * (uint64_t(3) << 41) % 10 > 5 ? 1 : 0));
}

TEST(CppExpressions, LerpOfAnyWeight) {
    const float in[2] = {2, 10};
    float out[3] = {};
    run("out[0] = lerp(src[0]:float32, src[1]:float32, (float64)0.25)\n"
        "out[1] = float32(lerp(false, true, 0.25f))\nout[2] = float32(lerp(false, true, "
        "(uint8)128))",
        out, in);
    EXPECT_EQ(out[0], 4);
    EXPECT_EQ(out[1], 0);
    EXPECT_EQ(out[2], 1);
}

TEST(CppExpressions, ProductsOfUnsigned64BitsHave128) {
    const uint64_t in[2] = {~uint64_t(0), ~uint64_t(0) - 1};
    uint64_t out[3] = {};
    run("out[0] = mul_shift_right(src[0]:uint64, src[1]:uint64, (uint64)64)\n"
        "out[1] = rounding_mul_shift_right(src[0]:uint64, src[0]:uint64, (uint64)127)\n"
        "out[2] = mul_shift_right(src[0]:uint64, src[0]:uint64, (uint64)3)",
        out, in);
    EXPECT_EQ(out[0], in[0] - 2);
    EXPECT_EQ(out[1], 2u);
    EXPECT_EQ(out[2], in[0]);
}

TEST(CppExpressions, SumsOfBoolsAreModulo2) {
    const uint8_t in[2] = {1, 1};
    uint8_t out[1] = {7};
    run("out[0] = uint8(vector_reduce(add, src[ramp(0, 1, 2)]:uint8x2 == broadcast((uint8)1, 2), "
        "1))",
        out, in);
    EXPECT_EQ(out[0], 0);
}

TEST(CppExpressions, DifferencesDoNotOverflow) {
    const int32_t in[2] = {INT32_MIN, INT32_MAX};
    int32_t out[2] = {};
    run("out[0] = int32(absd(src[0], src[1]):uint32)\nout[1] = int32(absd(src[1], src[0]):uint32)",
        out, in);
    EXPECT_EQ(out[0], -1);
    EXPECT_EQ(out[1], -1);
}

TEST(CppExpressions, PrefetchesTheElement) {
    const std::string text = c_source_text(
        module_of(Evaluate::make(Call::make(Float(32), Intrinsic::prefetch,
                                            {Variable::make(Handle(), "out"), Expr(12)}))),
        Target("x86-64-linux"));
    EXPECT_NE(text.find("__builtin_prefetch((const uint8_t *)a0 + int64_t(int32_t(12)) * 4);"),
              std::string::npos)
        << text.substr(text.find("int f("));
}

Expr cpp_call(Type t, const char *name, const std::vector<Expr> &args) {
    return Call::make(t, name, args, CallKind::ExternCPlusPlus);
}

TEST(CppExpressions, CallsFunctionsInNamespaces) {
    const Expr one = Expr(1), half = Expr(0.5f);
    const Expr sum = cpp_call(Int(32), "at_top", {one, half}) +
                     cpp_call(Int(32), "outer::twice", {one}) +
                     cpp_call(Int(32), "outer::twice", {half}) +
                     cpp_call(Int(32), "outer::inner::thrice", {one});
    const LoweredModule module = module_of(Store::make("out", sum, Expr(0)));
    int32_t out = 0;
    with_compiled(
        module, "", [&](auto *f) { EXPECT_EQ(f(&out, nullptr), 0); },
        "int at_top(int a, float b) { return a + int(b * 2); }\n"
        "namespace outer {\n"
        "int twice(int a) { return 20 * a; }\n"
        "int twice(float a) { return int(a * 400); }\n"
        "namespace inner { int thrice(int a) { return a * 3000; } }\n"
        "}\n");
    EXPECT_EQ(out, 3222);
}

TEST(CppExpressions, PassesHandlesByTheirTypes) {
    static const HandleType point{"struct outer::point const *"};
    const Type t = Handle(1, &point);
    const Expr next = cpp_call(t, "outer::next", {Variable::make(t, "src")});
    const LoweredModule module =
        module_of(Store::make("out", cpp_call(Int(32), "outer::x_of", {next}), Expr(0)));
    const int32_t points[2] = {4, 7};
    int32_t out = 0;
    with_compiled(
        module, "", [&](auto *f) { EXPECT_EQ(f(&out, points), 0); },
        "namespace outer {\n"
        "struct point { int x; };\n"
        "point const *next(point const *p) { return p + 1; }\n"
        "int x_of(point const *p) { return p->x; }\n"
        "}\n");
    EXPECT_EQ(out, 7);
}

TEST(CppExpressions, CppFunctionsHaveTheTypesOfTheirHandles) {
    static const HandleType point{"struct outer::point const *"};
    LoweredModule module = module_of("out[0] = 1");
    LoweredFunction &f = module.functions[0];
    f.name = "outer::f";
    f.name_mangling = NameMangling::CPlusPlus;
    f.linkage = LinkageType::ExternalPlusMetadata;
    f.args[1].type = Handle(1, &point);
    TemporaryDirectory folder;
    const std::string base = folder.path() + "/f";
    write_file_atomically(base + ".h", c_header_text(module, Target("x86-64-linux")));
    write_file_atomically(base + ".cpp", c_source_text(module, Target("x86-64-linux")) +
                                             "#include \"f.h\"\n"
                                             "extern \"C\" int g(int *out) {\n"
                                             "    return outer::f(out, nullptr);\n"
                                             "}\n");
    const std::string command =
        "cd " + folder.path() + " && c++ -std=c++17 -fPIC -shared -Wl,-z,defs f.cpp -o f.so 2> log";
    EXPECT_EQ(std::system(command.c_str()), 0) << read_file(folder.path() + "/log");
}

TEST(CppExpressions, StrictFloatsAreNotContracted) {
    const LoweredModule plain =
        module_of("out[0] = src[0]:float32 * src[1]:float32 + src[2]:float32");
    const LoweredModule strict =
        module_of("out[0] = strict_add(src[0]:float32 * src[1]:float32, src[2]:float32)");
    const auto has_pragma = [](const LoweredModule &module, const char *target) {
        return c_source_text(module, Target(target)).find("FP_CONTRACT OFF") != std::string::npos;
    };
    EXPECT_FALSE(has_pragma(plain, "x86-64-linux"));
    EXPECT_TRUE(has_pragma(plain, "x86-64-linux-strict_float"));
    EXPECT_TRUE(has_pragma(strict, "x86-64-linux"));
}

}  // namespace
}  // namespace calotype::internal
