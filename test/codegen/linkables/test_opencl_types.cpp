// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Types of OpenCL C in all spellings, and calls that have others.
#include <gtest/gtest.h>

#include "codegen/linkables/symbols.h"
#include "harness/expect_error.h"

namespace calotype::internal {
namespace {

/// Of the only parameter of a function.
std::optional<OpenclType> parameter(const std::string &written) {
    const ImageSymbols symbols = opencl_symbols("int f(" + written + ") { return 0; }");
    const auto &signatures = symbols.opencl.at("f");
    EXPECT_EQ(1u, signatures.size()) << written;
    EXPECT_EQ(1u, signatures[0].parameters.size()) << written;
    return signatures[0].parameters.at(0);
}

TEST(OpenclTypes, OfParameters) {
    const struct {
        const char *written, *text;
        Type type;
    } cases[] = {
        {"int a", "int", Int(32)},
        {"int", "int", Int(32)},
        {"const int a", "int", Int(32)},
        {"int const volatile a", "int", Int(32)},
        {"private int a", "int", Int(32)},
        {"bool b", "bool", Bool()},
        {"char c", "char", Int(8)},
        {"signed char", "signed char", Int(8)},
        {"unsigned char c", "unsigned char", UInt(8)},
        {"uchar c", "uchar", UInt(8)},
        {"short int s", "short int", Int(16)},
        {"unsigned short", "unsigned short", UInt(16)},
        {"ushort s", "ushort", UInt(16)},
        {"signed", "signed", Int(32)},
        {"unsigned", "unsigned", UInt(32)},
        {"unsigned u", "unsigned", UInt(32)},
        {"int unsigned u", "int unsigned", UInt(32)},
        {"uint u", "uint", UInt(32)},
        {"long l", "long", Int(64)},
        {"long int", "long int", Int(64)},
        {"unsigned long int l", "unsigned long int", UInt(64)},
        {"ulong l", "ulong", UInt(64)},
        {"half h", "half", Float(16)},
        {"float f", "float", Float(32)},
        {"double d", "double", Float(64)},
        {"float2 v", "float2", Float(32, 2)},
        {"const float3 v", "float3", Float(32, 3)},
        {"uchar4", "uchar4", UInt(8, 4)},
        {"long8 v", "long8", Int(64, 8)},
        {"half16 v", "half16", Float(16, 16)},
        {"__global int *p", "a pointer to __global memory", Handle()},
        {"global const float4*restrict p", "a pointer to __global memory", Handle()},
        {"const __global struct pair *const p", "a pointer to __global memory", Handle()},
        {"int __global *", "a pointer to __global memory", Handle()},
        {"__generic void *p", "a pointer to __generic memory", Handle()},
        {"void *p", "a pointer", Handle()},
    };
    for (const auto &c : cases) {
        const auto found = parameter(c.written);
        ASSERT_TRUE(found) << c.written;
        EXPECT_EQ(c.text, found->text) << c.written;
        EXPECT_TRUE(found->is(c.type)) << c.written;
        EXPECT_FALSE(found->is(c.type.is_handle() ? Int(64) : Handle())) << c.written;
        EXPECT_FALSE(found->is(Int(32, 5))) << c.written;
    }
    // To memory that kernels pass no pointers to.
    for (const char *memory : {"local", "constant", "private"}) {
        const auto found = parameter("__" + std::string(memory) + " int *p");
        ASSERT_TRUE(found);
        EXPECT_EQ("a pointer to __" + std::string(memory) + " memory", found->text);
        EXPECT_FALSE(found->is(Handle()));
    }
    // A half may be kept as a float.
    EXPECT_TRUE(parameter("float f")->is(Float(16)));
    EXPECT_FALSE(parameter("ushort s")->is(Float(16)));
}

/// Nobody knows without a compiler for the device.
TEST(OpenclTypes, OfParametersThatAreNotWrittenOut) {
    for (const char *written : {"number a",
                                "number",
                                "struct pair p",
                                "enum kind k",
                                "size_t n",
                                "ptrdiff_t n",
                                "image2d_t i",
                                "read_only image2d_t i",
                                "long long l",
                                "unsigned float f",
                                "short long s",
                                "float5 v",
                                "bool2 b",
                                "void2 v",
                                "int a[4]",
                                "__global int **p",
                                "float (*a)[2]",
                                "int (*f)(int)",
                                "__attribute__((aligned(4))) struct s a",
                                "int a __attribute__((unused))",
                                "unsigned number n",
                                "..."}) {
        EXPECT_FALSE(parameter(written)) << written;
    }
    EXPECT_TRUE(parameter("__attribute__((aligned(4))) int a"));
}

TEST(OpenclTypes, OfResults) {
    const struct {
        const char *written, *text;
    } cases[] = {
        {"int f", "int"},
        {"static inline float4 f", "float4"},
        {"int g(void) { return 1; }\nshort f", "short"},
        {"constant int t[] = {1}; uint f", "uint"},
        {"int f(int a);\nulong f", "ulong"},
        {"__attribute__((always_inline)) __attribute__((pure)) char f", "char"},
        {"__global int *f", "a pointer to __global memory"},
        {"__kernel void f", "void"},
        {"typedef int number;\nnumber f", ""},
        {"struct pair { int a; }; struct pair f", ""},
        {"#define REAL float\nREAL f", ""},
        {"inline f", ""},
    };
    for (const auto &c : cases) {
        const auto s = opencl_symbols(std::string(c.written) + "(int a) { return a; }");
        const auto &found = s.opencl.at("f").back().result;
        EXPECT_EQ(std::string(c.text), found ? found->text : "") << c.written;
    }
}

/// Kernels call int f(int, int) of that source.
void call_f(const std::string &source) {
    LinkableImage image;
    image.kind = CALOTYPE_OPENCL_C;
    image.bytes = source;
    image.origin = "lib/lib.cl";
    LinkedCode linked;
    linked.linkables.resize(1);
    linked.linkables[0].name = "lib";
    linked.linkables[0].images = {image};
    linked.functions = {{"f", {Int(32), {Int(32), Int(32)}}}};
    check_symbols(linked, {used_image(linked.linkables[0], linked.linkables[0].images[0])});
}

TEST(OpenclTypes, OfCalls) {
    const std::pair<const char *, const char *> refused[] = {
        {"int f(int a, float b) { return a; }",
         "takes float as parameter 2, but is called with int32"},
        {"int f(unsigned int a, int b) { return a; }",
         "takes unsigned int as parameter 1, but is called with int32"},
        {"int f(__global int *a, int b) { return b; }",
         "takes a pointer to __global memory as parameter 1, but is called with int32"},
        {"int f(int4 a, int b) { return b; }",
         "takes int4 as parameter 1, but is called with int32"},
        {"float f(int a, int b) { return b; }", "gives float, but is called for int32"},
        {"void f(int a, int b) {}", "gives void, but is called for int32"},
        {"#ifdef A\nint f(int a) { return a; }\n#else\nint f(int a, long b) { return a; }\n#endif",
         "takes long as parameter 2, but is called with int32"},
    };
    for (const auto &[source, error] : refused) {
        EXPECT_COMPILE_ERROR(call_f(source),
                             std::string("function f of linkable lib (lib/lib.cl) ") + error);
    }
    for (const char *source :
         {"int f(const int a, signed b) { return a; }",
          "typedef int number;\nnumber f(number a, int b) { return a; }",
          "#define REAL float\nint f(int a, REAL b) { return a; }",
          "__attribute__((overloadable)) float f(float a, float b) { return a; }\n"
          "__attribute__((overloadable)) int f(int a, int b) { return a; }",
          "#ifdef A\nint f(int a, float b) { return a; }\n#else\nint f(int a, int b) { return a; "
          "}\n#endif"}) {
        call_f(source);
    }
}

}  // namespace
}  // namespace calotype::internal
