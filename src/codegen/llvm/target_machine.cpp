// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/llvm/target_machine.h"

#include <llvm/ADT/StringExtras.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/OptBisect.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/TargetParser/Triple.h>
#include <llvm/Transforms/Instrumentation/AddressSanitizer.h>
#include <llvm/Transforms/Instrumentation/SanitizerCoverage.h>
#include <llvm/Transforms/Instrumentation/ThreadSanitizer.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "codegen/arm/pairwise_sums.h"
#include "codegen/arm/register_divisions.h"
#include "codegen/llvm/machine.h"
#include "codegen/llvm/passes/carried_choices.h"
#include "codegen/llvm/passes/chained_loops.h"
#include "codegen/llvm/passes/constant_divisors.h"
#include "codegen/llvm/passes/inbounds_neighbours.h"
#include "codegen/llvm/passes/invariant_gathers.h"
#include "codegen/llvm/passes/lane_gathers.h"
#include "codegen/llvm/passes/masked_lanes.h"
#include "codegen/llvm/passes/narrow_comparisons.h"
#include "codegen/llvm/passes/opaque_choices.h"
#include "codegen/llvm/passes/product_order.h"
#include "codegen/llvm/passes/uniform_offsets.h"
#include "codegen/short_loops.h"
#include "codegen/x86/carried_products.h"
#include "codegen/x86/carried_vectors.h"
#include "codegen/x86/comparisons.h"
#include "codegen/x86/float_choices.h"
#include "codegen/x86/gathers.h"
#include "codegen/x86/leading_lanes.h"
#include "codegen/x86/permutations.h"
#include "codegen/x86/spills.h"
#include "codegen/x86/wide_stores.h"
#include "support/error.h"
#include "support/text.h"

