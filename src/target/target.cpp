// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "target/target.h"

#include <algorithm>
#include <utility>

#include "support/error.h"
#include "target/jit_target_text.h"
#include "target/registers.h"
#include "target/word_without_code.h"

namespace calotype {

namespace {

using Feature = Target::Feature;

const std::pair<Feature, Feature> implications[] = {
#define IMPLIES(Name, Implied) {Target::Name, Target::Implied},
#include "target/features.def"
};

/// What the machine has besides, by its system or by the width of its vectors.
std::vector<Feature> implied_by_machine(const Target &t) {
    if (t.arch == Target::X86 && t.has_feature(Target::AVX10_1) && t.vector_bits >= 512) {
        return {Target::AVX512_SapphireRapids};
    }
    if (t.arch == Target::ARM && t.os == Target::OSX) {
        return {Target::ARMv84a};  // since Apple's first processors for that system
    }
    return {};
}

/// What becomes of a feature in a runtime that two targets share.
enum class Merge { Both, Either, Same, Lowest, Drop };

const Merge merges[] = {
#define FEATURE(Name, spelling, merge) Merge::merge,
#include "target/features.def"
};

/// The versions of a device or of a machine.
struct Versions {
    Feature device;  ///< FeatureEnd where they belong to the machine
    int unnamed;     ///< that of a target which has the device and names none
    std::vector<std::pair<Feature, int>> rising;

