// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each feature of a target shows in what is compiled, or is refused by name.
#include <gtest/gtest.h>

#include <set>

#include "codegen/output_type.h"
#include "driver/module.h"
#include "harness/expect_error.h"
#include "lang/language.h"
#include "support/file.h"
#include "support/text.h"

namespace calotype {
namespace {

using internal::read_file;
using internal::TemporaryDirectory;

Var x("x"), xi("xi");

/// Floats, a promise, parallel tasks, checks, and buffers of any size.
Pipeline host_program() {
    ImageParam in(Float(32), 1, "in");
    Param<float> k("k");
    Func f("f"), g("g");
    f(x) = in(unsafe_promise_clamped(x * 2, 0, 100)) * k + 1.0f;
    g(x) = f(x) * k + f(x + 1) / k;
    f.compute_root();
    g.parallel(x);
    return g;
}

Pipeline kernel(const Expr &value) {
    Func f("f");
    f(x) = value;
    f.gpu_tile(x, xi, 32);
    return f;
}

Pipeline kernel_with_atomics() {
    Func f("f");
    RDom r(0, 64, "r");
    f(x) = cast<int64_t>(0);
    f(r % 4) += cast<int64_t>(r);
    f.gpu_single_thread();
    f.update().atomic().gpu_blocks(r);
    return f;
}

/// All that compilation gives, or why it does not.
std::string compiled(Pipeline p, const std::string &target) {
    const TemporaryDirectory dir;
    std::map<OutputFileType, std::string> files;
    for (const OutputFileType type :
         {OutputFileType::stmt, OutputFileType::llvm_assembly, OutputFileType::assembly,
          OutputFileType::object, OutputFileType::c_header}) {
        files[type] = dir.path() + "/" + std::to_string(int(type));
    }
    try {
        p.compile_to(files, p.infer_arguments(), "program", Target(target));
    } catch (const CompileError &e) {
        return e.what();
    }
    std::string all;
    for (const auto &file : files) {
        all += read_file(file.second);
    }
    return all;
}

struct Case {
    Pipeline program;
    std::string target;
    /// But for the target's name, which the code may hold.
    std::string with(const std::string &features) const {
        const Target t(target + features);
        const std::string text =
            internal::replace_all(compiled(program, t.to_string()), t.to_string(), "");
        return internal::replace_all(text, t.with_implied_features().to_string(), "");
    }
};

/// They change something else than the code of a pipeline.
const std::set<int> elsewhere = {
    Target::JIT,               // where the code runs
    Target::NoRuntime,         // what a static library holds
    Target::Debug,             // the device runtime that linkables are linked with
    Target::CUDACapability30,  // what generators ask: the code is for 5.0 at least
    Target::CUDACapability32,
    Target::CUDACapability35,
    Target::CUDACapability50,
};

TEST(TargetFeatures, EachIsUsedOrRefused) {
    const Expr doubled = cast<double>(x) * 2, half = cast<float>(cast<float16_t>(x) * 2);
    const std::vector<Case> cases = {
        {host_program(), "x86-64-linux"},
        {kernel(x), "x86-64-linux-cuda"},
        {kernel(doubled), "x86-64-linux-opencl"},
        {kernel(half), "x86-64-linux-opencl"},
        {kernel_with_atomics(), "x86-64-linux-opencl"},
        {host_program(), "x86-64-linux-cuda"},
    };
    std::vector<std::string> without;
    for (const Case &c : cases) {
        without.push_back(c.with(""));
    }
    for (int i = 0; i < Target::FeatureEnd; i++) {
        const std::string word = Target::feature_to_name(Target::Feature(i));
        const std::string refusal =
            "target x86-64-linux-" + word + " has " + word + ", which this build makes no code for";
        bool shows = elsewhere.count(i) > 0;
        if (!Target("x86-64-linux-" + word).supported()) {
            EXPECT_EQ(compiled(host_program(), "x86-64-linux-" + word), refusal);
            shows = true;
        }
        for (size_t c = 0; c < cases.size() && !shows; c++) {
            shows = cases[c].with("-" + word) != without[c];
        }
        EXPECT_TRUE(shows) << word << " is accepted and changes nothing";
    }
}

/// The target with all that it implies gives the same code.
TEST(TargetFeatures, InstructionSetsThatAreImpliedAreUsed) {
    const Target target("x86-64-linux-no_runtime-avx512_sapphirerapids");
    ImageParam a(UInt(8), 1, "a"), b(Int(8), 1, "b");
    Func sum("sum");
    const RDom r(0, 256, "r");
    sum() += cast<int>(a(r)) * cast<int>(b(r));
    sum.compute_root().update().atomic().vectorize(r, 64);
    Func f("asked");
    f(x) = select(target_has_feature(Target::FMA), sum(), x);
    const auto lowered = [&](const Target &t) {
        internal::TemporaryDirectory dir;
        f.compile_to_lowered_stmt(dir.path() + "/f.stmt", {a, b}, Text, t);
        return read_file(dir.path() + "/f.stmt");
    };
    const std::string text = lowered(target);
    EXPECT_EQ(internal::replace_all(text, target.to_string(), ""),
              internal::replace_all(lowered(target.with_implied_features()),
                                    target.with_implied_features().to_string(), ""));
    EXPECT_EQ(text.find("select"), std::string::npos);
}

TEST(TargetFeatures, WordsOfOtherMachinesAreRefused) {
    const std::vector<std::pair<std::string, std::string>> targets = {
        {"x86-64-linux-sve2", "sve2"},
        {"arm-64-linux-avx2", "avx2"},
        {"arm-64-linux-tune_znver3", "tune_znver3"},
        {"riscv-64-linux-rvv-vsx-vector_bits_128", "vsx"},
        {"wasm-32-wasmrt-wasm_simd128-no_neon", "no_neon"},
    };
    for (const auto &[target, word] : targets) {
        EXPECT_FALSE(Target(target).supported());
        EXPECT_COMPILE_ERROR(host_program().compile_to_module({}, "f", Target(target)),
                             "target " + Target(target).to_string() + " has " + word +
                                 ", which this build makes no code for");
    }
    EXPECT_EQ(Target("x86-32-linux").unsupported_part(), "x86-32");
    EXPECT_EQ(Target("x86-64-windows").unsupported_part(), "windows");
    EXPECT_TRUE(Target("x86-64-linux-tune_znver4-avx2-cuda").supported());
}

// C++ is written for machines of any kind.
TEST(TargetFeatures, TheirOwnDescribeTheMachineThatCppIsWrittenFor) {
    const TemporaryDirectory dir;
    Pipeline p = host_program();
    const Target arm("arm-64-linux-armv82a-arm_dot_prod-sve2-vector_bits_256");
    p.compile_to({{OutputFileType::c_source, dir.path() + "/p.cpp"}}, p.infer_arguments(), "p",
                 arm);
    EXPECT_NE(read_file(dir.path() + "/p.cpp").find("int p("), std::string::npos);
}

}  // namespace
}  // namespace calotype
