// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/x86/machine.h"

#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/Support/TargetSelect.h>

#include <mutex>

#include "codegen/llvm/target_names.h"
#include "codegen/x86/exponents.h"
#include "codegen/x86/features.h"
#include "codegen/x86/integers.h"
#include "codegen/x86/packing.h"
#include "codegen/x86/patterns.h"
#include "codegen/x86/roundings.h"
#include "codegen/x86/tiles.h"
#include "target/registers.h"

namespace calotype::internal {

namespace {

/// Registers LLVM's back end, once in the process.
void initialize_back_end() {
    static std::once_flag once;
    std::call_once(once, [] {
        LLVMInitializeX86TargetInfo();
        LLVMInitializeX86Target();
        LLVMInitializeX86TargetMC();
        LLVMInitializeX86AsmPrinter();
        LLVMInitializeX86AsmParser();
    });
}

/// A loop that is no longer than a line of the cache lies within one then. Where it lies in two it takes up to half as long again.
constexpr unsigned loop_alignment = 64;

/// The first looks for integers that could be in mask registers, and is quadratic in the size of a function. The second
/// makes branches of choices that others wait for, as in the diffusion of an error; processors do not foresee what
/// depends on data, and a branch that they have not foreseen takes many times as long as the wait.
constexpr const char *needless_passes = "X86 Domain Reassignment Pass\nX86 cmov Conversion";

class X86Machine : public Machine {
public:
    Value *call(FunctionEmitter &f, const Call *op) const override {
        if (op->is_intrinsic(Intrinsic::stream_store_fence)) {
            f.builder().CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, {}, {});
            return llvm::Constant::getNullValue(f.type(op->type));
        }
        const bool square_root = op->is_intrinsic(Intrinsic::fast_inverse_sqrt);
        const bool inverse = square_root || op->is_intrinsic(Intrinsic::fast_inverse);
        if (inverse && op->type.bits() == 32 && f.target().has_feature(Target::SSE41)) {
            return x86_estimate(f, f.emit(op->args[0]), square_root);
        }
        if (x86_counts_zeros(f.target(), op)) {
            return x86_count_zeros(f, op);
        }
        if (x86_rounds_by_sums(f.target(), op)) {
            return x86_round_by_sums(f, op);
        }
        Value *tiles = emit_x86_tiles(f, op);
        return tiles ? tiles : match_x86_call(f, op);
    }
    Value *sum(FunctionEmitter &f, const Add *op) const override {
        return match_x86_sum(f, op);
    }
    Value *product(FunctionEmitter &f, const Mul *op) const override {
        return match_x86_product(f, op);
    }
    Value *reduction(FunctionEmitter &f, const VectorReduce *op) const override {
        return match_x86_reduction(f, op);
    }
    Value *scaled(FunctionEmitter &f, Value *x, Value *n, Type t) const override {
        return x86_has_exponents(f.target(), t) ? x86_scaled(f, x, n, t) : nullptr;
    }
    bool split_exponent(FunctionEmitter &f, Value *x, Type t, Value **m, Value **e) const override {
        if (!x86_has_exponents(f.target(), t)) {
            return false;
        }
        x86_split_exponent(f, x, t, m, e);
        return true;
    }
    LlvmTarget llvm_target(const Target &target) const override {
        initialize_back_end();
        return {triple_of(target, "x86_64"),
                "x86-64",
                x86_tuning(target),
                x86_features(target),
                vector_register_bits(target, true),
                has_fast_gather(target) ? "" : "+prefer-no-gather,+prefer-no-scatter",
                loop_alignment,
                needless_passes};
    }
    bool has_fused_multiply_add(const Target &target) const override {
        return target.has_feature(Target::FMA);
    }
    bool converts_float16(const Target &target) const override {
        return target.has_feature(Target::F16C);
    }
    bool has_arithmetic(const Target &target, Type t) const override {
        return !t.is_bfloat() && target.has_feature(Target::AVX512_SapphireRapids);
    }
    bool has_streaming_accesses() const override {
        return true;
    }
    // Intel's processors with AVX-512 gather fast, AMD's and older ones do not.
    bool has_fast_gather(const Target &target) const override {
        return is_intel_with_avx512(target);
    }
    bool packs(const Target &target, Type from, Type to) const override {
        return x86_packs(target, from, to);
    }
    Value *packed(FunctionEmitter &f, Value *v, Type to) const override {
        return x86_packed(f, v, to);
    }
    Value *high_product(FunctionEmitter &f, Value *a, Value *b) const override {
        return x86_high_product(f, a, b);
    }
    bool permutes_bytes_of_two(const Target &target) const override {
        return target.has_feature(Target::AVX512_Cannonlake);
    }
};

}  // namespace

const Machine &x86_machine() {
    static const X86Machine machine;
    return machine;
}

}  // namespace calotype::internal
