// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/riscv/machine.h"

#include <llvm/Support/TargetSelect.h>

#include <mutex>

#include "codegen/llvm/target_names.h"
#include "codegen/riscv/features.h"
#include "support/error.h"
#include "target/registers.h"

namespace calotype::internal {

namespace {

/// Registers LLVM's back end, once in the process.
void initialize_back_end() {
    static std::once_flag once;
    std::call_once(once, [] {
        LLVMInitializeRISCVTargetInfo();
        LLVMInitializeRISCVTarget();
        LLVMInitializeRISCVTargetMC();
        LLVMInitializeRISCVAsmPrinter();
        LLVMInitializeRISCVAsmParser();
    });
}

class RiscvMachine : public Machine {
public:
    Value *call(FunctionEmitter &, const Call *) const override {
        return nullptr;
    }
    Value *reduction(FunctionEmitter &, const VectorReduce *) const override {
        return nullptr;
    }
    LlvmTarget llvm_target(const Target &target) const override {
        initialize_back_end();
        LlvmTarget known{triple_of(target, "riscv64"), "generic-rv64", "generic-rv64",
                         riscv_features(target), widest_register_bits(target, true)};
        known.abi = "lp64d";
        known.extends_words = true;
        return known;
    }
    bool has_fused_multiply_add(const Target &) const override {
        return true;
    }
    bool converts_float16(const Target &) const override {
        return false;
    }
    bool preserves_registers() const override {
        return false;
    }
};

}  // namespace

const Machine &riscv_machine() {
    static const RiscvMachine machine;
    return machine;
}

}  // namespace calotype::internal
