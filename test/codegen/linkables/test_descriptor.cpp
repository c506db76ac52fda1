// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an object tells the runtime of linkables, and bitcode in the host's own code.
#include <gtest/gtest.h>

#include <cstring>

#include "codegen/emit.h"
#include "codegen/jit.h"
#include "codegen/linkables/linkable.h"
#include "codegen/linkables/linked.h"
#include "codegen/module.h"
#include "harness/expect_error.h"
#include "ir/constants.h"
#include "runtime/abi/linkables.h"

namespace calotype::internal {
namespace {

const Target gpu("x86-64-linux-cuda");
const Target host("x86-64-linux");

LoweredFunction function_of(const Stmt &body) {
    LoweredFunction f;
    f.name = "f";
    f.body = body;
    f.args = {LoweredArgument(Argument("out", Argument::InputScalar, Handle(), 0, {}))};
    f.linkage = LinkageType::External;
    f.name_mangling = NameMangling::C;
    return f;
}

/// A module whose function hands its descriptor to see().
LoweredModule seeing_descriptor() {
    LoweredModule m;
    m.name = "test";
    Expr descriptor =
        Call::make(Handle(), Intrinsic::gpu_module_descriptor, {StringImm::make("cuda")});
    m.functions = {
        function_of(Evaluate::make(Call::make(Int(32), "see", {descriptor}, CallKind::Extern)))};
    m.device_modules = {calling_rng_next({})};
    return m;
}

const calotype_module_desc *seen;
int see(const calotype_module_desc *desc) {
    seen = desc;
    return 0;
}
const calotype_device_interface_t *no_interface() {
    return nullptr;
}
int set_up(const calotype_callback_args *) {
    return 0;
}
int tear_down(const calotype_callback_args *) {
    return 0;
}
int user_data;

JitSymbols symbols() {
    return {{"see", reinterpret_cast<const void *>(see)},
            {"calotype_cuda_device_interface", reinterpret_cast<const void *>(no_interface)},
            {"rng_setup", reinterpret_cast<const void *>(set_up)},
            {"rng_teardown", reinterpret_cast<const void *>(tear_down)},
            {"rng_user", &user_data}};
}

DeviceLinkable travelling(const std::string &name) {
    DeviceLinkable l;
    l.data.name = name;
    l.content = linkable_digest(l.data);
    return l;
}

/// Code as the back end would give it.
DeviceCode code_with(const std::vector<DeviceLinkable> &linkables) {
    DeviceCode code;
    code.images = {{CALOTYPE_PTX, 80, 0, "ptx"}, {CALOTYPE_CUBIN, 90, 0, "cubin"}};
    code.kernels = {{"k", 1, 0, 0}};
    code.linkables = linkables;
    return code;
}

std::vector<DeviceLinkable> three() {
    DeviceLinkable a = travelling("a"), b = travelling("b"), c = travelling("c");
    a.data.images = {image_of(CALOTYPE_PTX, 80, "text", "/x/a.ptx"),
                     image_of(CALOTYPE_CUBIN, 90, std::string("\0b", 2), "/x/a.cubin")};
    a.data.setup = "rng_setup";
    a.data.teardown = "rng_teardown";
    a.data.user = "rng_user";
    a.data.lto = LtoMode::Never;
    a.data.is_threadsafe = true;
    a.content = std::string(32, 'a');
    b.data.setup = "rng_gone";
    b.data.is_optional = true;
    b.data.after = {"c", "a"};
    c.data.nrt = true;
    c.data.images = {image_of(CALOTYPE_PTX, 80, "file", "/x/c.ptx")};
    c.data.is_embedded = false;
    return {a, b, c};
}

TEST(LinkableDescriptor, TellsEverything) {
    DeviceCode code = code_with(three());
    code.flags = CALOTYPE_MOD_NRT;
    const auto library =
        JitLibrary::load(CompiledModule(seeing_descriptor(), gpu, {code}).object(), symbols());
    library->function<int(void *)>("f")(nullptr);
    const calotype_module_desc &d = *seen;
    EXPECT_EQ(d.flags, CALOTYPE_MOD_NRT);
    ASSERT_EQ(d.n_linkables, 3u);
    const calotype_linkable_desc &a = *d.linkables[0], &b = *d.linkables[1], &c = *d.linkables[2];
    EXPECT_EQ(a.size, sizeof(calotype_linkable_desc));
    EXPECT_STREQ(a.name, "a");
    EXPECT_EQ(a.flags, CALOTYPE_LK_LTO_NEVER | CALOTYPE_LK_THREADSAFE);
    EXPECT_EQ(std::memcmp(a.content.b, std::string(32, 'a').data(), 32), 0);
    ASSERT_EQ(a.n_images, 2u);
    EXPECT_EQ(a.images[0].kind, CALOTYPE_PTX);
    EXPECT_EQ(a.images[0].sm, 80u);
    EXPECT_STREQ(static_cast<const char *>(a.images[0].data), "text");
    EXPECT_EQ(a.images[1].kind, CALOTYPE_CUBIN);
    EXPECT_EQ(a.images[1].size, 2u);
    EXPECT_EQ(std::memcmp(a.images[1].data, "\0b", 2), 0);
    EXPECT_EQ(a.setup, set_up);
    EXPECT_EQ(a.teardown, tear_down);
    EXPECT_EQ(a.user, &user_data);
    EXPECT_EQ(a.n_after, 0u);
    EXPECT_EQ(b.flags, uint32_t(CALOTYPE_LK_OPTIONAL));
    EXPECT_EQ(b.setup, nullptr) << "weak, and not there";
    EXPECT_EQ(b.n_images, 0u);
    ASSERT_EQ(b.n_after, 2u);
    EXPECT_EQ(b.after[0], 2u);
    EXPECT_EQ(b.after[1], 0u);
    EXPECT_EQ(c.flags, uint32_t(CALOTYPE_LK_NRT | CALOTYPE_LK_BY_PATH));
    ASSERT_EQ(c.n_images, 1u);
    EXPECT_EQ(c.images[0].size, 4u);
    const auto &file = *static_cast<const calotype_file_image *>(c.images[0].data);
    EXPECT_STREQ(file.path, "/x/c.ptx");
    EXPECT_EQ(std::memcmp(file.digest.b, digest_of("file").data(), 32), 0);
}

TEST(LinkableDescriptor, ACallbackThatIsMissingIsAnError) {
    JitSymbols without = symbols();
    without.erase("rng_setup");
    EXPECT_COMPILE_ERROR(
        JitLibrary::load(CompiledModule(seeing_descriptor(), gpu, {code_with(three())}).object(),
                         without),
        "compiled code calls rng_setup, which is not defined in this process");
}

TEST(LinkableDescriptor, WhatNobodyNeedsIsLeftOut) {
    std::vector<DeviceLinkable> all = three();
    all.push_back(travelling("inlined"));
    DeviceCode code = code_with(all);
    code.images[0].is_embedded = false;
    const auto library =
        JitLibrary::load(CompiledModule(seeing_descriptor(), gpu, {code}).object(), symbols());
    library->function<int(void *)>("f")(nullptr);
    EXPECT_EQ(seen->n_linkables, 3u);
    ASSERT_EQ(seen->n_images, 1u);
    EXPECT_EQ(seen->images[0].kind, CALOTYPE_CUBIN);
}

TEST(LinkableDescriptor, IdIsThatOfTheContent) {
    const DeviceModule module = calling_rng_next({});
    const std::string id = device_module_uid(module, code_with(three()));
    const auto differs = [&](auto change) {
        DeviceCode code = code_with(three());
        change(code);
        return device_module_uid(module, code) != id;
    };
    EXPECT_FALSE(differs([](DeviceCode &c) { c.linkables[0].data.images[0].origin = "/y"; }));
    EXPECT_FALSE(differs([](DeviceCode &c) { c.linkables[0].how = "otherwise"; }));
    EXPECT_TRUE(differs([](DeviceCode &c) { c.linkables[0].data.images[0].bytes += "x"; }));
    EXPECT_TRUE(differs([](DeviceCode &c) { c.linkables[0].content[0] = 'b'; }));
    EXPECT_TRUE(differs([](DeviceCode &c) { std::swap(c.linkables[0], c.linkables[1]); }));
    EXPECT_TRUE(differs([](DeviceCode &c) { c.linkables[1].data.after.pop_back(); }));
    EXPECT_TRUE(differs([](DeviceCode &c) { c.linkables.pop_back(); }));
    EXPECT_TRUE(differs([](DeviceCode &c) { c.flags = CALOTYPE_MOD_LTO; }));
    LinkableData data = three()[0].data;
    const std::string digest = linkable_digest(data);
    for (std::string LinkableData::*field :
         {&LinkableData::setup, &LinkableData::teardown, &LinkableData::user}) {
        LinkableData other = data;
        other.*field = "another";
        EXPECT_NE(linkable_digest(other), digest);
    }
    data.is_session_dependent = true;
    EXPECT_NE(linkable_digest(data), digest);
}

/// f(out) on the host that stores value.
LoweredModule storing(const std::vector<Stmt> &stores, const LinkableData &linkable) {
    LoweredModule m;
    m.name = "test";
    m.functions = {function_of(Block::make(stores))};
    m.linked.linkables = {linkable};
    m.linked.functions = {
        {"rng_next", {Int(32), {Int(32), Int(32)}}},
        {"rng_look_up", {Int(32), {Int(32)}}},
        {"rng_scale", {Float(32, 4), {Float(32, 4), Float(32)}}},
        {"rng_is_odd", {Bool(), {UInt(64)}}},
        {"rng_small", {Int(16), {Int(8), Bool(), UInt(16)}}},
    };
    return m;
}

TEST(HostBitcode, IsLinkedAndInlined) {
    NEEDS_INPUT("host.bc");
    LinkableData rng = linkable_of("rng.bc");
    add_image(rng, "host.bc");
    const Type f = Float(32);
    std::vector<Expr> vector;
    for (int i = 0; i < 5; i++) {
        vector.push_back(Cast::make(f, load_out(i)));
    }
    Expr table = Call::make(Handle(), Intrinsic::linked_symbol, {StringImm::make("rng_table")});
    const LoweredModule m = storing(
        {store_out(5, linked_call(Int(32), "rng_next", {load_out(0), load_out(1)})),
         store_out(6, linked_call(Int(32), "rng_look_up", {load_out(1)}, 0, CallKind::Extern)),
         store_out(7, Cast::make(Int(32), linked_call(f, "rng_scale", vector, 3))),
         store_out(8, Cast::make(Int(32), linked_call(Bool(), "rng_is_odd",
                                                      {Cast::make(UInt(64), load_out(2))}))),
         store_out(9, Cast::make(Int(32), linked_call(Int(16), "rng_small",
                                                      {Cast::make(Int(8), load_out(3)),
                                                       Cast::make(Bool(), load_out(4)),
                                                       Cast::make(UInt(16), load_out(4))}))),
         store_out(10, Cast::make(Int(32), EQ::make(table, make_zero(Handle()))))},
        rng);
    for (const char *target : {"x86-64-linux", "x86-64-linux-avx2-fma-f16c"}) {
        const CompiledModule code(m, Target(target));
        const std::string text = code.llvm_assembly();
        EXPECT_EQ(text.find("call"), std::string::npos) << text;
        EXPECT_EQ(text.find("rng_unused"), std::string::npos) << text;
        EXPECT_NE(text.find("@rng_table = weak"), std::string::npos) << text;
        int32_t out[11] = {1, 2, 3, -4, 5};
        EXPECT_EQ(JitLibrary::load(code.object(), {})->function<int(void *)>("f")(out), 0);
        EXPECT_EQ(out[5], 3);
        EXPECT_EQ(out[6], 30);
        EXPECT_EQ(out[7], -20);
        EXPECT_EQ(out[8], 1);
        EXPECT_EQ(out[9], -4);
        EXPECT_EQ(out[10], 0);
    }
}

int twice(int a) {
    return 2 * a;
}

// What no bitcode has is a function of C.
TEST(HostBitcode, OtherFunctionsAreSymbols) {
    LinkableData none;
    none.name = "rng";
    LoweredModule m = storing({store_out(1, linked_call(Int(32), "twice", {load_out(0)}))}, none);
    m.linked.functions = {{"twice", {Int(32), {Int(32)}}}};
    int32_t out[2] = {21, 0};
    const auto library = JitLibrary::load(CompiledModule(m, host).object(),
                                          {{"twice", reinterpret_cast<const void *>(twice)}});
    EXPECT_EQ(library->function<int(void *)>("f")(out), 0);
    EXPECT_EQ(out[1], 42);
    m.linked.functions = {{"twice", {Int(32), {Float(32, 2)}}}};
    m.functions[0].body =
        store_out(1, linked_call(Int(32), "twice", {make_one(Float(32)), make_one(Float(32))}));
    EXPECT_COMPILE_ERROR(CompiledModule(m, host),
                         "function twice takes or gives float32x2: how C on this machine passes "
                         "that is known only of LLVM bitcode");
}

TEST(HostBitcode, CppSourceCallsScalarFunctions) {
    LinkableData none;
    none.name = "rng";
    LoweredModule m =
        storing({store_out(1, linked_call(Int(32), "rng_next", {load_out(0), load_out(0)}))}, none);
    EXPECT_COMPILE_ERROR(c_source_text(m, host),
                         "function rng_scale takes or gives float32x4, which C++ source cannot "
                         "pass: choose another output");
    m.linked.functions.erase("rng_scale");
    const std::string source = c_source_text(m, host);
    EXPECT_NE(source.find("int32_t rng_next(int32_t, int32_t);"), std::string::npos) << source;
}

TEST(HostBitcode, APipelineMustHaveAnotherName) {
    NEEDS_INPUT("host.bc");
    LoweredModule m =
        storing({store_out(1, linked_call(Int(32), "rng_next", {load_out(0), load_out(0)}))},
                linkable_of("host.bc"));
    m.functions[0].name = "rng_next";
    EXPECT_COMPILE_ERROR(CompiledModule(m, host),
                         "pipeline rng_next has the name of function rng_next of linkable rng "
                         "(in/host.bc)");
}

}  // namespace
}  // namespace calotype::internal
