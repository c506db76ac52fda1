// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The directed ones correct an integer that is near by one where it lies on the wrong side. The sign of x is the result's in
// any case, be that a zero.
#include "codegen/x86/roundings.h"

namespace calotype::internal {

using llvm::Value;

namespace {

class Rounding {
public:
    Rounding(FunctionEmitter &f, Value *x, Type t)
        : f_(f), b_(f.builder()), x_(x), type_(x->getType()), is_single_(t.bits() == 32),
          integers_(f.type(Int(32, t.lanes()))), whole_(is_single_ ? 0x1p23 : 0x1p52),
          size_(f.call_llvm(llvm::Intrinsic::fabs, {x})) {
    }

    Value *round() {
        return chosen(nearest());
    }
    Value *trunc() {
        if (is_single_) {
            return chosen(as_integers());
        }
        Value *r = nearest();
        return chosen(b_.CreateFSub(r, one_if(b_.CreateFCmpOGT(r, size_))));
    }
    Value *floor() {
        Value *r = signed_near();
        return chosen(b_.CreateFSub(r, one_if(b_.CreateFCmpOGT(r, x_))));
    }
    Value *ceil() {
        Value *r = signed_near();
        return chosen(b_.CreateFAdd(r, one_if(b_.CreateFCmpOLT(r, x_))));
    }

private:
    Value *constant(double value) {
        return llvm::ConstantFP::get(type_, value);
    }
    /// Of |x|.
    Value *nearest() {
        return b_.CreateFSub(b_.CreateFAdd(size_, constant(whole_)), constant(whole_));
    }
    /// Of single floats, towards zero; larger ones are not chosen.
    Value *as_integers() {
        return b_.CreateSIToFP(b_.CreateFPToSI(x_, integers_), type_);
    }
    /// An integer less than one away.
    Value *signed_near() {
        return is_single_ ? as_integers() : with_sign(nearest());
    }
    Value *with_sign(Value *v) {
        return f_.call_llvm(llvm::Intrinsic::copysign, {v, x_});
    }
    Value *one_if(Value *condition) {
        return b_.CreateSelect(condition, constant(1), constant(0));
    }
    /// Large numbers are integers, and what is no number stays so.
    Value *chosen(Value *v) {
        return b_.CreateSelect(b_.CreateFCmpOLT(size_, constant(whole_)), with_sign(v), x_);
    }

    FunctionEmitter &f_;
    llvm::IRBuilder<> &b_;
    Value *x_;
    llvm::Type *type_;
    const bool is_single_;
    llvm::Type *integers_;
    const double whole_;
    Value *size_;
};

}  // namespace

bool x86_rounds_by_sums(const Target &target, const Call *op) {
    const bool rounds = op->is_intrinsic(Intrinsic::round) || op->is_intrinsic(Intrinsic::floor) ||
                        op->is_intrinsic(Intrinsic::ceil) || op->is_intrinsic(Intrinsic::trunc);
    return rounds && op->type.is_float() && op->type.bits() >= 32 &&
           !target.has_feature(Target::SSE41);
}

Value *x86_round_by_sums(FunctionEmitter &f, const Call *op) {
    Value *x = f.emit(op->args[0]);
    return f.with_strict_float([&] {
        Rounding rounding(f, x, op->type);
        switch (op->intrinsic) {
        case Intrinsic::floor:
            return rounding.floor();
        case Intrinsic::ceil:
            return rounding.ceil();
        case Intrinsic::trunc:
            return rounding.trunc();
        default:
            return rounding.round();
        }
    });
}

}  // namespace calotype::internal
