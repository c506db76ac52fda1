// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/x86/leading_lanes.h"

#include <numeric>
#include <vector>

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include "codegen/llvm/splats.h"
#include "codegen/llvm/types.h"
#include "codegen/x86/features.h"

namespace calotype::internal {

namespace {

using llvm::Value;

constexpr uint64_t word = 4;  ///< bytes of a lane that has a mask

/// Lanes first <= i < end, or i <= end, of which lane 0 is `first`. Null where a mask is none such.
struct Range {
    Value *first = nullptr, *end = nullptr;
    bool is_signed = false, has_end = false;
};

bool counts_up(const Value *v) {
    const auto *all = llvm::dyn_cast<llvm::Constant>(v);
    const auto *type = llvm::dyn_cast<llvm::FixedVectorType>(v->getType());
    for (unsigned i = 0; all && type && i < type->getNumElements(); i++) {
        const auto *lane = llvm::dyn_cast_or_null<llvm::ConstantInt>(all->getAggregateElement(i));
        if (!lane || lane->getValue() != i) {
            return false;
        }
    }
    return all && type;
}

/// What lane 0 of first, first + 1, first + 2, ... is, if they do not wrap around.
Value *first_of(Value *ramp, bool is_signed) {
    if (counts_up(ramp)) {
        return llvm::Constant::getNullValue(ramp->getType()->getScalarType());
    }
    const auto *sum = llvm::dyn_cast<llvm::BinaryOperator>(ramp);
    if (!sum || !counts_up(sum->getOperand(1))) {
        return nullptr;
    }
    const auto *disjoint = llvm::dyn_cast<llvm::PossiblyDisjointInst>(sum);
    const bool adds = sum->getOpcode() == llvm::Instruction::Add &&
                      (is_signed ? sum->hasNoSignedWrap() : sum->hasNoUnsignedWrap());
    return adds || (disjoint && disjoint->isDisjoint()) ? value_of_all(sum->getOperand(0))
                                                        : nullptr;
}

Range range_of(Value *mask) {
    using namespace llvm::PatternMatch;
    llvm::ICmpInst::Predicate predicate = {};
    Value *a = nullptr, *b = nullptr;
    if (!match(mask, m_ICmp(predicate, m_Value(a), m_Value(b)))) {
        return {};
    }
    if (llvm::ICmpInst::isGT(predicate) || llvm::ICmpInst::isGE(predicate)) {
        std::swap(a, b);
        predicate = llvm::ICmpInst::getSwappedPredicate(predicate);
    }
    if (llvm::ICmpInst::isEquality(predicate) || a->getType()->getScalarSizeInBits() >= 64) {
        return {};
    }
    const bool is_signed = llvm::ICmpInst::isSigned(predicate);
    Range range{first_of(a, is_signed), value_of_all(b), is_signed,
                llvm::ICmpInst::isLE(predicate)};
    return range.first && range.end ? range : Range{};
}

struct Access {
    llvm::IntrinsicInst *call = nullptr;
    Range range;

    bool loads() const {
        return call->getIntrinsicID() == llvm::Intrinsic::masked_load;
    }
    llvm::Value *pointer() const {
        return call->getArgOperand(loads() ? 0 : 1);
    }
    llvm::FixedVectorType *type() const {
        return llvm::cast<llvm::FixedVectorType>(loads() ? call->getType()
                                                         : call->getArgOperand(0)->getType());
    }
};

bool is_narrow(const llvm::Type *type) {
    const auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
    const unsigned bits = vector ? vector->getScalarSizeInBits() : 0;
    return (bits == 8 || bits == 16) && vector->getNumElements() * bits % 128 == 0;
}

/// The access that an instruction is; `call` is null if it is none of them.
Access access_of(llvm::Instruction &i) {
    auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&i);
    if (!call) {
        return {};
    }
    const bool loads = call->getIntrinsicID() == llvm::Intrinsic::masked_load;
    const bool stores = call->getIntrinsicID() == llvm::Intrinsic::masked_store;
    if ((!loads && !stores) ||
        !is_narrow(loads ? call->getType() : call->getArgOperand(0)->getType()) ||
        (loads && !llvm::isa<llvm::UndefValue>(call->getArgOperand(3)))) {
        return {};
    }
    const Range range = range_of(call->getArgOperand(loads ? 2 : 3));
    return range.first ? Access{call, range} : Access{};
}

/// How many bytes of an access are alive, from 0 to as many as it has.
Value *bytes_alive(llvm::IRBuilder<> &b, const Access &access) {
    const llvm::FixedVectorType *type = access.type();
    const auto widened = [&](Value *v) {
        return b.CreateIntCast(v, b.getInt64Ty(), access.range.is_signed);
    };
    Value *count = b.CreateSub(widened(access.range.end), widened(access.range.first));
    count = access.range.has_end ? b.CreateAdd(count, b.getInt64(1)) : count;
    count =
        b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, count, b.getInt64(type->getNumElements()));
    count = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, count, b.getInt64(0));
    return b.CreateMul(count, b.getInt64(type->getScalarSizeInBits() / 8));
}

