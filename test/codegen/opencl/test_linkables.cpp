// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Linkables in OpenCL C: their source in front of the kernels, calls with every type, on a device.
#include <gtest/gtest.h>

#include <cstring>

#include "codegen/opencl/kernel_text.h"
#include "codegen/opencl/raw_opencl.h"
#include "harness/expect_error.h"
#include "ir/constants.h"

namespace calotype::internal {
namespace {

using test::RawArgument;

LinkableData opencl_linkable(const std::string &name, const std::string &source) {
    LinkableImage image;
    image.kind = CALOTYPE_OPENCL_C;
    image.bytes = source;
    image.origin = "lib/" + name + ".cl";
    LinkableData linkable;
    linkable.name = name;
    linkable.images = {image};
    return linkable;
}

Expr in(int i) {
    return Load::make(Int(32), "a", make_const(Int(32), i), const_true(), Alignment());
}

Stmt set(int i, const Expr &value) {
    return Store::make("a", Cast::make(Int(32), value), make_const(Int(32), i), const_true(),
                       Alignment());
}

Expr call(Type t, const std::string &name, const std::vector<Expr> &args, int value_index = 0,
          CallKind kind = CallKind::PureExtern) {
    return Call::make(t, name, args, kind, value_index);
}

DeviceCode compile(const DeviceModule &module) {
    return compile_device_module(module, Target("x86-64-linux-opencl-cl_doubles"));
}

const char *const library = R"(
__constant int table[2] = {5, 6};
int next(int a, int b) { return a + b; }
short small(char a, bool b, ushort c) { return b ? (short)a : (short)c; }
float4 scale(float4 v, float s) { return v * s; }
void put(__global int *p, int x) { *p = x; }
__global int *at(__global int *p, int i) { return p + i; }
bool is_odd(ulong x) { return x & 1; }
)";

TEST(OpenclLinkables, EveryType) {
    std::vector<Expr> vector;
    for (int i = 0; i < 5; i++) {
        vector.push_back(Cast::make(Float(32), in(i)));
    }
    Expr lanes = Ramp::make(make_const(Int(32), 12), make_one(Int(32)), 3);
    Expr three = Load::make(Int(32, 3), "a", lanes, const_true(3), Alignment());
    Expr address = Variable::make(Handle(), "p");
    DeviceModule m =
        one_kernel({out_buffer("a", Int(32)), scalar_arg("p", Handle())},
                   Block::make({set(6, call(Int(32), "next", {in(0), in(1)})),
                                set(7, call(Int(16), "small",
                                            {Cast::make(Int(8), in(2)), Cast::make(Bool(), in(0)),
                                             Cast::make(UInt(16), in(1))})),
                                set(8, call(Float(32), "scale", vector, 2)),
                                set(9, call(Bool(), "is_odd", {Cast::make(UInt(64), in(3))})),
                                Store::make("a", call(Int(32, 3), "next", {three, three}), lanes,
                                            const_true(3), Alignment())}));
    m.linked.linkables = {opencl_linkable("lib", library)};
    m.linked.functions = {{"next", {Int(32), {Int(32), Int(32)}}},
                          {"small", {Int(16), {Int(8), Bool(), UInt(16)}}},
                          {"scale", {Float(32, 4), {Float(32, 4), Float(32)}}},
                          {"is_odd", {Bool(), {UInt(64)}}}};
    const DeviceCode code = compile(m);
    ASSERT_EQ(code.images.size(), 1u);
    EXPECT_EQ(code.images[0].bytes.find(std::string("// linkable lib\n") + library), 0u);
    ASSERT_EQ(code.linkables.size(), 1u);
    EXPECT_EQ(code.linkables[0].how, "OpenCL C in front of the kernels");
    EXPECT_TRUE(code.linkables[0].data.images.empty());
    if (!test::have_opencl()) {
        GTEST_SKIP() << "no OpenCL device";
    }
    const int32_t before[15] = {1, 2, -3, 5, 10, 0, 0, 0, 0, 0, 0, 0, 7, 8, 9};
    std::vector<uint8_t> a(sizeof before);
    std::memcpy(a.data(), before, sizeof before);
    ASSERT_EQ(test::run_opencl(code.images[0].bytes, "k",
                               {RawArgument::bytes(a), RawArgument::value<uint64_t>(0)}),
              "")
        << code.images[0].bytes;
    int32_t after[15];
    std::memcpy(after, a.data(), sizeof after);
    EXPECT_EQ(after[6], 3);
    EXPECT_EQ(after[7], -3);
    EXPECT_EQ(after[8], -30);
    EXPECT_EQ(after[9], 1);
    EXPECT_EQ(after[12], 14);
    EXPECT_EQ(after[14], 18);
}

DeviceModule calling_next(const std::vector<LinkableData> &linkables) {
    DeviceModule m =
        one_kernel({out_buffer("a", Int(32))}, set(0, call(Int(32), "next", {in(1), in(2)})));
    m.linked.linkables = linkables;
    m.linked.functions = {{"next", {Int(32), {Int(32), Int(32)}}}};
    return m;
}

TEST(OpenclLinkables, Errors) {
    EXPECT_COMPILE_ERROR(
        compile(calling_next({opencl_linkable("lib", "int nextt(int a, int b) { return a; }")})),
        "function next is not in linkable lib (lib/lib.cl); nearest is nextt");
    EXPECT_COMPILE_ERROR(
        compile(calling_next({opencl_linkable("lib", library), opencl_linkable("b", library)})),
        "at is defined twice: by linkable lib (lib/lib.cl) and by linkable b (lib/b.cl)");
    EXPECT_COMPILE_ERROR(
        compile(calling_next({opencl_linkable("lib", "int next(int a) {}")})),
        "function next of linkable lib (lib/lib.cl) has 1 parameter, but is called "
        "with 2");
    EXPECT_COMPILE_ERROR(
        compile(calling_next({opencl_linkable(
            "lib",
            "#ifdef A\nint next(void) {}\n#else\nint next(int a, int b, int c) {}\n#endif")})),
        "function next of linkable lib (lib/lib.cl) has 0 or 3 parameters, but is called with 2");
    // Where macros are among them, the device's compiler says it.
    compile(calling_next({opencl_linkable("lib", "#define P int a\nint next(P) {}")}));
    compile(calling_next({opencl_linkable("lib", "FN(next)")}));
    EXPECT_COMPILE_ERROR(
        compile(calling_next({opencl_linkable("lib", "int next(int a, float b) { return a; }")})),
        "function next of linkable lib (lib/lib.cl) takes float as parameter 2, but is called with "
        "int32");
    DeviceModule m = calling_next({opencl_linkable("lib", "int next(five a, float b) {}")});
    m.linked.functions = {{"next", {Int(32), {Float(32, 5), Float(32)}}}};
    m.kernels[0].body = set(0, call(Int(32), "next", std::vector<Expr>(6, make_one(Float(32)))));
    EXPECT_COMPILE_ERROR(compile(m),
                         "kernel k calls next, which takes or gives float32x5: OpenCL C for this "
                         "target has no such type");
    m.linked.needs_device_runtime = true;
    EXPECT_COMPILE_ERROR(compile(m),
                         "module test uses the device runtime (nrt), which OpenCL does not have");
}

TEST(OpenclLinkables, CallbacksTravel) {
    LinkableData host;
    host.name = "host";
    host.setup = "host_setup";
    host.images.emplace_back();
    host.images[0].kind = CALOTYPE_HOST_ONLY;
    const DeviceCode code = compile(calling_next({opencl_linkable("lib", library), host}));
    ASSERT_EQ(code.linkables.size(), 2u);
    EXPECT_EQ(code.linkables[1].data.setup, "host_setup");
    EXPECT_TRUE(code.linkables[1].data.images.empty());
    EXPECT_EQ(code.linkables[1].content.size(), 32u);
}

}  // namespace
}  // namespace calotype::internal
