// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/nvptx/ptx.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <sstream>

#include <llvm/IR/LegacyPassManager.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/TargetSelect.h>

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

/// The operand of a minimum or maximum of 16 bits as one of 32: what has to be done for that in
/// *before, and how it is then called.
std::string widened(const std::string &operand, char sign, const char *name, std::string *before) {
    if (operand[0] == '%') {
        *before += std::string("cvt.") + sign + "32." + sign + "16 " + name + ", " + operand + "; ";
        return name;
    }
    long value = std::strtol(operand.c_str(), nullptr, 0);
    return std::to_string(sign == 'u' ? long(uint16_t(value)) : long(int16_t(value)));
}

/// ptxas of CUDA 13.0 makes wrong code for sm_90 of some sequences with min.s16, max.s16, min.u16
/// and max.u16 (a negated operand counts as if it were not; comparisons of the result are taken as
/// known). Done in 32 bits they are right.
std::string without_short_minimum(const std::string &line) {
    static const char *const instructions[] = {"min.s16", "max.s16", "min.u16", "max.u16"};
    for (const char *instruction : instructions) {
        size_t at = line.find(instruction);
        if (at == std::string::npos) {
            continue;
        }
        std::string operands = line.substr(at + 7);
        for (char &c : operands) {
            c = c == ',' || c == ';' ? ' ' : c;
        }
        std::istringstream words(operands);
        std::string result, a, b, before;
        words >> result >> a >> b;
        internal_assert(!b.empty()) << "PTX that is not understood: " << line;
        const char sign = instruction[4];
        a = widened(a, sign, "wide_a", &before);
        b = widened(b, sign, "wide_b", &before);
        return line.substr(0, at) + "{ .reg .b32 wide_a, wide_b; " + before +
               std::string(instruction, 5) + "32 wide_a, " + a + ", " + b + "; cvt.u16.u32 " +
               result + ", wide_a; }";
    }
    return line;
}

/// The same ptxas loses a negation whose result goes to minima or maxima of three values, of 16 and
/// of 32 bits. -x is ~x + 1 as well, which it leaves alone.
std::string without_negation(const std::string &line) {
    for (const char *bits : {"16", "32"}) {
        const std::string negation = std::string("neg.s") + bits;
        size_t at = line.find(negation), comma = line.find(','), end = line.find(';');
        if (at == std::string::npos || comma == std::string::npos || end == std::string::npos) {
            continue;
        }
        std::string to = line.substr(at + negation.size(), comma - at - negation.size());
        to.erase(0, to.find_first_not_of(" \t"));
        return line.substr(0, at) + "not.b" + bits + " " + to + line.substr(comma, end - comma) +
               "; add.s" + bits + " " + to + ", " + to + ", 1;";
    }
    return line;
}

/// The lines without what LLVM remarks at their ends: calls are numbered through the process there.
std::string clean(const std::string &text) {
    std::istringstream lines(text);
    std::string result;
    for (std::string line; std::getline(lines, line);) {
        std::string kept = line.substr(0, line.find("//"));
        kept.erase(kept.find_last_not_of(" \t") + 1);
        if (!kept.empty()) {
            result += without_negation(without_short_minimum(kept)) + '\n';
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
// arrays with indices of small loops.
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
    builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(module, modules);
}

std::string PtxWriter::text(llvm::Module &module) const {
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