    /// -1 for a target that has none.
    int lowest(const Target &target) const {
        if (!target.has_feature(device)) {
            return -1;
        }
        for (const auto &[feature, version] : rising) {
            if (target.has_feature(feature)) {
                return version;
            }
        }
        return unnamed;
    }
};

std::vector<std::pair<Feature, int>> consecutive(Feature first, int number, int count) {
    std::vector<std::pair<Feature, int>> versions;
    for (int i = 0; i < count; i++) {
        versions.emplace_back(Feature(first + i), number + i);
    }
    return versions;
}

const Versions &cuda_versions() {
    static const Versions versions{Target::CUDA,
                                   20,
                                   {{Target::CUDACapability30, 30},
                                    {Target::CUDACapability32, 32},
                                    {Target::CUDACapability35, 35},
                                    {Target::CUDACapability50, 50},
                                    {Target::CUDACapability61, 61},
                                    {Target::CUDACapability70, 70},
                                    {Target::CUDACapability75, 75},
                                    {Target::CUDACapability80, 80},
                                    {Target::CUDACapability86, 86},
                                    {Target::CUDACapability89, 89},
                                    {Target::CUDACapability90, 90},
                                    {Target::CUDACapability90a, 90},
                                    {Target::CUDACapability100, 100},
                                    {Target::CUDACapability120, 120}}};
    return versions;
}

const Versions &vulkan_versions() {
    static const Versions versions{
        Target::Vulkan,
        10,
        {{Target::VulkanV10, 10}, {Target::VulkanV12, 12}, {Target::VulkanV13, 13}}};
    return versions;
}

const Versions &hlsl_versions() {
    static const Versions versions{Target::D3D12Compute, 51,
                                   consecutive(Target::HLSL_SM60, 60, 10)};
    return versions;
}

const Versions &arm_versions() {
    static const Versions versions{Target::FeatureEnd, -1, consecutive(Target::ARMv8a, 80, 10)};
    return versions;
}

const Versions &hvx_versions() {
    static const Versions versions{Target::FeatureEnd,
                                   60,
                                   {{Target::HVX_v62, 62},
                                    {Target::HVX_v65, 65},
                                    {Target::HVX_v66, 66},
                                    {Target::HVX_v68, 68}}};
    return versions;
}

/// Of what the two name, the lowest version; a target without the device has no say in it.
void keep_lowest(const Versions &versions, const Target &a, const Target &b, Target &result) {
    const int in_a = versions.lowest(a), in_b = versions.lowest(b);
    const int lowest = in_a < 0 ? in_b : in_b < 0 ? in_a : std::min(in_a, in_b);
    for (const auto &[feature, version] : versions.rising) {
        if (merges[feature] == Merge::Lowest && version == lowest) {
            result.set_feature(feature, a.has_feature(feature) || b.has_feature(feature));
        }
    }
}

/// The features that are about machines of one architecture; of None, about machines that nothing is
/// compiled for.
struct About : Target {
    enum { None = -1 };
    static constexpr std::pair<Feature, int> features[] = {
#define ABOUT(Name, Arch) {Name, Arch},
#include "target/features.def"
    };
};

bool has_code(const Target &target) {
#define MACHINE(Arch, width, function)                                                             \
    if (target.arch == Target::Arch && target.bits == (width)) {                                   \
        return true;                                                                               \
    }
#include "target/machines.def"
    return false;
}

}  // namespace

Target::Target(OS os, Arch arch, int bits, Processor tune, const std::vector<Feature> &features,
               int vector_bits)
    : os(os), arch(arch), bits(bits), vector_bits(vector_bits), processor_tune(tune) {
    set_features(features);
}

Target::Target(OS os, Arch arch, int bits, const std::vector<Feature> &features)
    : Target(os, arch, bits, ProcessorGeneric, features) {
}

bool Target::has_unknowns() const {
    return os == OSUnknown || arch == ArchUnknown || bits == 0;
}

void Target::set_feature(Feature f, bool value) {
    if (f == FeatureEnd) {
        return;
    }
    user_assert(f >= 0 && f < FeatureEnd) << "there is no target feature number " << int(f);
    features_.set(f, value);
}

void Target::set_features(const std::vector<Feature> &features, bool value) {
    for (Feature f : features) {
        set_feature(f, value);
    }
}

void Target::set_implied_features() {
    set_features(implied_by_machine(*this));
    for (const auto &[feature, implied] : implications) {
        if (features_[feature]) {
            features_.set(implied);
        }
    }
}

void Target::unset_implied_features() {
    // All of the removals are decided on the completed set, as a chain loses its inner links too.
    const Target full = with_implied_features();
    for (const auto &[feature, implied] : implications) {
        if (full.has_feature(feature)) {
            features_.reset(implied);
        }
    }
    set_features(implied_by_machine(*this), false);
}

Target Target::with_implied_features() const {
    Target result = *this;
    result.set_implied_features();
    return result;
}

Target Target::without_implied_features() const {
    Target result = *this;
    result.unset_implied_features();
    return result;
}

Target Target::with_feature(Feature f) const {
    Target result = *this;
    result.set_feature(f);
    return result;
}

Target Target::without_feature(Feature f) const {
    Target result = *this;
    result.set_feature(f, false);
    return result;
}

bool Target::has_feature(Feature f) const {
    if (f == FeatureEnd) {
        return true;
    }
    user_assert(f >= 0 && f < FeatureEnd) << "there is no target feature number " << int(f);
    return features_[f];
}

bool Target::features_any_of(const std::vector<Feature> &features) const {
    for (Feature f : features) {
        if (has_feature(f)) {
            return true;
        }
    }
    return false;
}

bool Target::features_all_of(const std::vector<Feature> &features) const {
    for (Feature f : features) {
        if (!has_feature(f)) {
            return false;
        }
    }
    return true;
}

bool Target::has_gpu_feature() const {
    return features_any_of({CUDA, OpenCL, Vulkan, Metal, D3D12Compute, WebGPU});
}

Target internal::with_instruction_sets(const Target &target) {
    Target full = target.with_implied_features();
    if (target.has_feature(Target::AVX10_1)) {
        full.set_feature(Target::AVX512_Cannonlake);
        full.set_implied_features();
    }
    Target result = target;
    for (const auto &[feature, arch] : About::features) {
        if (arch == target.arch) {
            result.set_feature(feature, full.has_feature(feature));
        }
    }
    return result;
}

Target internal::with_all_features(const Target &target) {
    return with_instruction_sets(target.with_implied_features());
}

int internal::vector_register_bits(const Target &target, bool is_float) {
    const Target t = with_instruction_sets(target);
    switch (t.arch) {
    case Target::X86:
        if (t.has_feature(is_float ? Target::AVX512 : Target::AVX512_Skylake)) {
            return 512;
        }
        return t.has_feature(Target::AVX2) || (is_float && t.has_feature(Target::AVX)) ? 256 : 128;
    case Target::WebAssembly:
        return t.has_feature(Target::WasmMvpOnly) ? 0 : 128;
    case Target::ARM:
        return t.vector_bits && t.features_any_of({Target::SVE, Target::SVE2}) ? t.vector_bits
                                                                               : 128;
    case Target::Hexagon:
        return t.has_feature(Target::HVX) ? 1024 : 64;
    case Target::RISCV:
        return t.has_feature(Target::RVV) ? t.vector_bits : 0;
    case Target::POWERPC:
    case Target::ArchUnknown:
        return 128;
    }
    return 128;
}

int internal::widest_register_bits(const Target &target, bool is_float) {
    return std::max(vector_register_bits(target, is_float), target.bits);
}

int Target::natural_lanes(int bits, bool is_float) const {
    user_assert(os != OSUnknown && arch != ArchUnknown && this->bits != 0)
        << "the natural vector size of target '" << to_string() << "' is not known";
    user_assert(bits > 0) << "a value of " << bits
                          << " bits has no natural vector size, must have at least 1 bit";
    const int lanes = internal::vector_register_bits(*this, is_float) / bits;
    return lanes > 0 ? lanes : 1;
}

bool Target::has_large_buffers() const {
    return bits == 64 && has_feature(LargeBuffers);
}

int64_t Target::maximum_buffer_size() const {
    return has_large_buffers() ? INT64_MAX : INT32_MAX;
}

int Target::get_cuda_capability_lower_bound() const {
    return cuda_versions().lowest(*this);
}

bool internal::names_cuda_capability(const Target &target) {
    return target.get_cuda_capability_lower_bound() > cuda_versions().unnamed;
}

Target::Feature internal::cuda_feature_of_device(int capability) {
    constexpr int hopper = 90;
    Target::Feature best = Target::FeatureEnd;
    for (const auto &[feature, version] : cuda_versions().rising) {
        const bool is_of_one_device = feature == Target::CUDACapability90a;
        if (is_of_one_device ? capability == hopper : version <= capability) {
            best = feature;
        }
    }
    return best;
}

int Target::get_vulkan_capability_lower_bound() const {
    return vulkan_versions().lowest(*this);
}

int Target::get_arm_v8_lower_bound() const {
    return arch == ARM && bits == 64 ? arm_versions().lowest(*this) : -1;
}

int Target::get_d3d12compute_capability_lower_bound() const {
    return hlsl_versions().lowest(*this);
}

int Target::sme_streaming_vector_bits() const {
    for (int i = 0; i <= SME_SVL2048 - SME_SVL128; i++) {
        if (has_feature(Feature(SME_SVL128 + i))) {
            return 128 << i;
        }
    }
    return 0;
}

Target::Feature Target::sme_svl_feature_from_bits(int bits) {
    for (int i = 0; i <= SME_SVL2048 - SME_SVL128; i++) {
        if (bits == 128 << i) {
            return Feature(SME_SVL128 + i);
        }
    }
    return FeatureEnd;
}

std::string internal::word_without_code(const Target &target) {
    for (const auto &[feature, arch] : About::features) {
        if (target.has_feature(feature) && arch != target.arch) {
            return Target::feature_to_name(feature);
        }
    }
    if (target.arch == Target::X86 || target.processor_tune == Target::ProcessorGeneric) {
        return "";
    }
    const Target tuned(Target::OSUnknown, Target::ArchUnknown, 0, target.processor_tune);
    const std::string text = tuned.to_string();
    return text.substr(text.rfind('-') + 1);
}

std::string internal::word_for_cpp_alone(const Target &target) {
    for (const Target::Feature feature :
         {Target::ARMv7s, Target::NoNEON, Target::SVE2, Target::SVE}) {
        if (target.arch == Target::ARM && target.has_feature(feature)) {
            return Target::feature_to_name(feature);
        }
    }
    return "";
}

std::string Target::unsupported_part() const {
    if (!has_code(*this)) {
        return arch_to_name(arch) + "-" + std::to_string(bits);
    }
    if (os != Linux && os != Android && os != NoOS) {
        return os_to_name(os);
    }
    const std::string word = internal::word_without_code(*this);
    return word.empty() ? internal::word_for_cpp_alone(*this) : word;
}

bool Target::supported() const {
    return unsupported_part().empty();
}

bool Target::get_runtime_compatible_target(const Target &other, Target &result) const {
    if (arch != other.arch || bits != other.bits || os != other.os) {
        return false;
    }
    Target merged(os, arch, bits,
                  processor_tune == other.processor_tune ? processor_tune : ProcessorGeneric);
    merged.vector_bits = vector_bits == other.vector_bits ? vector_bits : 0;
    for (int i = 0; i < FeatureEnd; i++) {
        const bool in_a = features_[i], in_b = other.features_[i];
        switch (merges[i]) {
        case Merge::Both:
            merged.features_.set(i, in_a && in_b);
            break;
        case Merge::Either:
            merged.features_.set(i, in_a || in_b);
            break;
        case Merge::Same:
            if (in_a != in_b) {
                return false;
            }
            merged.features_.set(i, in_a);
            break;
        case Merge::Lowest:
        case Merge::Drop:
            break;
        }
    }
    for (const Versions *versions : {&cuda_versions(), &vulkan_versions(), &hlsl_versions(),
                                     &arm_versions(), &hvx_versions()}) {
        keep_lowest(*versions, *this, other, merged);
    }
    result = merged;
    return true;
}

bool Target::operator==(const Target &other) const {
    return os == other.os && arch == other.arch && bits == other.bits &&
           vector_bits == other.vector_bits && processor_tune == other.processor_tune &&
           features_ == other.features_;
}

}  // namespace calotype