/// Memory that is accessed as `call` does.
class Memory {
public:
    Memory(const llvm::IntrinsicInst *call, Value *pointer) : call_(call), pointer_(pointer) {
    }

    Value *load(llvm::IRBuilder<> &b, llvm::Type *type, Value *offset) const {
        Value *p = b.CreateGEP(b.getInt8Ty(), pointer_, offset);
        llvm::LoadInst *loaded = b.CreateAlignedLoad(type, p, llvm::Align(1));
        loaded->setAAMetadata(call_->getAAMetadata());
        return loaded;
    }
    Value *load(llvm::IRBuilder<> &b, llvm::Type *type, Value *offset, uint64_t more) const {
        return load(b, type, b.CreateAdd(offset, b.getInt64(more)));
    }

    /// One to three bytes from there on: the first, the middle one and the last, of which some may be the same.
    Value *load_few(llvm::IRBuilder<> &b, Value *from, Value *count) const {
        Value *loaded = b.getInt32(0);
        for (Value *offset : {static_cast<Value *>(b.getInt64(0)), b.CreateLShr(count, 1),
                              b.CreateSub(count, b.getInt64(1))}) {
            Value *byte =
                b.CreateZExt(load(b, b.getInt8Ty(), b.CreateAdd(from, offset)), b.getInt32Ty());
            Value *by = b.CreateTrunc(b.CreateShl(offset, 3), b.getInt32Ty());
            loaded = b.CreateOr(loaded, b.CreateShl(byte, by));
        }
        return loaded;
    }

private:
    const llvm::IntrinsicInst *call_;
    Value *pointer_;
};

/// Makes the code for one access. Of `bytes_` from pointer_ on, whole words and a rest are alive.
class ByWords {
public:
    explicit ByWords(const Access &access)
        : call_(access.call), pointer_(access.pointer()), type_(access.type()), b_(access.call) {
        words_ = unsigned(access.type()->getPrimitiveSizeInBits().getFixedValue() / 8 / word);
        bytes_ = bytes_alive(b_, access);
        whole_ = b_.CreateLShr(bytes_, 2);
        rest_ = b_.CreateAnd(bytes_, 3);
        std::vector<llvm::Constant *> numbers;
        for (unsigned i = 0; i < words_; i++) {
            numbers.push_back(b_.getInt32(i));
        }
        numbers_ = llvm::ConstantVector::get(numbers);
    }

    /// Lanes off are zero.
    void load() {
        llvm::Instruction *then = nullptr, *otherwise = nullptr;
        Value *has_words = b_.CreateICmpNE(whole_, b_.getInt64(0));
        llvm::SplitBlockAndInsertIfThenElse(has_words, call_, &then, &otherwise);
        b_.SetInsertPoint(then);
        Value *many = load_words();
        Value *few = load_few(otherwise);
        b_.SetInsertPoint(call_);
        llvm::PHINode *loaded = b_.CreatePHI(words_type(), 2);
        loaded->addIncoming(many, then->getParent());
        loaded->addIncoming(few, otherwise->getParent());
        call_->replaceAllUsesWith(b_.CreateBitCast(loaded, type_));
        call_->eraseFromParent();
    }

