// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "target/jit_target_text.h"
#include "target/target.h"

#include <utility>

#include "harness/expect_error.h"
#include "harness/scoped_environment.h"
#include "runtime/abi/target_features.h"
#include "target/registers.h"

namespace calotype {

using namespace internal;

namespace {

using test::ScopedEnvironment;

TEST(Target, TextBothWays) {
    for (const char *text :
         {"x86-64-linux", "x86-32-windows-sse41", "arm-64-osx-tune_generic",
          "x86-64-linux-tune_znver3-avx-avx2-cuda", "riscv-64-linux-rvv-vector_bits_256",
          "arch_unknown-0-os_unknown", "wasm-32-wasmrt-wasm_simd128"}) {
        const Target t(text);
        EXPECT_EQ(Target(t.to_string()), t) << text;
    }
    EXPECT_EQ(Target("x86-64-linux-cuda-avx2-sse41").to_string(), "x86-64-linux-avx2-cuda-sse41");
    EXPECT_EQ(Target("linux-x86-64"), Target("x86-64-linux"));
    EXPECT_EQ(Target("x86-64-linux-trace_all").to_string(), "x86-64-linux-trace_all");
    EXPECT_EQ(Target().to_string(), "arch_unknown-0-os_unknown");
    EXPECT_TRUE(Target().has_unknowns());
}

TEST(Target, EveryFeatureHasASpelling) {
    for (int i = 0; i < Target::FeatureEnd; i++) {
        const auto f = Target::Feature(i);
        EXPECT_EQ(Target::feature_from_name(Target::feature_to_name(f)), f);
        const Target t(Target::Linux, Target::X86, 64, {f});
        EXPECT_EQ(Target(t.to_string()), t);
    }
    EXPECT_EQ(Target::feature_from_name("no_such"), Target::FeatureEnd);
}

TEST(Target, RuntimeKnowsFeaturesByTheSameNames) {
    const char *const names[] = {
#define CALOTYPE_TARGET_FEATURE(name, bit) #name,
#include "runtime/abi/target_features.def"
#undef CALOTYPE_TARGET_FEATURE
    };
    for (const char *name : names) {
        EXPECT_NE(Target::feature_from_name(name), Target::FeatureEnd) << name;
    }
}

// Programs ask has_feature() for the runtime's enumerators as well as for the target's own.
TEST(Target, RuntimeKnowsFeaturesByTheSameNumbers) {
    const std::pair<const char *, int> rows[] = {
#define CALOTYPE_TARGET_FEATURE(name, bit) {#name, bit},
#include "runtime/abi/target_features.def"
#undef CALOTYPE_TARGET_FEATURE
    };
    for (const auto &[name, number] : rows) {
        EXPECT_EQ(Target::feature_from_name(name), number) << name;
    }
    const Target t("x86-64-linux-avx2-opencl");
    EXPECT_TRUE(t.has_feature(calotype_target_feature_opencl));
    EXPECT_TRUE(t.has_feature(calotype_target_feature_avx2));
    EXPECT_FALSE(t.has_feature(calotype_target_feature_cuda));
    EXPECT_FALSE(t.has_feature(calotype_target_feature_d3d12compute));
    EXPECT_EQ(int(Target::D3D12Compute), int(calotype_target_feature_d3d12compute));
    EXPECT_EQ(int(Target::CPlusPlusMangling), int(calotype_target_feature_c_plus_plus_mangling));
    EXPECT_EQ(int(Target::HVX_128), int(calotype_target_feature_hvx_128));
    EXPECT_EQ(int(Target::CUDACapability90a), int(calotype_target_feature_cuda_capability_90a));
}

TEST(Target, Host) {
    const Target host = get_host_target();
    EXPECT_FALSE(host.has_unknowns());
    EXPECT_EQ(Target("host"), host);
    EXPECT_EQ(Target("host-profile"), host.with_feature(Target::Profile));
    // What the processor has is closed under implication.
    EXPECT_EQ(host.with_implied_features(), host);
}

TEST(Target, Errors) {
    EXPECT_COMPILE_ERROR(
        Target("x86-64-lnux"),
        "target 'x86-64-lnux': 'lnux' is not a known architecture, bits, system, processor or "
        "feature, did you mean 'linux'?");
    EXPECT_COMPILE_ERROR(Target("x86-64-linux-avx3"),
                         "target 'x86-64-linux-avx3': 'avx3' is not a known architecture, bits, "
                         "system, processor or "
                         "feature, did you mean 'avx'?");
    EXPECT_COMPILE_ERROR(
        Target("x86-linux"),
        "target 'x86-linux': it lacks its bits (arch-bits-os, as x86-64-linux, or host)");
    EXPECT_COMPILE_ERROR(
        Target("x86-64"),
        "target 'x86-64': it lacks a system (arch-bits-os, as x86-64-linux, or host)");
    EXPECT_COMPILE_ERROR(Target("x86-64-linux-arm"),
                         "target 'x86-64-linux-arm': 'arm' is a second architecture");
    EXPECT_COMPILE_ERROR(Target("x86--linux"), "target 'x86--linux': there is an empty word");
    EXPECT_EQ(Target(""), get_host_target());
    EXPECT_COMPILE_ERROR(Target("riscv-64-linux-rvv-vector_bits_100"),
                         "target 'riscv-64-linux-rvv-vector_bits_100': 'vector_bits_100' must end "
                         "in a power of two");
    EXPECT_COMPILE_ERROR(
        Target("x86-64-linux-vector_bits_256"),
        "target 'x86-64-linux-vector_bits_256': vector_bits_256 needs rvv, sve or sve2, or avx10_1 "
        "for 512");
    EXPECT_COMPILE_ERROR(
        Target("x86-64-linux-avx10_1-vector_bits_256"),
        "target 'x86-64-linux-avx10_1-vector_bits_256': vector_bits_256 needs rvv, "
        "sve or sve2, or avx10_1 for 512");
    EXPECT_EQ(Target("x86-64-linux-avx10_1-vector_bits_512").natural_lanes(32), 16);
    EXPECT_COMPILE_ERROR(
        Target("arm-64-linux-vector_bits_256"),
        "target 'arm-64-linux-vector_bits_256': vector_bits_256 needs rvv, sve or sve2");
    EXPECT_FALSE(Target::validate_target_string("x86-64"));
    EXPECT_TRUE(Target::validate_target_string("host-cuda"));
    for (const char *unknown : {"arch_unknown-64-linux", "x86-64-os_unknown", "x86-0-linux",
                                "arch_unknown-0-os_unknown"}) {
        EXPECT_FALSE(Target::validate_target_string(unknown)) << unknown;
    }
}

TEST(Target, ImpliedFeatures) {
    const Target t = Target("x86-64-linux-avx512_sapphirerapids").with_implied_features();
    EXPECT_TRUE(t.features_all_of(
        {Target::AVX512_Zen4, Target::AVX512_Cannonlake, Target::AVX512_Skylake, Target::AVX512,
         Target::AVXVNNI, Target::AVX2, Target::FMA, Target::F16C, Target::AVX, Target::SSE41}));
    EXPECT_FALSE(t.has_feature(Target::AVX512_Zen5));
    EXPECT_EQ(t.without_implied_features(), Target("x86-64-linux-avx512_sapphirerapids"));
    EXPECT_EQ(Target("x86-64-linux-cuda_capability_80")
                  .with_implied_features()
                  .get_cuda_capability_lower_bound(),
              30);
    // Every processor with AVX2 multiplies and adds at once, and converts half precision.
    EXPECT_EQ(Target("x86-64-linux-avx2").with_implied_features(),
              Target("x86-64-linux-sse41-avx-f16c-fma-avx2"));
    EXPECT_EQ(Target("x86-64-linux-fma-avx2").without_implied_features(),
              Target("x86-64-linux-avx2"));
    EXPECT_EQ(Target("x86-64-linux-fma-f16c").without_implied_features(),
              Target("x86-64-linux-fma-f16c"));
}

TEST(Target, FeaturesImpliedByTheMachine) {
    const char *implied[][2] = {
        {"x86-64-linux-avx10_1-vector_bits_512",
         "x86-64-linux-avx10_1-avx512_sapphirerapids-vector_bits_512"},
        {"arm-64-osx", "arm-64-osx-armv84a"},
        {"arm-64-linux-sve2", "arm-64-linux-arm_dot_prod-arm_fp16-sve2"},
        {"arm-64-linux-sme2", "arm-64-linux-arm_dot_prod-arm_fp16-sme2"},
        {"arm-64-linux-arm_fp16", "arm-64-linux-arm_fp16-armv82a"},
        {"x86-64-linux-trace_stores", "x86-64-linux-trace_realizations-trace_stores"},
    };
    for (const auto &[target, whole] : implied) {
        EXPECT_EQ(Target(target).with_implied_features(), Target(whole).with_implied_features());
        EXPECT_EQ(Target(target).with_implied_features().without_implied_features(),
                  Target(target));
        EXPECT_NE(Target(target).with_implied_features(), Target(target));
    }
    // The width is not known, so nothing is implied; code is made for 512 bits.
    const Target avx10("x86-64-linux-avx10_1");
    EXPECT_EQ(avx10.with_implied_features(), avx10);
    EXPECT_EQ(avx10.natural_lanes(8), 64);
    EXPECT_TRUE(with_instruction_sets(avx10).has_feature(Target::AVX512_Cannonlake));
    // Devices keep the version that is named.
    EXPECT_EQ(with_instruction_sets(Target("x86-64-linux-avx2-cuda_capability_80")),
              Target("x86-64-linux-avx-avx2-f16c-fma-sse41-cuda_capability_80"));
}

TEST(Target, Queries) {
    Target t("x86-64-linux-cuda-cuda_capability_75");
    EXPECT_EQ(t.get_cuda_capability_lower_bound(), 75);
    EXPECT_EQ(Target("x86-64-linux-cuda").get_cuda_capability_lower_bound(), 20);
    EXPECT_EQ(Target("x86-64-linux").get_cuda_capability_lower_bound(), -1);
    EXPECT_EQ(Target("arm-64-linux-armv84a").get_arm_v8_lower_bound(), 84);
    EXPECT_EQ(Target("arm-64-linux").get_arm_v8_lower_bound(), -1);
    EXPECT_EQ(Target("x86-64-linux-vulkan-vk_v12").get_vulkan_capability_lower_bound(), 12);
    EXPECT_TRUE(t.has_gpu_feature());
    EXPECT_FALSE(t.without_feature(Target::CUDA).has_gpu_feature());
    EXPECT_TRUE(t.features_any_of({Target::OpenCL, Target::CUDA}));
    EXPECT_EQ(t.maximum_buffer_size(), INT32_MAX);
    EXPECT_EQ(t.with_feature(Target::LargeBuffers).maximum_buffer_size(), INT64_MAX);
    EXPECT_TRUE(t.supported());
    EXPECT_FALSE(Target("powerpc-64-linux").supported());
}

TEST(Target, NaturalLanes) {
    EXPECT_EQ(Target("x86-64-linux").natural_lanes(32), 4);
    EXPECT_EQ(Target("x86-64-linux-sse41").natural_vector_size<uint8_t>(), 16);
    EXPECT_EQ(Target("x86-64-linux-avx").natural_vector_size<float>(), 8);
    EXPECT_EQ(Target("x86-64-linux-avx").natural_vector_size<int32_t>(), 4);
    EXPECT_EQ(Target("x86-64-linux-avx2").natural_vector_size<int16_t>(), 16);
    EXPECT_EQ(Target("x86-64-linux-avx512").natural_vector_size<float>(), 16);
    EXPECT_EQ(Target("x86-64-linux-avx512_knl").natural_vector_size<uint8_t>(), 32)
        << "the first part of AVX-512 has no instructions for bytes";
    EXPECT_EQ(Target("x86-64-linux-avx512_skylake").natural_lanes(64), 8);
    EXPECT_EQ(Target("x86-64-linux-avx512_zen4").natural_lanes(8), 64);
    EXPECT_EQ(Target("arm-64-linux").natural_lanes(16), 8);
    EXPECT_EQ(Target("riscv-64-linux-rvv-vector_bits_256").natural_lanes(32), 8);
    EXPECT_EQ(Target("riscv-64-linux").natural_lanes(32), 1);
    EXPECT_COMPILE_ERROR(
        Target().natural_lanes(32),
        "the natural vector size of target 'arch_unknown-0-os_unknown' is not known");
}

TEST(Target, RuntimeForTwoTargets) {
    Target shared;
    const Target a("x86-64-linux-avx2-fma-cuda-user_context-cuda_capability_75");
    const Target b("x86-64-linux-avx2-avx512-profile");
    ASSERT_TRUE(a.get_runtime_compatible_target(b, shared));
    EXPECT_EQ(shared.to_string(), "x86-64-linux-avx2-cuda-cuda_capability_75");
    Target other;
    ASSERT_TRUE(b.get_runtime_compatible_target(a, other));
    EXPECT_EQ(shared, other);
    const Target before = shared;
    EXPECT_FALSE(a.get_runtime_compatible_target(Target("x86-32-linux"), shared));
    EXPECT_FALSE(a.get_runtime_compatible_target(Target("x86-64-linux-debug"), shared));
    EXPECT_EQ(shared, before);
}

// Of versions, the lowest that is named; a device without one counts as its first, and a machine without one has no say.
TEST(Target, RuntimeForTwoVersions) {
    const auto shared = [](const char *a, const char *b) {
        Target result;
        EXPECT_TRUE(Target(a).get_runtime_compatible_target(Target(b), result)) << a << ", " << b;
        return result.to_string();
    };
    EXPECT_EQ(
        shared("x86-64-linux-cuda-cuda_capability_75", "x86-64-linux-cuda-cuda_capability_61"),
        "x86-64-linux-cuda-cuda_capability_61");
    EXPECT_EQ(shared("x86-64-linux-cuda-cuda_capability_75", "x86-64-linux-cuda"),
              "x86-64-linux-cuda");
    EXPECT_EQ(shared("x86-64-linux-vulkan-vk_v13", "x86-64-linux-vulkan-vk_v12"),
              "x86-64-linux-vk_v12-vulkan");
    EXPECT_EQ(shared("arm-64-linux-armv84a", "arm-64-linux-armv82a-armv83a"),
              "arm-64-linux-armv82a");
    EXPECT_EQ(shared("arm-64-linux-armv84a", "arm-64-linux"), "arm-64-linux-armv84a");
}

TEST(Target, FromEnvironment) {
    EXPECT_EQ(get_target_from_environment(), get_host_target());
    EXPECT_EQ(internal::read_jit_target(), get_host_target().with_feature(Target::JIT));
    {
        const ScopedEnvironment set("CT_TARGET", "arm-64-linux");
        EXPECT_EQ(get_target_from_environment(), Target("arm-64-linux"));
    }
    const std::string host = get_host_target().to_string();
    {
        const ScopedEnvironment set("CT_JIT_TARGET", "riscv-64-linux");
        EXPECT_COMPILE_ERROR(internal::read_jit_target(),
                             "CT_JIT_TARGET is 'riscv-64-linux-jit', must be for this machine, '" +
                                 host + "'");
    }
    {
        const ScopedEnvironment set("CT_JIT_TARGET", "host-no_bounds_query");
        const std::string error = test::error_of<CompileError>([] { internal::read_jit_target(); });
        EXPECT_NE(error.find(", must not have no_bounds_query"), std::string::npos) << error;
    }
}

TEST(Target, CapabilityOfADevice) {
    EXPECT_EQ(Target::FeatureEnd, cuda_feature_of_device(-1));
    EXPECT_EQ(Target::FeatureEnd, cuda_feature_of_device(20));
    EXPECT_EQ(Target::CUDACapability75, cuda_feature_of_device(79));
    EXPECT_EQ(Target::CUDACapability89, cuda_feature_of_device(89));
    EXPECT_EQ(Target::CUDACapability90a, cuda_feature_of_device(90));
    EXPECT_EQ(Target::CUDACapability90, cuda_feature_of_device(91));
    EXPECT_EQ(Target::CUDACapability120, cuda_feature_of_device(121));
    EXPECT_FALSE(names_cuda_capability(Target("host")));
    EXPECT_FALSE(names_cuda_capability(Target("host-cuda")));
    EXPECT_TRUE(names_cuda_capability(Target("host-cuda-cuda_capability_30")));
    EXPECT_TRUE(names_cuda_capability(Target("host-cuda-cuda_capability_90a")));
}

TEST(Target, VariableIsReadAgain) {
    internal::JitTargetVariable variable;
    const Target host = get_host_target().with_feature(Target::JIT);
    EXPECT_EQ(variable.read(), host);
    {
        const ScopedEnvironment set("CT_JIT_TARGET", "host-debug");
        EXPECT_EQ(variable.read(), host.with_feature(Target::Debug));
        EXPECT_EQ(variable.read(), host.with_feature(Target::Debug));
    }
    {
        const ScopedEnvironment set("CT_JIT_TARGET", "nonsense");
        EXPECT_THROW(variable.read(), CompileError);
        EXPECT_THROW(variable.read(), CompileError);
    }
    EXPECT_EQ(variable.read(), host);
}

}  // namespace
}  // namespace calotype