namespace calotype::internal {

std::unique_ptr<llvm::TargetMachine> make_target_machine(const Target &target) {
    const LlvmTarget known = machine_for(target).llvm_target(target);
    std::string error;
    const llvm::Target *llvm_target = llvm::TargetRegistry::lookupTarget(known.triple, error);
    internal_assert(llvm_target) << error;
    llvm::TargetOptions options;
    options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
    options.FunctionSections = true;
    options.UniqueSectionNames = true;
    options.UseInitArray = true;
    options.LoopAlignment = known.loop_alignment;
    options.MCOptions.ABIName = known.abi;
    auto model = target.has_feature(Target::LLVMLargeCodeModel) ? llvm::CodeModel::Large
                                                                : llvm::CodeModel::Small;
    return std::unique_ptr<llvm::TargetMachine>(llvm_target->createTargetMachine(
        known.triple, known.processor, known.features, options, llvm::Reloc::PIC_, model,
        llvm::CodeGenOptLevel::Aggressive));
}

void prepare_module(llvm::Module &module, const Target &target) {
    std::unique_ptr<llvm::TargetMachine> machine = make_target_machine(target);
    module.setTargetTriple(machine->getTargetTriple().str());
    module.setDataLayout(machine->createDataLayout());
    module.setPICLevel(llvm::PICLevel::BigPIC);
}

namespace {

// In place of those that the function has.
void add_features(llvm::Function &function, const LlvmTarget &known, bool to_optimize) {
    std::vector<std::string> parts = {known.features, to_optimize ? known.optimizer_features : ""};
    std::erase(parts, "");
    if (!parts.empty()) {
        function.addFnAttr("target-features", join(parts, ","));
    }
}

}  // namespace

void add_target_attributes(llvm::Function &function, const Target &target) {
    if (target.arch == Target::ArchUnknown) {
        return;  // a device's: all that the module holds is for one processor
    }
    const LlvmTarget known = machine_for(target).llvm_target(target);
    function.addFnAttr("target-cpu", known.processor);
    function.addFnAttr("tune-cpu", known.tuning);
    add_features(function, known, true);
    function.addFnAttr("prefer-vector-width", std::to_string(known.vector_bits));
    if (target.has_feature(Target::EnableBacktraces)) {
        function.addFnAttr("frame-pointer", "all");
        function.setUWTableKind(llvm::UWTableKind::Default);
    }
    if (target.has_feature(Target::ASAN)) {
        function.addFnAttr(llvm::Attribute::SanitizeAddress);
    }
    if (target.has_feature(Target::TSAN)) {
        function.addFnAttr(llvm::Attribute::SanitizeThread);
    }
}

namespace {

/// Code is instrumented when nothing will change them any more.
void add_sanitizers(llvm::PassBuilder &builder, const Target &target) {
    if (target.has_feature(Target::ASAN)) {
        builder.registerOptimizerLastEPCallback(
            [](llvm::ModulePassManager &passes, llvm::OptimizationLevel) {
                llvm::AddressSanitizerOptions options;
                passes.addPass(llvm::AddressSanitizerPass(options));
            });
    }
    if (target.has_feature(Target::TSAN)) {
        builder.registerOptimizerLastEPCallback([](llvm::ModulePassManager &passes,
                                                   llvm::OptimizationLevel) {
            passes.addPass(llvm::ModuleThreadSanitizerPass());
            passes.addPass(llvm::createModuleToFunctionPassAdaptor(llvm::ThreadSanitizerPass()));
        });
    }
    if (target.has_feature(Target::SanitizerCoverage)) {
        // What libFuzzer and the other tools that guide by coverage expect.
        builder.registerOptimizerLastEPCallback(
            [](llvm::ModulePassManager &passes, llvm::OptimizationLevel) {
                llvm::SanitizerCoverageOptions options;
                options.CoverageType = llvm::SanitizerCoverageOptions::SCK_Edge;
                options.IndirectCalls = true;
                options.TraceCmp = true;
                options.Inline8bitCounters = true;
                options.PCTable = true;
                passes.addPass(llvm::SanitizerCoveragePass(options));
            });
    }
}

/// Sums over a few taps and the like: without the loop their addresses are one and constants, and
/// what is added up stays in registers.
ChooseUnrolling unrolling() {
    return ChooseUnrolling(16, 192, false);
}

}  // namespace

void optimize(llvm::Module &module, const Target &target) {
    std::unique_ptr<llvm::TargetMachine> machine = make_target_machine(target);
    const bool loop_opt = target.has_feature(Target::EnableLLVMLoopOpt);
    llvm::PipelineTuningOptions tuning;
    // Which loops become vectors or are unrolled is what the schedule says. Innermost loops that it leaves without
    // vectors may become vectors; the shortest are unrolled.
    tuning.LoopVectorization = loop_opt || !target.has_feature(Target::DisableLLVMLoopOpt);
    tuning.LoopInterleaving = loop_opt;
    tuning.SLPVectorization = true;
    tuning.LoopUnrolling = loop_opt;
    tuning.ForgetAllSCEVInLoopUnroll = true;
    // Sums that an unrolled body adds to hundreds of times stay in registers.
    tuning.LicmMssaNoAccForPromotionCap = 4096;

    llvm::LoopAnalysisManager loops;
    llvm::FunctionAnalysisManager functions;
    llvm::CGSCCAnalysisManager components;
    llvm::ModuleAnalysisManager modules;
    llvm::PassInstrumentationCallbacks instrumentation;
    leave_chains_of_loops(instrumentation);
    llvm::PassBuilder builder(machine.get(), tuning, std::nullopt, &instrumentation);
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(components);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, components, modules);
    add_sanitizers(builder, target);
    decide_indices(module);
    let_sums_take_reciprocals(module);
    builder.registerPeepholeEPCallback(
        [](llvm::FunctionPassManager &passes, llvm::OptimizationLevel) {
            passes.addPass(unrolling());
        });
    builder.registerVectorizerStartEPCallback(
        [](llvm::FunctionPassManager &passes, llvm::OptimizationLevel) {
            passes.addPass(HoistGathers());
            passes.addPass(MarkInboundsNeighbours());
        });
    builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(module, modules);
    hoist_uniform_offsets(module);
    if (machine_for(target).has_fused_multiply_add(target)) {
        multiply_for_constant_divisors(module);
    }
}

