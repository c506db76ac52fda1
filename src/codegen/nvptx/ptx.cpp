// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/nvptx/ptx.h"

#include <algorithm>
#include <mutex>
#include <sstream>

#include <llvm/CodeGen/AtomicExpand.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Transforms/Scalar/DeadStoreElimination.h>

#include "codegen/llvm/passes/opaque_choices.h"
#include "codegen/nvptx/faults/llvm_faults.h"
#include "codegen/nvptx/faults/ptxas_faults.h"
#include "codegen/nvptx/passes/signed_loads.h"
#include "codegen/nvptx/passes/warp_atomics.h"
#include "codegen/short_loops.h"
#include "support/error.h"

namespace calotype::internal {

namespace {

void initialize_nvptx() {
    static std::once_flag once;
    std::call_once(once, [] {
        LLVMInitializeNVPTXTargetInfo();
        LLVMInitializeNVPTXTarget();
        LLVMInitializeNVPTXTargetMC();
        LLVMInitializeNVPTXAsmPrinter();
    });
}

/// Arrays whose indices are those of short loops become registers when these are unrolled wholly. The assembler
/// unrolls loops as well, but not reliably: of the same loop in two kernels it unrolled one.
ChooseUnrolling unrolling() {
    return ChooseUnrolling(64, 1024, true);
}

/// The lines without what LLVM remarks at their ends: calls are numbered through the process there.
std::string clean(const std::string &text) {
    std::istringstream lines(text);
    std::string result;
    for (std::string line; std::getline(lines, line);) {
        std::string kept = line.substr(0, line.find("//"));
        kept.erase(kept.find_last_not_of(" \t") + 1);
        if (!kept.empty()) {
            result += kept + '\n';
        }
    }
    return result;
}

}  // namespace

PtxWriter::PtxWriter(Capability capability, int least_isa) : capability_(capability) {
    initialize_nvptx();
    const std::string triple = "nvptx64-nvidia-cuda";
    std::string error;
    const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
    internal_assert(target) << error;
    const Architecture &a = architecture(capability.sm);
    std::string processor = "sm_" + std::to_string(a.llvm_sm);
    int isa = std::max(a.ptx_isa, least_isa);
    if (capability.suffix == 'a' && a.llvm_sm == 90) {
        processor += 'a';
        isa = std::max(isa, 80);
    }
    const std::string features = "+ptx" + std::to_string(isa);
    llvm::TargetOptions options;
    // Only what the instructions themselves allow is contracted.
    options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
    machine_.reset(target->createTargetMachine(triple, processor, features, options, std::nullopt,
                                               std::nullopt, llvm::CodeGenOptLevel::Aggressive));
}

void PtxWriter::prepare(llvm::Module &module) const {
    module.setTargetTriple(machine_->getTargetTriple().str());
    module.setDataLayout(machine_->createDataLayout());
}

// Unlike on the host, loops are unrolled where that pays: what a thread holds in registers are
// arrays with indices of small loops of constant extent.
void PtxWriter::optimize(llvm::Module &module) const {
    llvm::PipelineTuningOptions tuning;
    tuning.LoopVectorization = false;
    tuning.LoopInterleaving = false;
    tuning.SLPVectorization = false;
    tuning.LoopUnrolling = true;

    llvm::LoopAnalysisManager loops;
    llvm::FunctionAnalysisManager functions;
    llvm::CGSCCAnalysisManager components;
    llvm::ModuleAnalysisManager modules;
    // The target adds its own passes: nvvm-reflect, ranges of special registers.
    llvm::PassBuilder builder(machine_.get(), tuning);
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(components);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, components, modules);
    decide_indices(module);
    update_once_a_warp(module);
    builder.registerVectorizerStartEPCallback(
        [](llvm::FunctionPassManager &passes, llvm::OptimizationLevel) {
            passes.addPass(unrolling());
        });
    // Where a loop that was unrolled updates an element of shared memory, the last store is enough.
    builder.registerOptimizerLastEPCallback(
        [](llvm::ModulePassManager &passes, llvm::OptimizationLevel) {
            passes.addPass(llvm::createModuleToFunctionPassAdaptor(llvm::DSEPass()));
        });
    llvm::ModulePassManager passes =
        builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3);
    // What atomic updates that the device has no instruction for compute in their loops is seen by avoid_ptxas_faults.
    passes.addPass(llvm::createModuleToFunctionPassAdaptor(llvm::AtomicExpandPass(machine_.get())));
    passes.run(module, modules);
}

std::string PtxWriter::text(llvm::Module &module) const {
    avoid_ptxas_faults(module);
    avoid_llvm_faults(module);
    extend_signs_in_loads(module);
    llvm::SmallVector<char, 0> bytes;
    llvm::raw_svector_ostream stream(bytes);
    llvm::legacy::PassManager passes;
    internal_assert(!machine_->addPassesToEmitFile(passes, stream, nullptr,
                                                   llvm::CodeGenFileType::AssemblyFile))
        << "LLVM cannot write PTX";
    passes.run(module);
    return clean(std::string(bytes.begin(), bytes.end()));
}

}  // namespace calotype::internal
