// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Constants, names, arithmetic, comparison and choice.
#include <algorithm>

#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Intrinsics.h>

#include "arith/exact_types.h"
#include "codegen/llvm/emitter.h"
#include "ir/constants.h"
#include "ir/conventions/names.h"
#include "ir/walk/field_walk.h"
#include "support/error.h"

namespace calotype::internal {

using llvm::Value;

namespace {

constexpr const char *data_mark = "calotype.data";

// Whether a value is made of what a buffer holds, or of what the user gives by calls and scalars. Loads of the shapes of
// buffers have no TBAA. Of values that many instructions make it is taken to be so.
bool is_data(const Value *v, int *budget) {
    if (const auto *argument = llvm::dyn_cast<llvm::Argument>(v)) {
        const llvm::AttributeList attributes = argument->getParent()->getAttributes();
        return attributes.hasParamAttr(argument->getArgNo(), data_mark);
    }
    const auto *instruction = llvm::dyn_cast<llvm::Instruction>(v);
    if (!instruction || llvm::isa<llvm::PHINode>(instruction)) {
        return false;
    }
    if (--*budget < 0 || instruction->hasMetadata(llvm::LLVMContext::MD_tbaa) ||
        instruction->hasMetadata(data_mark)) {
        return true;
    }
    if (llvm::isa<llvm::LoadInst>(instruction)) {
        return false;
    }
    const auto *call = llvm::dyn_cast<llvm::CallInst>(instruction);
    if (call && (!llvm::isa<llvm::IntrinsicInst>(call) || call->mayReadFromMemory())) {
        return true;
    }
    return std::any_of(instruction->op_begin(), instruction->op_end(),
                       [&](const llvm::Use &operand) { return is_data(operand, budget); });
}

bool is_data(const Value *v) {
    int budget = 64;
    return is_data(v, &budget);
}

// int32 and int64 do not overflow in the user's program. Terms of sums may have been put in another order since: what is
// read from memory may overflow on the way then, and has to wrap and come back. Coordinates are far from the ends.
bool no_signed_wrap(Type t, const Value *a, const Value *b) {
    return is_exact_int(t) && !is_data(a) && !is_data(b);
}

// 16-bit floats are integers between operations.
Value *without_bitcasts(Value *v) {
    while (auto *cast = llvm::dyn_cast<llvm::BitCastInst>(v)) {
        v = cast->getOperand(0);
    }
    return v;
}

// LLVM takes min(min(a, b), a) for min(a, b), though it is min(b, a) where one is NaN.
Value *without_repeated(Value *a, Value *b, llvm::CmpInst::Predicate first) {
    auto *inner = llvm::dyn_cast<llvm::SelectInst>(without_bitcasts(a));
    const auto *choice = inner ? llvm::dyn_cast<llvm::FCmpInst>(inner->getCondition()) : nullptr;
    const bool repeats = choice && choice->getPredicate() == first &&
                         choice->getOperand(0) == inner->getTrueValue() &&
                         choice->getOperand(1) == inner->getFalseValue() &&
                         without_bitcasts(inner->getTrueValue()) == without_bitcasts(b);
    return repeats ? inner->getFalseValue() : a;
}

}  // namespace

void mark_as_data(llvm::Argument *argument) {
    argument->getParent()->addParamAttr(argument->getArgNo(),
                                        llvm::Attribute::get(argument->getContext(), data_mark));
}

void mark_if_data(llvm::LoadInst *captured, const Value *value) {
    if (is_data(value)) {
        captured->setMetadata(data_mark, llvm::MDNode::get(captured->getContext(), {}));
    }
}

Value *FunctionEmitter::emit(const Expr &e) {
    internal_assert(e.defined()) << "undefined expression in a lowered module";
    return dispatch(e.get(), [this](const auto *op) { return emit_node(op); });
}

Value *FunctionEmitter::with_strict_float(const std::function<Value *()> &emission) {
    llvm::IRBuilderBase::FastMathFlagGuard guard(b_);
    bool before = std::exchange(strict_float_, true);
    b_.clearFastMathFlags();
    Value *v = emission();
    strict_float_ = before;
    return v;
}

Value *FunctionEmitter::emit_constant(Type t, Value *scalar) {
    return splat(scalar, t.lanes());
}

Value *FunctionEmitter::int_constant(llvm::Type *t, int64_t value) {
    return llvm::ConstantInt::get(t, uint64_t(value), true);
}

Value *FunctionEmitter::emit_node(const IntImm *op) {
    return llvm::ConstantInt::get(type(op->type), uint64_t(op->value), true);
}

Value *FunctionEmitter::emit_node(const UIntImm *op) {
    return llvm::ConstantInt::get(type(op->type), op->value, false);
}

Value *FunctionEmitter::emit_node(const FloatImm *op) {
    if (is_small_float(op->type)) {
        uint16_t bits =
            op->type.is_bfloat() ? bfloat16_t(op->value).to_bits() : float16_t(op->value).to_bits();
        return llvm::ConstantInt::get(type(op->type), bits, false);
    }
    return llvm::ConstantFP::get(type(op->type), op->value);
}

Value *FunctionEmitter::emit_node(const StringImm *op) {
    return module_.string_constant(op->value);
}

Value *FunctionEmitter::emit_node(const Variable *op) {
    if (Value *const *bound = symbols_.find(op->name)) {
        return *bound;
    }
    if (llvm::Constant *buffer = module_.embedded_buffer(op->name)) {
        return buffer;
    }
    internal_assert(op->name == names::user_context) << "variable not in scope: " << op->name;
    return user_context();
}

Value *FunctionEmitter::user_context() {
    Value *const *bound = symbols_.find(names::user_context);
    return bound ? *bound : llvm::ConstantPointerNull::get(module_.pointer_type());
}

Value *FunctionEmitter::emit_node(const Let *op) {
    Value *value = emit(op->value);
    bind_wide(op->name, op->value);
    ScopedBinding<Value *> binding(symbols_, op->name, value);
    Value *result = emit(op->body);
    wide_.pop(op->name);
    return result;
}

template<typename Op>
Value *FunctionEmitter::emit_arithmetic(const Op *op,
                                        Value *(FunctionEmitter::*f)(Value *, Value *, Type)) {
    if (is_small_float(op->type)) {
        llvm::Type *native = native_float(op->type);
        Value *a = b_.CreateBitCast(emit(op->a), native);
        Value *b = b_.CreateBitCast(emit(op->b), native);
        return b_.CreateBitCast((this->*f)(a, b, op->type), type(op->type));
    }
    Value *a = emit(op->a);
    Value *b = emit(op->b);
    return (this->*f)(a, b, op->type);
}

// LLVM's type of a 16-bit float, for machines that compute with it.
llvm::Type *FunctionEmitter::native_float(Type t) {
    return with_lanes(t.is_bfloat() ? b_.getBFloatTy() : b_.getHalfTy(), t.lanes());
}

Value *FunctionEmitter::add(Value *a, Value *b, Type t) {
    return t.is_float() ? b_.CreateFAdd(a, b)
                        : b_.CreateAdd(a, b, "", false, no_signed_wrap(t, a, b));
}

Value *FunctionEmitter::subtract(Value *a, Value *b, Type t) {
    return t.is_float() ? b_.CreateFSub(a, b)
                        : b_.CreateSub(a, b, "", false, no_signed_wrap(t, a, b));
}

Value *FunctionEmitter::multiply(Value *a, Value *b, Type t) {
    return t.is_float() ? b_.CreateFMul(a, b)
                        : b_.CreateMul(a, b, "", false, no_signed_wrap(t, a, b));
}

// LLVM moves x + 1 out of min(x + 1, n) if that does not overflow. Then each of several neighbours is clamped between
// other limits and has an address of its own in 64 bits, where one instruction would have added and clamped.
static void keep_in_clamp(Value *a) {
    auto *sum = llvm::dyn_cast<llvm::BinaryOperator>(a);
    if (sum && sum->use_empty() && sum->getOpcode() == llvm::Instruction::Add) {
        sum->setHasNoSignedWrap(false);
    }
}

// Floats: `a < b ? a : b`, the second operand where either is NaN, as x86 has it.
Value *FunctionEmitter::min_or_max(Value *a, Value *b, Type t, bool is_max) {
    if (t.is_float()) {
        Value *chosen = strict_float_ ? nullptr : machine_.min_or_max(*this, a, b, is_max);
        if (chosen) {
            return chosen;
        }
        using P = llvm::CmpInst::Predicate;
        const P first = is_max ? P::FCMP_OGT : P::FCMP_OLT;
        a = without_repeated(a, b, first);
        return b_.CreateSelect(b_.CreateFCmp(first, a, b), a, b);
    }
    if (t.is_bool()) {
        return is_max ? b_.CreateOr(a, b) : b_.CreateAnd(a, b);
    }
    if (machine_.has_narrow_indices()) {
        keep_in_clamp(a);
        keep_in_clamp(b);
    }
    llvm::Intrinsic::ID id = t.is_int() ? (is_max ? llvm::Intrinsic::smax : llvm::Intrinsic::smin)
                                        : (is_max ? llvm::Intrinsic::umax : llvm::Intrinsic::umin);
    return b_.CreateBinaryIntrinsic(id, a, b);
}

Value *FunctionEmitter::minimum(Value *a, Value *b, Type t) {
    return min_or_max(a, b, t, false);
}

Value *FunctionEmitter::maximum(Value *a, Value *b, Type t) {
    return min_or_max(a, b, t, true);
}

Value *FunctionEmitter::emit_node(const Add *op) {
    Value *v = machine_.sum(*this, op);
    return v ? v : emit_arithmetic(op, &FunctionEmitter::add);
}

Value *FunctionEmitter::emit_node(const Sub *op) {
    return emit_arithmetic(op, &FunctionEmitter::subtract);
}

Value *FunctionEmitter::emit_node(const Mul *op) {
    Value *v = machine_.product(*this, op);
    return v ? v : emit_arithmetic(op, &FunctionEmitter::multiply);
}

Value *FunctionEmitter::emit_node(const Div *op) {
    return emit_arithmetic(op, &FunctionEmitter::divide);
}

Value *FunctionEmitter::emit_node(const Mod *op) {
    return emit_arithmetic(op, &FunctionEmitter::modulo);
}

Value *FunctionEmitter::emit_node(const Min *op) {
    return emit_arithmetic(op, &FunctionEmitter::minimum);
}

Value *FunctionEmitter::emit_node(const Max *op) {
    return emit_arithmetic(op, &FunctionEmitter::maximum);
}

namespace {

/// Lanes that are compared do not overflow. Where they are sums within something else, what overflows may come back.
void tell_of_overflow(const Expr &lanes, Value *emitted) {
    const Ramp *ramp = lanes.as<Ramp>();
    auto *sum = llvm::dyn_cast<llvm::BinaryOperator>(emitted);
    if (ramp && ramp->base.type() == Int(32) && sum && sum->getOpcode() == llvm::Instruction::Add) {
        sum->setHasNoSignedWrap(true);
    }
}

}  // namespace

Value *FunctionEmitter::compare(const Expr &a, const Expr &b, NodeKind kind) {
    Type t = a.type();
    const bool is_small = is_small_float(t);
    Value *x = emit(a);
    Value *y = emit(b);
    tell_of_overflow(a, x);
    tell_of_overflow(b, y);
    if (is_small) {
        x = b_.CreateBitCast(x, native_float(t));
        y = b_.CreateBitCast(y, native_float(t));
    }
    using P = llvm::CmpInst::Predicate;
    struct Row {
        NodeKind kind;
        P of_float, of_int, of_uint;
    };
    static const Row rows[] = {
        {NodeKind::EQ, P::FCMP_OEQ, P::ICMP_EQ, P::ICMP_EQ},
        {NodeKind::NE, P::FCMP_UNE, P::ICMP_NE, P::ICMP_NE},
        {NodeKind::LT, P::FCMP_OLT, P::ICMP_SLT, P::ICMP_ULT},
        {NodeKind::LE, P::FCMP_OLE, P::ICMP_SLE, P::ICMP_ULE},
        {NodeKind::GT, P::FCMP_OGT, P::ICMP_SGT, P::ICMP_UGT},
        {NodeKind::GE, P::FCMP_OGE, P::ICMP_SGE, P::ICMP_UGE},
    };
    for (const Row &row : rows) {
        if (row.kind == kind) {
            return t.is_float() ? b_.CreateFCmp(row.of_float, x, y)
                                : b_.CreateICmp(t.is_int() ? row.of_int : row.of_uint, x, y);
        }
    }
    internal_error << "not a comparison";
}

#define LOGIC(Name, symbol)
#define COMPARE(Name, symbol)                                                                      \
    Value *FunctionEmitter::emit_node(const Name *op) {                                            \
        return compare(op->a, op->b, NodeKind::Name);                                              \
    }
#include "ir/nodes.def"

Value *FunctionEmitter::emit_node(const And *op) {
    Value *a = emit(op->a);
    return b_.CreateAnd(a, emit(op->b));
}

Value *FunctionEmitter::emit_node(const Or *op) {
    Value *a = emit(op->a);
    return b_.CreateOr(a, emit(op->b));
}

Value *FunctionEmitter::emit_node(const Not *op) {
    return b_.CreateNot(emit(op->a));
}

Value *FunctionEmitter::emit_node(const Select *op) {
    Value *condition = emit(op->condition);
    Value *yes = emit(op->true_value);
    Value *no = emit(op->false_value);
    return b_.CreateSelect(condition, yes, no);
}

}  // namespace calotype::internal
