// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How functions of linkables are called: every kind of parameter, in every form of code.
#include <gtest/gtest.h>

#include "codegen/linkables/linked.h"
#include "codegen/linkables/symbols.h"
#include "codegen/nvptx/kernels.h"
#include "codegen/nvptx/toolkit.h"
#include "codegen/opencl/device_source.h"
#include "ir/constants.h"

namespace calotype::internal {
namespace {

constexpr CallKind effects = CallKind::Extern;

Expr word(const Expr &e) {
    return Cast::make(Int(32), e);
}

/// Calls all functions of rng.cu.
DeviceModule calling_all(const LinkableData &linkable) {
    auto out = [](Type t, int i) {
        return Cast::make(t, load_out(i));
    };
    const Type f = Float(32);
    std::vector<Expr> vector = {out(f, 0), out(f, 1), out(f, 2), out(f, 3), out(f, 4)};
    Expr table = Call::make(Handle(), Intrinsic::linked_symbol, {StringImm::make("rng_table")});
    std::vector<Stmt> stores = {
        store_out(0, linked_call(Int(32), "rng_next", {load_out(1), load_out(2)})),
        store_out(1, word(linked_call(Int(16), "rng_small",
                                      {out(Int(8), 3), out(Bool(), 4), out(UInt(16), 5)}))),
        store_out(2, word(linked_call(Bool(), "rng_is_odd", {out(UInt(64), 6)}))),
        store_out(3, word(linked_call(Float(64), "rng_half", {out(Float(64), 7)}))),
        store_out(4, word(linked_call(f, "rng_scale", vector, 2))),
        store_out(5, linked_call(Int(32), "rng_swap", {load_out(8), load_out(9)}, 1)),
        store_out(6, linked_call(Int(32), "rng_read", {table}, 0, effects)),
        Evaluate::make(linked_call(Int(32), "rng_put", {table, load_out(1)}, 0, effects)),
        store_out(7, linked_call(Int(32), "rng_look_up", {load_out(7)}, 0, effects)),
    };
    DeviceModule module = linked_module(DeviceAPI::CUDA, Block::make(stores));
    module.linked.linkables = {linkable};
    module.linked.functions = {
        {"rng_next", {Int(32), {Int(32), Int(32)}}},
        {"rng_small", {Int(16), {Int(8), Bool(), UInt(16)}}},
        {"rng_is_odd", {Bool(), {UInt(64)}}},
        {"rng_half", {Float(64), {Float(64)}}},
        {"rng_scale", {Float(32, 4), {Float(32, 4), Float(32)}}},
        {"rng_swap", {Int(32, 2), {Int(32, 2)}}},
        {"rng_read", {Int(32), {Handle()}}},
        {"rng_put", {Type(), {Handle(), Int(32)}}},
        {"rng_look_up", {Int(32), {Int(32)}}},
    };
    return module;
}

const Target sm_90("x86-64-linux-cuda-cuda_capability_90");

// L1, L4, L6, L13.
TEST(LinkedCalls, EveryTypeInEveryForm) {
    for (const std::string form :
         {"rng.ptx", "rng.cubin", "rng.o", "rng.fatbin", "rng.ltoir", "rng.cu", "rng.bc"}) {
        NEEDS_INPUT(form);
        for (LtoMode lto : {LtoMode::Allow, LtoMode::Require}) {
            LinkableData rng = linkable_of(form);
            rng.lto = lto;
            const bool offers_lto = form == "rng.ltoir" || form == "rng.cu" || form == "rng.bc";
            if (lto == LtoMode::Require && !offers_lto) {
                continue;
            }
            const DeviceCode code = compile_device_module(calling_all(rng), sm_90);
            const std::string cubin = cubin_for(code, 90);
            const bool is_inlined = form == "rng.bc" || lto == LtoMode::Require;
            for (const char *name : {"rng_next", "rng_small", "rng_is_odd", "rng_half", "rng_scale",
                                     "rng_swap", "rng_read", "rng_put"}) {
                EXPECT_EQ(defines(cubin, name), !is_inlined) << form << " " << name;
            }
            EXPECT_TRUE(defines(cubin, "rng_table")) << form;
        }
    }
}

TEST(LinkedCalls, PtxDeclaresWhatNvccWould) {
    NEEDS_INPUT("rng.o");
    const DeviceCode code = compile_device_module(calling_all(linkable_of("rng.o")), sm_90);
    const ImageSymbols ours = ptx_symbols(code.images[0].bytes);
    const ImageSymbols theirs = ptx_symbols(linked_input("rng.ptx"));
    EXPECT_EQ(theirs.signatures.size(), 9u);
    for (const auto &[name, function] : calling_all(linkable_of("rng.o")).linked.functions) {
        EXPECT_EQ(ours.undefined.count(name), 1u) << name;
        EXPECT_EQ(theirs.signatures.at(name), ptx_signature(function)) << name;
    }
    EXPECT_EQ(ours.undefined.count("rng_table"), 1u);
    const std::string &ptx = code.images[0].bytes;
    EXPECT_NE(ptx.find(".extern .func  (.param .align 16 .b8 func_retval0[16]) rng_scale"),
              std::string::npos)
        << ptx;
}

// A kernel for several lanes calls once a lane.
TEST(LinkedCalls, VectorsAreCalledLaneByLane) {
    NEEDS_INPUT("rng.ptx");
    Expr lanes = Ramp::make(make_const(Int(32), 0), make_const(Int(32), 1), 4);
    Expr loaded = Load::make(Int(32, 4), "out", lanes, const_true(4), Alignment());
    DeviceModule module = linked_module(
        DeviceAPI::CUDA,
        Store::make("out", linked_call(Int(32, 4), "rng_next", {loaded, lanes}, 0, effects), lanes,
                    const_true(4), Alignment()));
    module.linked = calling_rng_next({linkable_of("rng.ptx")}).linked;
    const std::string ptx = compile_device_module(module, sm_90).images[0].bytes;
    size_t calls = 0;
    for (size_t at = ptx.find("rng_next,"); at != std::string::npos;
         at = ptx.find("rng_next,", at + 1)) {
        calls++;
    }
    EXPECT_EQ(calls, 4u) << ptx;
}

TEST(LinkedCalls, BitcodeLinkablesCallEachOther) {
    NEEDS_INPUT("chain.bc");
    DeviceModule module = linked_module(
        DeviceAPI::CUDA, store_out(0, linked_call(Int(32), "rng_twice", {load_out(1)})));
    module.linked.functions["rng_twice"] = {Int(32), {Int(32)}};
    for (const std::string form : {"rng.bc", "rng.ptx", "rng.o"}) {
        module.linked.linkables = {linkable_of("chain.bc", "chain"), linkable_of(form)};
        const DeviceCode code = compile_device_module(module, sm_90);
        EXPECT_EQ(defines(cubin_for(code, 90), "rng_next"), form != "rng.bc") << form;
    }
    // What others call of bitcode stays.
    module.linked.linkables = {linkable_of("chain.ptx", "chain"), linkable_of("rng.bc")};
    const DeviceCode code = compile_device_module(module, sm_90);
    EXPECT_TRUE(defines(cubin_for(code, 90), "rng_next"));
    EXPECT_TRUE(defines(cubin_for(code, 90), "rng_twice"));
    EXPECT_FALSE(defines(cubin_for(code, 90), "rng_look_up"));
}

TEST(LinkedCalls, KernelsOfBitcodeAreKept) {
    NEEDS_INPUT("fill.bc");
    const DeviceCode code =
        compile_device_module(calling_rng_next({linkable_of("fill.bc")}), sm_90);
    EXPECT_TRUE(defines(cubin_for(code, 90), "rng_fill"));
    EXPECT_TRUE(defines(cubin_for(code, 90), "rng_seed"));
}

// What is inlined costs what the same code in the pipeline does.
TEST(LinkedCalls, InlinedCodeIsThatOfThePipeline) {
    NEEDS_INPUT("rng.bc");
    const DeviceCode linked =
        compile_device_module(calling_rng_next({linkable_of("rng.bc")}), sm_90);
    const DeviceCode own = compile_device_module(
        linked_module(DeviceAPI::CUDA, store_out(0, Add::make(load_out(1), load_out(2)))), sm_90);
    auto body = [](const std::string &ptx) {
        return ptx.substr(ptx.find(".entry k"));
    };
    EXPECT_EQ(body(linked.images[0].bytes), body(own.images[0].bytes));
}

// A call that is inlined costs nothing: the machine code is that of the pipeline's own addition,
// byte by byte, made in the same way. With LTO that is by way of CUDA C++, and another compiler:
// against the code without any linkable, instructions are compared, not registers and waits, which
// are that compiler's to choose.
// L13.
TEST(LinkedCalls, InlinedMachineCodeIsThatOfThePipeline) {
    NEEDS_INPUT("rng.bc");
    const DeviceModule own =
        linked_module(DeviceAPI::CUDA, store_out(0, Add::make(load_out(1), load_out(2))));
    const auto linked = [](DeviceModule module, const std::string &form, LtoMode lto) {
        LinkableData rng = linkable_of(form);
        rng.lto = lto;
        module.linked.linkables = {rng};
        return cubin_for(compile_device_module(module, sm_90), 90);
    };
    const auto operations = [](const std::string &cubin) {
        std::vector<uint32_t> result;
        for (const Instruction &i : instructions(cubin, "k")) {
            result.push_back(i.operation());
        }
        return result;
    };
    const std::string alone = cubin_for(compile_device_module(own, sm_90), 90);
    ASSERT_GT(instructions(alone, "k").size(), 4u);
    const struct {
        const char *form;
        LtoMode lto;
    } inlined[] = {{"rng.bc", LtoMode::Allow},
                   {"rng.bc", LtoMode::Require},
                   {"rng.ltoir", LtoMode::Require},
                   {"rng.cu", LtoMode::Require}};
    for (const auto &[form, lto] : inlined) {
        const std::string cubin = linked(calling_rng_next({}), form, lto);
        EXPECT_EQ(section(cubin, ".text.k"), section(linked(own, form, lto), ".text.k")) << form;
        EXPECT_EQ(operations(cubin), operations(alone)) << form;
        if (form == std::string("rng.bc")) {
            EXPECT_EQ(section(cubin, ".text.k"), section(alone, ".text.k"));
        }
    }
    const std::string call = linked(calling_rng_next({}), "rng.ptx", LtoMode::Allow);
    EXPECT_NE(operations(call), operations(alone));
    EXPECT_EQ(section(linked(own, "rng.ptx", LtoMode::Allow), ".text.k"),
              section(alone, ".text.k"));
}

TEST(LinkedCalls, DeclarationsInCudaSource) {
    LinkableData rng;
    rng.name = "rng";
    const DeviceSource source = device_source(calling_all(rng), sm_90, Dialect::CUDA);
    for (const char *line :
         {"extern \"C\" __device__ int rng_next(int, int);",
          "extern \"C\" __device__ short rng_small(signed char, bool, unsigned short);",
          "extern \"C\" __device__ float4 rng_scale(float4, float);",
          "extern \"C\" __device__ void rng_put(void *, int);",
          "extern \"C\" __device__ unsigned char rng_table[];"}) {
        EXPECT_NE(source.text.find(line), std::string::npos) << line << "\n" << source.text;
    }
}

TEST(PtxSymbols, OfTextOfAllKinds) {
    const ImageSymbols s = ptx_symbols(R"(
        .version 8.0
        .target sm_80
        // .visible .func comment() { }
        /* .visible .func comment_too() { } */
        .extern .func (.param .b32 func_retval0) wanted (.param .b32 p);
        .visible .func plain { ret; }
        .weak .func (.param .align 4 .b8 func_retval0[12]) three(
            .param .align 1 .b8 three_param_0[3], .param .f64 x) { { nested: bra nested; } ret; }
        .func hidden(.param .b64 p) { ret; }
        .visible .entry k(.param .u64 p) .maxntid 4, 1, 1 { ret; }
        .visible .global .align 4 .b8 table[16] = {1, 2, 3};
        .extern .global .align 4 .u32 elsewhere;
        .global .u32 own;
        .extern .shared .align 16 .b8 dynamic[];
    )");
    EXPECT_EQ(s.defined, (std::set<std::string>{"plain", "three", "k", "table"}));
    EXPECT_EQ(s.functions, (std::set<std::string>{"plain", "three", "k"}));
    EXPECT_EQ(s.undefined, (std::set<std::string>{"wanted", "elsewhere", "dynamic"}));
    EXPECT_EQ(s.weak, (std::set<std::string>{"three"}));
    EXPECT_EQ(s.signatures.at("three"), (PtxSignature{{3, 8}, 12}));
    EXPECT_EQ(s.signatures.at("plain"), (PtxSignature{{}, 0}));
    // Words end where the next one begins with a point.
    const ImageSymbols tight = ptx_symbols(".visible.func(.param.b32 r)f(.param.align 8.b8 v[8],"
                                           ".param.f64 a){ret;}.weak.global.align 4.b8 t[4];");
    EXPECT_EQ(tight.defined, (std::set<std::string>{"f", "t"}));
    EXPECT_EQ(tight.signatures.at("f"), (PtxSignature{{8, 8}, 4}));
    EXPECT_EQ(tight.weak, (std::set<std::string>{"t"}));
    EXPECT_EQ(ptx_symbols("").defined.size(), 0u);
    EXPECT_EQ(ptx_symbols(".visible .func (").defined.size(), 0u);
}

TEST(OpenclSymbols, OfSource) {
    const auto s = opencl_symbols(R"(
        #define TWICE(x) { (x) + (x) }
        // int comment(int x) { return x; }
        /* int *//* comment *//* other(int x) { return x; } */
        /**/ #define NONE(x) { x }
        int declared(int x);
        static inline float4/*4*/scale/**/(float4 v, float s)/**//**/{ if (s > 0) { return v * s; } return v; }
        __constant int table[] = {1, 2};
        __kernel void k(__global int *p)
        { *p = 1; }
    )");
    EXPECT_TRUE(s.is_whole);
    EXPECT_EQ(s.defined, (std::set<std::string>{"scale", "k"}));
    EXPECT_EQ(s.functions, s.defined);
}

constexpr int unknown_count = -1;
/// How many parameters f may have.
std::set<int> counts_of(const ImageSymbols &symbols) {
    std::set<int> counts;
    for (const OpenclSignature &f : symbols.opencl.at("f")) {
        counts.insert(f.is_known ? int(f.parameters.size()) : unknown_count);
    }
    return counts;
}

TEST(OpenclSymbols, OfDefinitionsOfAllKinds) {
    const std::pair<const char *, int> sources[] = {
        {"int f(int a) __attribute__((always_inline)) { return a; }", 1},
        {"int f(int a)\n__attribute__((pure)) __attribute__((const))\n{ return a; }", 1},
        {"__attribute__((noinline)) int f(int a) { return a; }", 1},
        {"int f(int a) \\\n{ return a; }", 1},
        {"int f(int a) // x\n{ return a; }", 1},
        {"int \\\r\nf(void) { return 0; }", 0},
        {"int f() { return 0; }", 0},
        {"void dbg(int a) { if (a) printf(\"{\"); }\nint f(int a, int b) { return a; }", 2},
        {"void dbg() { printf(\"http://\\\"x\"); } int f(int a) { return a; }", 1},
        {"constant char open = '{'; constant char q = '\\''; int f(int a) { return a; }", 1},
        {"#define INLINE static inline __attribute__((always_inline))\n#define N (3)\nINLINE int "
         "f(int a) { return a + N; }",
         1},
        {"#define MIN(a, b) ((a) < (b) ? (a) : (b))\nint f(int a) { return MIN(a, 3); }", 1},
        {"#define ARGS int a, int b\nint f(ARGS) { return a; }", unknown_count},
        {"int f(int a) CONST { return a; }", 1},
        {"int f(float (*a)[2], int b);\nint f(float (*a)[2], int b) { return b; }", 2},
        {"#pragma OPENCL EXTENSION cl_khr_fp64 : enable\nint f(int a) { return a; }", 1},
        {"__attribute__((overloadable)) int f(int a) { return a; }", 1},
    };
    for (const auto &[source, count] : sources) {
        const ImageSymbols s = opencl_symbols(source);
        EXPECT_EQ(s.functions.count("f"), 1u) << source;
        EXPECT_EQ(counts_of(s), std::set<int>{count}) << source;
        EXPECT_TRUE(s.is_whole) << source;
    }
    const ImageSymbols two = opencl_symbols("#ifdef A\nint f(int a) { return a; }\n#else\nint "
                                            "f(int a, int b) { return b; }\n#endif");
    EXPECT_EQ(counts_of(two), (std::set<int>{1, 2}));
}

// Where macros make functions, or rename them, nobody knows which there are.
TEST(OpenclSymbols, OfMacros) {
    for (const char *source :
         {"#define F(n) int n##_f(int x) { return x; }\nF(a)",
          "#define FN(n) int n(int a) { return a; }\nFN(f) int g(int a) { return a; }", "FN(f)",
          "FN(f)\nint g(int a) { return a; }", "FN(f) constant int x = 1;",
          "#define HEAD f(int a)\nint HEAD { return a; }",
          "#define BEGIN {\nint f(int a) BEGIN return a; }",
          "#define g f\nint g(int a) { return a; }", "int (f)(int a) { return a; }",
          "#ifdef A\nint g(int a) {\n#else\nint g(int b) {\n#endif\nreturn 1; } int f(int a) { "
          "return "
          "a; }",
          "#include <f.h>", "  #  include \"f.h\"\nint g(int a) { return a; }"}) {
        EXPECT_FALSE(opencl_symbols(source).is_whole) << source;
        EXPECT_EQ(opencl_symbols(source).functions.count("f"), 0u) << source;
    }
}

}  // namespace
}  // namespace calotype::internal