    void store() {
        Value *words = b_.CreateBitCast(call_->getArgOperand(0), words_type());
        Value *alive = b_.CreateICmpULT(numbers_, each(whole_));
        tag(b_.CreateMaskedStore(words, pointer_, llvm::Align(1), alive));
        llvm::Instruction *some =
            llvm::SplitBlockAndInsertIfThen(b_.CreateICmpNE(rest_, b_.getInt64(0)), call_, false);
        b_.SetInsertPoint(some);
        Value *last = b_.CreateExtractElement(words, whole_);
        Value *to = b_.CreateGEP(b_.getInt8Ty(), pointer_, b_.CreateAnd(bytes_, ~uint64_t(3)));
        if (type_->getScalarSizeInBits() == 16) {
            tag(b_.CreateAlignedStore(b_.CreateTrunc(last, b_.getInt16Ty()), to, llvm::Align(1)));
        } else {
            store_rest(some, last, to);
        }
        call_->eraseFromParent();
    }

private:
    llvm::FixedVectorType *words_type() {
        return llvm::FixedVectorType::get(b_.getInt32Ty(), words_);
    }
    Value *each(Value *v) {
        return b_.CreateVectorSplat(words_, b_.CreateTrunc(v, b_.getInt32Ty()));
    }
    template<typename Instruction>
    Instruction *tag(Instruction *i) {
        i->setAAMetadata(call_->getAAMetadata());
        return i;
    }
    /// The last word is loaded with bytes before it that are alive, too.
    Value *load_words() {
        Value *zero = llvm::Constant::getNullValue(words_type());
        Value *words = tag(b_.CreateMaskedLoad(words_type(), pointer_, llvm::Align(1),
                                               b_.CreateICmpULT(numbers_, each(whole_)), zero));
        Value *p = b_.CreateGEP(b_.getInt8Ty(), pointer_, b_.CreateSub(bytes_, b_.getInt64(word)));
        Value *last = tag(b_.CreateAlignedLoad(b_.getInt32Ty(), p, llvm::Align(1)));
        Value *by = b_.CreateShl(b_.CreateSub(b_.getInt64(word), rest_), 3);
        last = b_.CreateLShr(b_.CreateZExt(last, b_.getInt64Ty()), by);
        return b_.CreateSelect(b_.CreateICmpEQ(numbers_, each(whole_)), each(last), words);
    }

    /// Up to three bytes.
    Value *load_few(llvm::Instruction *before) {
        b_.SetInsertPoint(before);
        Value *zero = llvm::Constant::getNullValue(words_type());
        Value *any = b_.CreateICmpNE(bytes_, b_.getInt64(0));
        llvm::BasicBlock *none = before->getParent();
        llvm::Instruction *some = llvm::SplitBlockAndInsertIfThen(any, before, false);
        b_.SetInsertPoint(some);
        Value *loaded = Memory(call_, pointer_).load_few(b_, b_.getInt64(0), bytes_);
        Value *few = b_.CreateInsertElement(zero, loaded, uint64_t(0));
        b_.SetInsertPoint(before);
        llvm::PHINode *result = b_.CreatePHI(words_type(), 2);
        result->addIncoming(zero, none);
        result->addIncoming(few, some->getParent());
        return result;
    }

    /// Two bytes, then one.
    void store_rest(llvm::Instruction *before, Value *last, Value *to) {
        auto has = [&](uint64_t bytes) {
            return b_.CreateICmpNE(b_.CreateAnd(rest_, bytes), b_.getInt64(0));
        };
        Value *two = has(2), *one = has(1);
        b_.SetInsertPoint(llvm::SplitBlockAndInsertIfThen(two, before, false));
        tag(b_.CreateAlignedStore(b_.CreateTrunc(last, b_.getInt16Ty()), to, llvm::Align(1)));
        b_.SetInsertPoint(llvm::SplitBlockAndInsertIfThen(one, before, false));
        Value *passed = b_.CreateAnd(rest_, 2);
        Value *by = b_.CreateTrunc(b_.CreateShl(passed, 3), b_.getInt32Ty());
        Value *byte = b_.CreateTrunc(b_.CreateLShr(last, by), b_.getInt8Ty());
        Value *p = b_.CreateGEP(b_.getInt8Ty(), to, passed);
        tag(b_.CreateAlignedStore(byte, p, llvm::Align(1)));
    }

