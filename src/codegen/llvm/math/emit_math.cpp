// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls of transcendental functions. Their code stands where they are called, so that a loop computes what does not
// change once, calls of one argument share what they have in common, and vectors are computed side by side. A body
// with very many calls calls functions instead: the work of LLVM grows faster than such a body, above all that of
// assigning registers.
#include "codegen/llvm/math/math.h"
#include "ir/intrinsics.h"
#include "ir/visitor.h"
#include "support/error.h"

namespace calotype::internal {

using llvm::Value;

namespace {

struct MathRow {
    Intrinsic id;
    Value *(MathEmitter::*unary)(Value *);
    Value *(MathEmitter::*binary)(Value *, Value *) = nullptr;
};

const MathRow rows[] = {
    {Intrinsic::exp, &MathEmitter::exp},
    {Intrinsic::log, &MathEmitter::log},
    {Intrinsic::sin, &MathEmitter::sin},
    {Intrinsic::cos, &MathEmitter::cos},
    {Intrinsic::tan, &MathEmitter::tan},
    {Intrinsic::asin, &MathEmitter::asin},
    {Intrinsic::acos, &MathEmitter::acos},
    {Intrinsic::atan, &MathEmitter::atan},
    {Intrinsic::sinh, &MathEmitter::sinh},
    {Intrinsic::cosh, &MathEmitter::cosh},
    {Intrinsic::tanh, &MathEmitter::tanh},
    {Intrinsic::asinh, &MathEmitter::asinh},
    {Intrinsic::acosh, &MathEmitter::acosh},
    {Intrinsic::atanh, &MathEmitter::atanh},
    {Intrinsic::erf, &MathEmitter::erf},
    {Intrinsic::pow, nullptr, &MathEmitter::pow},
    {Intrinsic::atan2, nullptr, &MathEmitter::atan2},
};

const MathRow *row_of(Intrinsic id) {
    for (const MathRow &row : rows) {
        if (row.id == id) {
            return &row;
        }
    }
    return nullptr;
}

/// Calls in a statement as often as they are emitted, but those in loops within it.
class CountMath : public Visitor {
public:
    int count = 0;

protected:
    using Visitor::visit;
    void visit(const Call *op) override {
        count += row_of(op->intrinsic) != nullptr;
        Visitor::visit(op);
    }
    void visit(const For *op) override {
        (*this)(op->min);
        (*this)(op->extent);
    }
};

/// More than what is written by hand and unrolled a few times.
constexpr int most_math_in_place = 128;

}  // namespace

bool has_much_math(const Stmt &body) {
    CountMath math;
    math(body);
    return math.count > most_math_in_place;
}

Value *FunctionEmitter::emit_math(Intrinsic id, const std::vector<Value *> &args, Type t) {
    return much_math_ ? call_math(id, args, t) : math_in_place(id, args, t);
}

Value *FunctionEmitter::math_in_place(Intrinsic id, const std::vector<Value *> &args, Type t) {
    if (Value *v = machine_.math(*this, id, args, t)) {
        return v;
    }
    return with_strict_float([&] {
        const MathRow *row = row_of(id);
        internal_assert(row) << "no code for " << intrinsic_info(id).name;
        MathEmitter math(*this, t);
        return row->binary ? (math.*row->binary)(args[0], args[1]) : (math.*row->unary)(args[0]);
    });
}

// One function a type, which LLVM may not put in place again.
Value *FunctionEmitter::call_math(Intrinsic id, const std::vector<Value *> &args, Type t) {
    const std::string symbol = std::string("calotype.math.") + intrinsic_info(id).name + ".f" +
                               std::to_string(t.bits()) + "x" + std::to_string(t.lanes());
    llvm::Function *function = module_.llvm().getFunction(symbol);
    if (!function) {
        llvm::Type *lt = type(t);
        function = module_.internal_function(
            symbol, llvm::FunctionType::get(lt, std::vector<llvm::Type *>(args.size(), lt), false));
        function->addFnAttr(llvm::Attribute::NoInline);
        function->addFnAttr(llvm::Attribute::WillReturn);
        function->setDoesNotAccessMemory();
        llvm::IRBuilderBase::InsertPointGuard guard(b_);
        b_.SetInsertPoint(llvm::BasicBlock::Create(b_.getContext(), "entry", function));
        std::vector<Value *> parameters;
        for (llvm::Argument &parameter : function->args()) {
            parameters.push_back(&parameter);
        }
        b_.CreateRet(math_in_place(id, parameters, t));
    }
    return with_strict_float([&] { return b_.CreateCall(function, args); });
}

}  // namespace calotype::internal
