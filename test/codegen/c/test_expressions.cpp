// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Expressions in C++ source whose exact meaning a double or an int would lose, compiled by the
// system's compiler.
#include "codegen/c/compiled.h"

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