namespace {

// SLP would gather what is loaded lane by lane; where a mask asks for a gather, it is one.
void drop_optimizer_features(llvm::Module &module, const Target &target) {
    const LlvmTarget known = machine_for(target).llvm_target(target);
    for (llvm::Function &function : module) {
        if (!known.optimizer_features.empty() && function.hasFnAttribute("target-features")) {
            add_features(function, known, false);
        }
    }
}

// LLVM's clone leaves the addresses of blocks that tables hold, as those of coverage do, in the
// module that it copies.
std::unique_ptr<llvm::Module> copy_of(const llvm::Module &module, const Target &target) {
    if (!target.has_feature(Target::SanitizerCoverage)) {
        return llvm::CloneModule(module);
    }
    llvm::SmallVector<char, 0> bytes;
    llvm::raw_svector_ostream stream(bytes);
    llvm::WriteBitcodeToFile(module, stream);
    auto copy =
        llvm::parseBitcodeFile(llvm::MemoryBufferRef(stream.str(), ""), module.getContext());
    internal_assert(bool(copy)) << llvm::toString(copy.takeError());
    return std::move(*copy);
}

/// Runs all passes but some, whose names are lines.
class AllBut : public llvm::OptPassGate {
public:
    explicit AllBut(std::string passes) : passes_(std::move(passes)) {
    }
    bool shouldRunPass(const llvm::StringRef pass, llvm::StringRef) override {
        return !llvm::is_contained(llvm::split(passes_, '\n'), pass);
    }
    bool isEnabled() const override {
        return !passes_.empty();
    }

private:
    const std::string passes_;
};

}  // namespace

std::string emit_machine_code(const llvm::Module &module, const Target &target, bool as_text) {
    std::unique_ptr<llvm::TargetMachine> machine = make_target_machine(target);
    std::unique_ptr<llvm::Module> copy = copy_of(module, target);
    if (target.has_feature(Target::EmbedBitcode) && !as_text) {
        llvm::embedBitcodeInModule(*copy, llvm::MemoryBufferRef(), true, false, {});
    }
    make_choices_opaque(*copy);
    if (target.arch == Target::X86) {
        access_leading_lanes_by_words(*copy, target);
    }
    compare_lanes_narrowly(*copy, target);
    take_lanes_apart(*copy);
    add_late_terms_last(*copy);
    compute_both_choices(*copy);
    if (target.arch == Target::X86) {
        add_products_before_carried(*copy, target);
        compare_upper_bits_at_once(*copy);
        compare_by_known_extremes(*copy);
        interleave_by_permutation(*copy, target);
        widen_halves_of_channels(*copy, target);
        permute_bytes_of_four(*copy, target);
        keep_channels_for_permutations(*copy, target);
        extend_indices_with_sign(*copy);
        hide_index_pairs(*copy);
    }
    make_sums_opaque(*copy);
    if (target.arch == Target::X86) {
        choose_floats_by_lanes(*copy);
        carry_whole_registers(*copy, target);
        align_spills(*copy, target);
        store_registers_in_order(*copy, target);
    }
    if (target.arch == Target::ARM) {
        divide_by_registers(*copy);
        add_halves_in_pairs(*copy);
    }
    drop_optimizer_features(*copy, target);
    access_lanes_without_branches(*copy, *machine);
    llvm::SmallVector<char, 0> bytes;
    llvm::raw_svector_ostream stream(bytes);
    llvm::legacy::PassManager passes;
    auto kind = as_text ? llvm::CodeGenFileType::AssemblyFile : llvm::CodeGenFileType::ObjectFile;
    internal_assert(!machine->addPassesToEmitFile(passes, stream, nullptr, kind))
        << "LLVM cannot write this kind of file for " << target.to_string();
    AllBut gate(machine_for(target).llvm_target(target).needless_passes);
    llvm::OptPassGate &before = copy->getContext().getOptPassGate();
    copy->getContext().setOptPassGate(gate);
    passes.run(*copy);
    copy->getContext().setOptPassGate(before);
    return std::string(bytes.begin(), bytes.end());
}

}  // namespace calotype::internal
