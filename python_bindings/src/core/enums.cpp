// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The enumerations.
#include "bindings.h"

namespace calotype::python {

namespace {

// int() takes its values, too, and so does what takes an index.
template<typename T>
struct Enum : nb::enum_<T> {
    Enum(const PythonModule &m, const char *name, const char *doc = "")
        : nb::enum_<T>(m, name, *doc ? doc : header_comment("", name)) {
        const auto number = [](T value) {
            return int64_t(value);
        };
        for (const char *as : {"__int__", "__index__"}) {
            this->attr(as) = nb::cpp_function(number, nb::is_method(), nb::name(as));
        }
    }
};

// A further name of a member, also among __members__.
void add_alias(const PythonModule &m, const char *enumeration, const char *member,
               const std::string &alias) {
    nb::object type = m.attr(enumeration), value = type.attr(member);
    type.attr(alias.c_str()) = value;
    type.attr("_member_map_")[alias.c_str()] = value;
}

void bind_placement_enums(PythonModule &m) {
    Enum<DeviceAPI>(m, "DeviceAPI")
        .value("None_", DeviceAPI::None)
        .value("Host", DeviceAPI::Host)
        .value("Default_GPU", DeviceAPI::Default_GPU)
        .value("CUDA", DeviceAPI::CUDA)
        .value("OpenCL", DeviceAPI::OpenCL)
        .value("Vulkan", DeviceAPI::Vulkan)
        .value("Metal", DeviceAPI::Metal)
        .value("Hexagon", DeviceAPI::Hexagon)
        .value("HexagonDma", DeviceAPI::HexagonDma)
        .value("D3D12Compute", DeviceAPI::D3D12Compute)
        .value("WebGPU", DeviceAPI::WebGPU)
        .value("SMEStreaming", DeviceAPI::SMEStreaming);
    Enum<MemoryType>(m, "MemoryType")
        .value("Auto", MemoryType::Auto)
        .value("Heap", MemoryType::Heap)
        .value("Stack", MemoryType::Stack)
        .value("Register", MemoryType::Register)
        .value("GPUShared", MemoryType::GPUShared)
        .value("GPUTexture", MemoryType::GPUTexture)
        .value("AMXTile", MemoryType::AMXTile)
        .value("GPUSharedAsync", MemoryType::GPUSharedAsync)
        .value("LockedCache", MemoryType::LockedCache)
        .value("VTCM", MemoryType::VTCM);
}

void bind_loop_enums(PythonModule &m) {
    Enum<TailStrategy>(m, "TailStrategy")
        .value("RoundUp", TailStrategy::RoundUp)
        .value("GuardWithIf", TailStrategy::GuardWithIf)
        .value("Predicate", TailStrategy::Predicate)
        .value("PredicateLoads", TailStrategy::PredicateLoads)
        .value("PredicateStores", TailStrategy::PredicateStores)
        .value("ShiftInwards", TailStrategy::ShiftInwards)
        .value("ShiftInwardsAndBlend", TailStrategy::ShiftInwardsAndBlend)
        .value("RoundUpAndBlend", TailStrategy::RoundUpAndBlend)
        .value("Auto", TailStrategy::Auto);
    Enum<LoopAlignStrategy>(m, "LoopAlignStrategy")
        .value("AlignStart", LoopAlignStrategy::AlignStart)
        .value("AlignEnd", LoopAlignStrategy::AlignEnd)
        .value("NoAlign", LoopAlignStrategy::NoAlign)
        .value("Auto", LoopAlignStrategy::Auto);
    Enum<Partition>(m, "Partition")
        .value("Auto", Partition::Auto)
        .value("Never", Partition::Never)
        .value("Always", Partition::Always);
    Enum<PrefetchBoundStrategy>(m, "PrefetchBoundStrategy")
        .value("Clamp", PrefetchBoundStrategy::Clamp)
        .value("GuardWithIf", PrefetchBoundStrategy::GuardWithIf)
        .value("NonFaulting", PrefetchBoundStrategy::NonFaulting);
    Enum<NameMangling>(m, "NameMangling")
        .value("Default", NameMangling::Default)
        .value("C", NameMangling::C)
        .value("CPlusPlus", NameMangling::CPlusPlus);
}

void bind_output_enums(PythonModule &m) {
    Enum<calotype_type_code_t>(m, "TypeCode", "What the bits of a Type are.")
        .value("Int", Type::Int)
        .value("UInt", Type::UInt)
        .value("Float", Type::Float)
        .value("BFloat", Type::BFloat)
        .value("Handle", Type::Handle);
    Enum<StmtOutputFormat>(m, "StmtOutputFormat").value("Text", Text).value("HTML", HTML);
    Enum<Argument::Kind>(m, "ArgumentKind", "What an Argument is.")
        .value("InputScalar", Argument::InputScalar)
        .value("InputBuffer", Argument::InputBuffer)
        .value("OutputBuffer", Argument::OutputBuffer);
    Enum<LinkageType>(m, "LinkageType")
        .value("External", LinkageType::External)
        .value("ExternalPlusMetadata", LinkageType::ExternalPlusMetadata)
        .value("ExternalPlusArgv", LinkageType::ExternalPlusArgv)
        .value("Internal", LinkageType::Internal);
    Enum<RuntimeLinkage>(m, "RuntimeLinkage", "Functions of the runtime whose names get a prefix.")
        .value("Import", RuntimeLinkage::Import)
        .value("Export", RuntimeLinkage::Export)
        .value("Internal", RuntimeLinkage::Internal);
    Enum<OutputFileType> output(m, "OutputFileType", "A kind of file that a Module writes.");
#define OUTPUT_TYPE(name, extension, per_target) output.value(#name, OutputFileType::name);
#include <calotype/codegen/output/output_types.def>
    add_alias(m, "OutputFileType", "ctpipe", "hlpipe");
}

void bind_target_enums(PythonModule &m) {
    Enum<Target::OS>(m, "TargetOS", "The operating system of a Target.")
        .value("OSUnknown", Target::OSUnknown)
        .value("Linux", Target::Linux)
        .value("Windows", Target::Windows)
        .value("OSX", Target::OSX)
        .value("Android", Target::Android)
        .value("IOS", Target::IOS)
        .value("QuRT", Target::QuRT)
        .value("NoOS", Target::NoOS)
        .value("Fuchsia", Target::Fuchsia)
        .value("WebAssemblyRuntime", Target::WebAssemblyRuntime);
    Enum<Target::Arch>(m, "TargetArch", "The kind of processor of a Target.")
        .value("ArchUnknown", Target::ArchUnknown)
        .value("X86", Target::X86)
        .value("ARM", Target::ARM)
        .value("Hexagon", Target::Hexagon)
        .value("POWERPC", Target::POWERPC)
        .value("WebAssembly", Target::WebAssembly)
        .value("RISCV", Target::RISCV);
    Enum<Target::Processor> tune(m, "TargetProcessorTune",
                                 "The processor that a Target's code is made fast for.");
    tune.value("ProcessorGeneric", Target::ProcessorGeneric);
    const std::pair<const char *, Target::Processor> processors[] = {
        {"K8", Target::K8},         {"K8_SSE3", Target::K8_SSE3}, {"AMDFam10", Target::AMDFam10},
        {"BtVer1", Target::BtVer1}, {"BdVer1", Target::BdVer1},   {"BdVer2", Target::BdVer2},
        {"BdVer3", Target::BdVer3}, {"BdVer4", Target::BdVer4},   {"BtVer2", Target::BtVer2},
        {"ZnVer1", Target::ZnVer1}, {"ZnVer2", Target::ZnVer2},   {"ZnVer3", Target::ZnVer3},
        {"ZnVer4", Target::ZnVer4}, {"ZnVer5", Target::ZnVer5}};
    for (const auto &[name, value] : processors) {
        tune.value(name, value);
    }
    add_alias(m, "TargetProcessorTune", "ProcessorGeneric", "TuneGeneric");
    for (const auto &[name, value] : processors) {
        add_alias(m, "TargetProcessorTune", name, "Tune" + std::string(name));
    }
    Enum<Target::Feature> feature(m, "TargetFeature", "What a Target has, or code for it must do.");
    const std::pair<const char *, Target::Feature> features[] = {
#define FEATURE(Name, spelling, merge) {#Name, Target::Name},
#include <calotype/target/features.def>
    };
    for (const auto &[name, value] : features) {
        feature.value(name, value);
    }
    feature.value("FeatureEnd", Target::FeatureEnd);
    add_alias(m, "TargetOS", "WebAssemblyRuntime", "wasmrt");
    add_alias(m, "TargetFeature", "HVX_128", "HVX");
}

}  // namespace

void bind_enums(PythonModule &m) {
    bind_placement_enums(m);
    bind_loop_enums(m);
    bind_output_enums(m);
    bind_target_enums(m);
}

}  // namespace calotype::python
