// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/arm/machine.h"

#include <llvm/Support/TargetSelect.h>

#include <mutex>

#include "codegen/arm/features.h"
#include "codegen/arm/patterns.h"
#include "codegen/llvm/target_names.h"
#include "support/error.h"
#include "target/registers.h"
#include "target/word_without_code.h"

namespace calotype::internal {

namespace {

/// Registers LLVM's back end, once in the process.
void initialize_back_end() {
    static std::once_flag once;
    std::call_once(once, [] {
        LLVMInitializeAArch64TargetInfo();
        LLVMInitializeAArch64Target();
        LLVMInitializeAArch64TargetMC();
        LLVMInitializeAArch64AsmPrinter();
        LLVMInitializeAArch64AsmParser();
    });
}

class ArmMachine : public Machine {
public:
    Value *call(FunctionEmitter &f, const Call *op) const override {
        return match_arm_call(f, op);
    }
    Value *sum(FunctionEmitter &f, const Add *op) const override {
        return match_arm_sum(f, op);
    }
    Value *reduction(FunctionEmitter &f, const VectorReduce *op) const override {
        return match_arm_reduction(f, op);
    }
    LlvmTarget llvm_target(const Target &target) const override {
        const std::string word = word_for_cpp_alone(target);
        user_assert(word.empty()) << "target " << target.without_implied_features().to_string()
                                  << " has " << word << ", which this build makes no code for";
        initialize_back_end();
        return {triple_of(target, "aarch64"), "generic", "generic", arm_features(target),
                vector_register_bits(target, true)};
    }
    bool has_fused_multiply_add(const Target &) const override {
        return true;
    }
    bool converts_float16(const Target &) const override {
        return true;
    }
    bool has_arithmetic(const Target &target, Type t) const override {
        return !t.is_bfloat() && target.has_feature(Target::ARMFp16);
    }
};

}  // namespace

const Machine &arm_machine() {
    static const ArmMachine machine;
    return machine;
}

}  // namespace calotype::internal
