// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/arm/patterns.h"

#include <llvm/IR/IntrinsicsAArch64.h>

#include "codegen/arm/registers.h"
#include "codegen/llvm/products.h"
#include "ir/constants.h"
#include "ir/language/match_types.h"

namespace calotype::internal {

using llvm::Value;

namespace {

namespace A = llvm::Intrinsic;

/// Sums of four products of bytes each, of which both are signed or both are not.
struct DotProduct {
    Factors operands;
    bool is_signed;
};

std::optional<DotProduct> match_dot_product(const Target &target, const VectorReduce *op) {
    const int factor = op->value.type().lanes() / op->type.lanes();
    const bool matches = op->op == VectorReduce::Add && op->type.is_int_or_uint() &&
                         op->type.bits() == 32 && factor % 4 == 0 &&
                         target.has_feature(Target::ARMDotProd);
    for (const bool is_signed : {false, true}) {
        const Type bytes = is_signed ? Int(8) : UInt(8);
        if (auto operands = matches ? factors_of(op->value, bytes, bytes) : std::nullopt) {
            return DotProduct{*operands, is_signed};
        }
    }
    return std::nullopt;
}

/// Each four products together, and added to the lanes of the accumulator.
Value *emit_dot_product(FunctionEmitter &f, const DotProduct &dot, Value *accumulator) {
    llvm::IRBuilder<> &b = f.builder();
    Value *x = f.emit(dot.operands.a), *y = f.emit(dot.operands.b);
    // Four bytes are one lane of the accumulator, and are cut into registers as such.
    llvm::Type *words = f.type(Int(32, lanes_of(x->getType()) / 4));
    llvm::Type *sums = f.type(Int(32, register_bits / 32));
    llvm::Type *bytes = f.type(Int(8, register_bits / 8));
    accumulator = accumulator ? accumulator : llvm::Constant::getNullValue(words);
    return f.by_pieces(
        {accumulator, b.CreateBitCast(x, words), b.CreateBitCast(y, words)}, register_bits / 32,
        [&](const std::vector<Value *> &piece) {
            return b.CreateIntrinsic(
                dot.is_signed ? A::aarch64_neon_sdot : A::aarch64_neon_udot, {sums, bytes},
                {piece[0], b.CreateBitCast(piece[1], bytes), b.CreateBitCast(piece[2], bytes)});
        });
}

/// The value in half as many bits or fewer, where none is lost.
Expr in_fewest_bits(const Expr &e) {
    const int lanes = e.type().lanes();
    for (int bits = 8; bits < e.type().bits(); bits *= 2) {
        for (const Type t : {UInt(bits, lanes), Int(bits, lanes)}) {
            if (Expr narrow = lossless_cast(t, e); narrow.defined()) {
                return narrow;
            }
        }
    }
    return Expr();
}

/// Sums of neighbours in twice the bits, again and again until they have those of the result.
Value *match_widening_sum(FunctionEmitter &f, const VectorReduce *op) {
    if (op->op != VectorReduce::Add || !op->type.is_int_or_uint()) {
        return nullptr;
    }
    const Expr narrow = in_fewest_bits(op->value);
    int factor = op->value.type().lanes() / op->type.lanes();
    if (!narrow.defined() || factor % 2 != 0) {
        return nullptr;
    }
    llvm::IRBuilder<> &b = f.builder();
    const auto id = narrow.type().is_int() ? A::aarch64_neon_saddlp : A::aarch64_neon_uaddlp;
    Type t = narrow.type();
    Value *v = f.emit(narrow);
    for (; t.bits() < op->type.bits() && factor % 2 == 0; factor /= 2) {
        const int lanes = register_bits / t.bits();
        llvm::Type *sums = f.type(Int(2 * t.bits(), lanes / 2)),
                   *taken = f.type(Int(t.bits(), lanes));
        // Two neighbours are one lane of the sum, and are cut into registers as such.
        Value *pairs = b.CreateBitCast(v, f.type(Int(2 * t.bits(), t.lanes() / 2)));
        v = f.by_pieces({pairs}, lanes / 2, [&](const std::vector<Value *> &piece) {
            return b.CreateIntrinsic(id, {sums, taken}, {b.CreateBitCast(piece[0], taken)});
        });
        t = t.with_bits(2 * t.bits()).with_lanes(t.lanes() / 2);
    }
    v = f.convert(v, t, op->type.with_lanes(t.lanes()));
    return f.reduce_groups(v, op->type.lanes(), op->op, op->type.element_of());
}

/// c + a dot product whose instruction takes it.
Value *match_accumulation(FunctionEmitter &f, const Expr &c, const Expr &sums) {
    const VectorReduce *op = sums.as<VectorReduce>();
    if (!op || op->value.type().lanes() != 4 * op->type.lanes()) {
        return nullptr;
    }
    const std::optional<DotProduct> dot = match_dot_product(f.target(), op);
    return dot && op->type.is_vector() ? emit_dot_product(f, *dot, f.emit(c)) : nullptr;
}

}  // namespace

// The high half of the doubled product, which saturates as they do.
Value *match_arm_call(FunctionEmitter &f, const Call *op) {
    const bool rounds = op->is_intrinsic(Intrinsic::rounding_mul_shift_right);
    if (!rounds && !op->is_intrinsic(Intrinsic::mul_shift_right)) {
        return nullptr;
    }
    const Type t = op->type;
    const std::optional<uint64_t> shift = as_const_uint(op->args[2]);
    if (!t.is_int() || !t.is_vector() || (t.bits() != 16 && t.bits() != 32) ||
        shift != uint64_t(t.bits() - 1) || op->args[0].type() != t || op->args[1].type() != t) {
        return nullptr;
    }
    const int lanes = register_bits / t.bits();
    return f.by_pieces({f.emit(op->args[0]), f.emit(op->args[1])}, lanes,
                       [&](const std::vector<Value *> &piece) {
                           return f.builder().CreateIntrinsic(
                               rounds ? A::aarch64_neon_sqrdmulh : A::aarch64_neon_sqdmulh,
                               {f.type(t.with_lanes(lanes))}, {piece[0], piece[1]});
                       });
}

Value *match_arm_sum(FunctionEmitter &f, const Add *op) {
    Value *v = match_accumulation(f, op->a, op->b);
    return v ? v : match_accumulation(f, op->b, op->a);
}

Value *match_arm_reduction(FunctionEmitter &f, const VectorReduce *op) {
    if (const auto dot = match_dot_product(f.target(), op)) {
        return f.reduce_groups(emit_dot_product(f, *dot, nullptr), op->type.lanes(), op->op,
                               Int(32));
    }
    return match_widening_sum(f, op);
}

}  // namespace calotype::internal
