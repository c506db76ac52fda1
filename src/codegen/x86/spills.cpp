// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/x86/spills.h"

#include <algorithm>
#include <map>

#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include "target/registers.h"

namespace calotype::internal {

namespace {

/// Vectors that are alive in a block, in registers: what the block itself makes and uses, and what it
/// makes for others. What lives through it without being used is not counted.
class LiveVectors {
public:
    explicit LiveVectors(unsigned register_bits) : register_bits_(register_bits) {
    }

    /// The most at any place of the block.
    unsigned most_in(const llvm::BasicBlock &block) {
        live_.clear();
        now_ = most_ = 0;
        for (const llvm::Instruction &i : block) {
            if (is_used_elsewhere(i)) {
                begin(i);
            }
        }
        for (const llvm::Instruction &i : llvm::reverse(block)) {
            end(i);
            if (!llvm::isa<llvm::PHINode>(i)) {
                for (const llvm::Value *operand : i.operands()) {
                    if (!llvm::isa<llvm::Constant>(operand)) {
                        begin(*operand);
                    }
                }
            }
        }
        return most_;
    }

private:
    unsigned registers_of(const llvm::Value &v) const {
        const auto *type = llvm::dyn_cast<llvm::FixedVectorType>(v.getType());
        const auto bits = type ? unsigned(type->getPrimitiveSizeInBits().getFixedValue()) : 0U;
        return bits > 128 ? (bits + register_bits_ - 1) / register_bits_ : 0;
    }

    static bool is_used_elsewhere(const llvm::Instruction &i) {
        return std::any_of(i.user_begin(), i.user_end(), [&](const llvm::User *user) {
            return llvm::isa<llvm::PHINode>(user) ||
                   llvm::cast<llvm::Instruction>(user)->getParent() != i.getParent();
        });
    }

    void begin(const llvm::Value &v) {
        const unsigned registers = registers_of(v);
        if (registers > 0 && live_.emplace(&v, registers).second) {
            now_ += registers;
            most_ = std::max(most_, now_);
        }
    }

    void end(const llvm::Value &v) {
        const auto found = live_.find(&v);
        if (found != live_.end()) {
            now_ -= found->second;
            live_.erase(found);
        }
    }

    const unsigned register_bits_;
    std::map<const llvm::Value *, unsigned> live_;
    unsigned now_ = 0, most_ = 0;
};

}  // namespace

void align_spills(llvm::Module &module, const Target &target) {
    const auto bits = unsigned(vector_register_bits(target, true));
    if (bits <= 128) {
        return;  // which is what frames are aligned to
    }
    const unsigned registers = target.has_feature(Target::AVX512) ? 32 : 16;
    LiveVectors vectors(bits);
    for (llvm::Function &function : module) {
        const bool spills =
            std::any_of(function.begin(), function.end(), [&](const llvm::BasicBlock &block) {
                return vectors.most_in(block) > registers;
            });
        if (spills) {
            function.addFnAttr("stackrealign");
        }
    }
}

}  // namespace calotype::internal
