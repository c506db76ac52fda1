// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Target: the machine and the conditions that code is compiled for, and its text form
//
//     arch-bits-os[-tune_PROCESSOR][-feature...][-vector_bits_N]       x86-64-linux-avx2-fma-cuda
//     host[-feature...]                                                host-profile
#pragma once

#include <bitset>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <type_traits>
#include <vector>

namespace calotype {

class Type;
enum class DeviceAPI : uint8_t;

struct Target {
    enum OS {
        OSUnknown,
        Linux,
        Windows,
        OSX,
        Android,
        IOS,
        QuRT,
        NoOS,
        Fuchsia,
        WebAssemblyRuntime
    } os = OSUnknown;
    enum Arch { ArchUnknown, X86, ARM, Hexagon, POWERPC, WebAssembly, RISCV } arch = ArchUnknown;
    /// Bits of a pointer: 32 or 64, 0 while unknown.
    int bits = 0;
    /// Bits of a vector register where the architecture leaves them open (RISC-V, SVE); 0: the
    /// usual.
    int vector_bits = 0;
    /// Which processor instructions are scheduled for; it does not change which are used.
    enum Processor {
        ProcessorGeneric,
        K8,
        K8_SSE3,
        AMDFam10,
        BtVer1,
        BdVer1,
        BdVer2,
        BdVer3,
        BdVer4,
        BtVer2,
        ZnVer1,
        ZnVer2,
        ZnVer3,
        ZnVer4,
        ZnVer5
    } processor_tune = ProcessorGeneric;
    /// What each means is said in docs/targets.md; the spellings and implications are in
    /// target/features.def.
    enum Feature {
#define FEATURE(Name, spelling, merge) Name,
#include "target/features.def"
        FeatureEnd,
        HVX = HVX_128
    };

    /// All unknown.
    Target() = default;
    Target(OS os, Arch arch, int bits, Processor tune, const std::vector<Feature> &features = {},
           int vector_bits = 0);
    Target(OS os, Arch arch, int bits, const std::vector<Feature> &features = {});
    /// Parses; a CompileError says which part is wrong and what may have been meant.
    explicit Target(const std::string &text);
    explicit Target(const char *text);

    /// True if Target(text) would not throw.
    static bool validate_target_string(const std::string &text);
    /// The canonical text: features in alphabetical order. Target(to_string()) gives the same
    /// target.
    std::string to_string() const;

    /// True if the system, the architecture or the bits are unknown.
    bool has_unknowns() const;

    void set_feature(Feature f, bool value = true);
    void set_features(const std::vector<Feature> &features, bool value = true);
    /// Adds what the features present imply, directly or not (avx2 adds avx and sse41).
    void set_implied_features();
    /// Removes what the other features imply anyway.
    void unset_implied_features();
    Target with_implied_features() const;
    Target without_implied_features() const;
    Target with_feature(Feature f) const;
    Target without_feature(Feature f) const;

    /// Exactly as set: implied features count only after set_implied_features().
    bool has_feature(Feature f) const;
    bool has_feature(int other_feature) const {
        return has_feature(Feature(other_feature));
    }
    bool features_any_of(const std::vector<Feature> &features) const;
    bool features_all_of(const std::vector<Feature> &features) const;
    const std::bitset<FeatureEnd> &get_features_bitset() const {
        return features_;
    }

    /// True for the features that give a GPU: cuda, opencl, vulkan, metal, d3d12compute, webgpu.
    bool has_gpu_feature() const;
    /// True if code may be generated for the device; defined in pipeline/target_queries.cpp, with
    /// the two below.
    bool supports_device_api(DeviceAPI api) const;
    /// The GPU that Default_GPU means, or DeviceAPI::None.
    DeviceAPI get_required_device_api() const;
    /// True if values of the type can be computed, on the host or on a device.
    bool supports_type(const Type &t) const;
    bool supports_type(const Type &t, DeviceAPI device) const;

    /// Lanes of a value of so many bits (8, 16, 32 or 64) that fill a vector register of the host.
    int natural_lanes(int bits, bool is_float = false) const;
    /// The same by type, a Type or anything that has bytes() and is_float().
    template<typename TypeLike>
    int natural_vector_size(const TypeLike &t) const {
        return natural_lanes(t.bytes() * 8, t.is_float());
    }
    template<typename T>
    int natural_vector_size() const {
        return natural_lanes(int(sizeof(T)) * 8, std::is_floating_point<T>::value);
    }

    /// True if buffers may hold more than 2^31 - 1 bytes.
    bool has_large_buffers() const;
    /// The most bytes that a buffer may span.
    int64_t maximum_buffer_size() const;

    /// The compute capability times ten that every device is known to have; -1 without cuda.
    int get_cuda_capability_lower_bound() const;
    /// The version times ten; -1 without vulkan.
    int get_vulkan_capability_lower_bound() const;
    /// The shader model times ten, at least 51; -1 without d3d12compute.
    int get_d3d12compute_capability_lower_bound() const;
    /// The architecture version times ten; -1 if this is no 64-bit ARM or nothing is known.
    int get_arm_v8_lower_bound() const;
    /// Bits of a vector in SME's streaming mode as an sme_svl feature says; 0 if none does.
    int sme_streaming_vector_bits() const;
    /// The feature that says so; FeatureEnd if there is none for that number of bits.
    static Feature sme_svl_feature_from_bits(int bits);

    /// True if this build of the compiler can generate code for it.
    bool supported() const;
    /// The first word of the target that this build cannot generate code for, or an empty text.
    std::string unsupported_part() const;

    /// The target of a runtime that serves code compiled for this target and for `other`; false
    /// (and no change) if there is none, because they differ in machine, system or a feature that
    /// must agree.
    bool get_runtime_compatible_target(const Target &other, Target &result) const;

    static std::string feature_to_name(Feature f);
    /// FeatureEnd if there is none of that name.
    static Feature feature_from_name(const std::string &name);
    static std::string os_to_name(OS os);
    static std::string arch_to_name(Arch arch);

    bool operator==(const Target &other) const;
    bool operator!=(const Target &other) const {
        return !(*this == other);
    }

private:
    std::bitset<FeatureEnd> features_;
};

/// The text form.
std::ostream &operator<<(std::ostream &out, const Target &target);

/// The machine that the compiler runs on, with all features of its processor.
Target get_host_target();
/// The environment variable CT_TARGET, or the host where it is not set.
Target get_target_from_environment();
/// The environment variable CT_JIT_TARGET, or the host where it is not set; always with the feature
/// jit. It must name the architecture, bits and system of the host and must not have
/// no_bounds_query.
Target get_jit_target_from_environment();
/// The feature that stands for a device (FeatureEnd for the host); defined in
/// pipeline/target_queries.cpp.
Target::Feature target_feature_for_device_api(DeviceAPI api);

}  // namespace calotype