    llvm::IntrinsicInst *const call_;
    Value *const pointer_;
    llvm::Type *const type_;
    llvm::IRBuilder<> b_;
    unsigned words_ = 0;
    Value *bytes_ = nullptr, *whole_ = nullptr, *rest_ = nullptr, *numbers_ = nullptr;
};

/// Makes the code for a load without any masks: registers that are whole, and what is left from two loads of 8 or 4 bytes
/// that overlap.
class ByRegisters {
public:
    explicit ByRegisters(const Access &access)
        : call_(access.call), memory_(access.call, access.pointer()), type_(access.type()),
          b_(access.call) {
        bytes_ = bytes_alive(b_, access);
        whole_ = b_.CreateAnd(bytes_, ~(register_bytes - 1));
        rest_ = b_.CreateAnd(bytes_, register_bytes - 1);
        register_ = llvm::FixedVectorType::get(b_.getInt64Ty(), 2);
    }

    /// Lanes off are zero.
    void load() {
        Value *last = load_rest(), *zero = llvm::Constant::getNullValue(register_);
        const unsigned count =
            unsigned(type_->getPrimitiveSizeInBits().getFixedValue() / 8 / register_bytes);
        std::vector<Value *> loaded;
        for (unsigned i = 0; i < count; i++) {
            Value *offset = b_.getInt64(i * register_bytes);
            Value *otherwise = b_.CreateSelect(b_.CreateICmpEQ(whole_, offset), last, zero);
            loaded.push_back(one_of(b_.CreateICmpUGT(whole_, offset), otherwise,
                                    [&] { return memory_.load(b_, register_, offset); }));
        }
        call_->replaceAllUsesWith(b_.CreateBitCast(llvm::concatenateVectors(b_, loaded), type_));
        call_->eraseFromParent();
    }

private:
    static constexpr uint64_t register_bytes = 16;

    /// What is made under a condition, or the other value.
    template<typename Make>
    Value *one_of(Value *condition, Value *otherwise, const Make &make) {
        llvm::BasicBlock *before = call_->getParent();
        llvm::Instruction *then = llvm::SplitBlockAndInsertIfThen(condition, call_, false);
        b_.SetInsertPoint(then);
        Value *made = make();
        llvm::BasicBlock *made_in = b_.GetInsertBlock();
        b_.SetInsertPoint(call_);
        llvm::PHINode *result = b_.CreatePHI(made->getType(), 2);
        result->addIncoming(made, made_in);
        result->addIncoming(otherwise, before);
        return result;
    }

    Value *is_from(uint64_t least, uint64_t most) {
        return b_.CreateICmpULE(b_.CreateSub(rest_, b_.getInt64(least)), b_.getInt64(most - least));
    }

    /// The last bytes, less than a register, followed by zeros.
    Value *load_rest() {
        Value *zero = llvm::Constant::getNullValue(register_);
        Value *few = one_of(is_from(1, 3), b_.getInt64(0), [&] {
            return b_.CreateZExt(memory_.load_few(b_, whole_, rest_), b_.getInt64Ty());
        });
        Value *word = one_of(is_from(4, 7), few, [&] { return load_word(); });
        Value *low = b_.CreateInsertElement(zero, word, uint64_t(0));
        return one_of(is_from(8, 15), low, [&] {
            Value *first = memory_.load(b_, b_.getInt64Ty(), whole_);
            Value *both = b_.CreateInsertElement(zero, first, uint64_t(0));
            // 8 bytes that end with the last one. Of 8 altogether they are shifted out, in two steps.
            Value *end =
                memory_.load(b_, b_.getInt64Ty(), b_.CreateAdd(whole_, rest_), -uint64_t(8));
            Value *by = b_.CreateShl(b_.CreateSub(b_.getInt64(15), rest_), 3);
            end = b_.CreateLShr(b_.CreateLShr(end, 8), by);
            return b_.CreateInsertElement(both, end, uint64_t(1));
        });
    }

    /// 4 to 7 bytes.
    Value *load_word() {
        const auto four = [&](Value *offset, uint64_t more) {
            return b_.CreateZExt(memory_.load(b_, b_.getInt32Ty(), offset, more), b_.getInt64Ty());
        };
        Value *end = four(b_.CreateAdd(whole_, rest_), -uint64_t(4));
        Value *by = b_.CreateShl(b_.CreateSub(rest_, b_.getInt64(4)), 3);
        return b_.CreateOr(four(whole_, 0), b_.CreateShl(end, by));
    }

    llvm::IntrinsicInst *const call_;
    const Memory memory_;
    llvm::FixedVectorType *const type_;
    llvm::IRBuilder<> b_;
    Value *bytes_ = nullptr, *whole_ = nullptr, *rest_ = nullptr;
    llvm::FixedVectorType *register_ = nullptr;
};

/// Makes the code for a store without any masks: what is alive is copied from a vector in the frame, in pieces
/// of 1, 2, 4, ... bytes, each of which a bit of the number of bytes stands for.
class ByPieces {
public:
    explicit ByPieces(const Access &access)
        : call_(access.call), pointer_(access.pointer()), type_(access.type()), b_(access.call) {
        llvm::IRBuilder<> start(&call_->getFunction()->getEntryBlock().front());
        frame_ = start.CreateAlloca(type_);
        all_ = type_->getPrimitiveSizeInBits().getFixedValue() / 8;
        least_ = type_->getScalarSizeInBits() / 8;
        bytes_ = bytes_alive(b_, access);
    }

    void store() {
        b_.CreateStore(call_->getArgOperand(0), frame_);
        copy(frame_, pointer_);
        call_->eraseFromParent();
    }

private:
    void copy(Value *from, Value *to) {
        for (uint64_t piece = llvm::PowerOf2Ceil(all_); piece >= least_; piece /= 2) {
            b_.SetInsertPoint(call_);
            Value *has = b_.CreateICmpNE(b_.CreateAnd(bytes_, piece), b_.getInt64(0));
            b_.SetInsertPoint(llvm::SplitBlockAndInsertIfThen(has, call_, false));
            Value *passed = b_.CreateAnd(bytes_, ~(2 * piece - 1));
            llvm::Type *type = b_.getIntNTy(unsigned(8 * std::min<uint64_t>(piece, 8)));
            type = piece > 8 ? llvm::FixedVectorType::get(type, unsigned(piece / 8)) : type;
            Value *copied = b_.CreateAlignedLoad(type, b_.CreateGEP(b_.getInt8Ty(), from, passed),
                                                 llvm::Align(1));
            b_.CreateAlignedStore(copied, b_.CreateGEP(b_.getInt8Ty(), to, passed), llvm::Align(1));
        }
    }

    llvm::IntrinsicInst *const call_;
    Value *const pointer_;
    llvm::FixedVectorType *const type_;
    llvm::IRBuilder<> b_;
    Value *frame_ = nullptr, *bytes_ = nullptr;
    uint64_t all_ = 0, least_ = 1;
};

void access_without_masks(const Access &access) {
    if (access.loads()) {
        ByRegisters(access).load();
    } else {
        ByPieces(access).store();
    }
}

void access_by_words(const Access &access) {
    if (access.loads()) {
        ByWords(access).load();
    } else {
        ByWords(access).store();
    }
}

}  // namespace

void access_leading_lanes_by_words(llvm::Module &module, const Target &target) {
    const bool has_masks = target.features_any_of({Target::AVX, Target::AVX2});
    if (x86_has_narrow_and_long_lanes(target)) {
        return;
    }
    for (llvm::Function &function : module) {
        std::vector<Access> accesses;
        for (llvm::Instruction &i : llvm::instructions(function)) {
            if (const Access access = access_of(i); access.call) {
                accesses.push_back(access);
            }
        }
        for (const Access &access : accesses) {
            has_masks ? access_by_words(access) : access_without_masks(access);
        }
    }
}

}  // namespace calotype::internal
