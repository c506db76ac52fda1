// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls of functions that linkables supply. If the function came as bitcode it is in the module
// already, and a call takes the form that its compiler gave it; else it is declared as the C ABI of
// the machine has it.
#include <llvm/Support/raw_ostream.h>

#include "codegen/llvm/emitter.h"
#include "support/error.h"
#include "support/text.h"

namespace calotype::internal {

using llvm::Value;

namespace {

std::string to_text(const llvm::Type *type) {
    std::string text;
    llvm::raw_string_ostream(text) << *type;
    return text;
}

/// "float32x4 (int32, float32x2)"
std::string to_text(const LinkedFunction &f) {
    std::vector<std::string> parameters;
    for (const Type &t : f.parameters) {
        parameters.push_back(to_string(t));
    }
    return (f.result.bits() ? to_string(f.result) : "void") + " (" + join(parameters, ", ") + ")";
}

/// A value that C passes by itself.
bool is_plain(Type t) {
    return t.is_scalar() && !is_small_float(t);
}

class LinkedCall {
public:
    LinkedCall(FunctionEmitter &f, const Call *op, const LinkedFunction &signature)
        : f_(f), b_(f.builder()), op_(op), signature_(signature) {
    }

    /// `scalars` are those of one lane.
    Value *emit(const std::vector<Value *> &scalars) {
        size_t count = 0;
        for (const Type &t : signature_.parameters) {
            count += size_t(t.lanes());
        }
        internal_assert(count == scalars.size())
            << "function " << op_->name << " takes " << count << " scalars, but is called with "
            << scalars.size();
        llvm::Function *callee = f_.module().llvm().getFunction(op_->name);
        if (!callee) {
            callee = declare();
        }
        llvm::FunctionType *type = callee->getFunctionType();
        check(!type->isVarArg() && type->getNumParams() == signature_.parameters.size(), type);
        std::vector<Value *> args;
        size_t next = 0;
        for (size_t i = 0; i < signature_.parameters.size(); i++) {
            size_t lanes = size_t(signature_.parameters[i].lanes());
            std::vector<Value *> parts(scalars.begin() + long(next),
                                       scalars.begin() + long(next + lanes));
            args.push_back(argument(callee, unsigned(i), parts));
            next += lanes;
        }
        llvm::CallInst *call = b_.CreateCall(type, callee, args);
        call->setAttributes(callee->getAttributes().removeFnAttributes(b_.getContext()));
        if (op_->call_type == CallKind::PureExtern) {
            call->setDoesNotAccessMemory();
            call->setDoesNotThrow();
            call->addFnAttr(llvm::Attribute::WillReturn);
        }
        return result(call);
    }

private:
    void check(bool fits, const llvm::FunctionType *type) {
        user_assert(fits) << "function " << op_->name << f_.module().origin_of(op_->name) << " is "
                          << to_text(type) << ", but it is called as " << to_text(signature_);
    }

    llvm::Type *abi_type(Type t) {
        return is_plain(t) ? f_.type(t) : f_.machine().aggregate_type(f_, op_->name, t);
    }

    llvm::Function *declare() {
        std::vector<llvm::Type *> types;
        for (const Type &t : signature_.parameters) {
            types.push_back(abi_type(t));
        }
        llvm::Type *result = signature_.result.bits() ? abi_type(signature_.result)
                                                      : llvm::Type::getVoidTy(b_.getContext());
        llvm::Function *callee =
            f_.module().declare(op_->name, llvm::FunctionType::get(result, types, false));
        for (size_t i = 0; i < types.size(); i++) {
            if (auto kind = extension(signature_.parameters[i]); kind != llvm::Attribute::None) {
                callee->addParamAttr(unsigned(i), kind);
            }
        }
        if (auto kind = extension(signature_.result); kind != llvm::Attribute::None) {
            callee->addRetAttr(kind);
        }
        if (op_->call_type == CallKind::PureExtern) {
            callee->setDoesNotAccessMemory();
            callee->addFnAttr(llvm::Attribute::WillReturn);
        } else {
            // It may wait for other threads of a device.
            callee->setConvergent();
        }
        return callee;
    }

    static llvm::Attribute::AttrKind extension(Type t) {
        bool is_small = t.is_scalar() && t.is_int_or_uint() && t.bits() < 32;
        return !is_small    ? llvm::Attribute::None
               : t.is_int() ? llvm::Attribute::SExt
                            : llvm::Attribute::ZExt;
    }

    /// The value as bytes in memory: its elements one after another.
    Value *in_memory(llvm::Type *slot_type, Type t, const std::vector<Value *> &parts) {
        Value *slot = f_.frame_slot(slot_type, "argument", 0, 32);
        llvm::Type *element = llvm_memory_type(b_.getContext(), t.element_of());
        for (size_t i = 0; i < parts.size(); i++) {
            Value *v = t.is_bool() ? b_.CreateZExt(parts[i], element) : parts[i];
            b_.CreateStore(v, b_.CreateConstInBoundsGEP1_64(element, slot, i));
        }
        return slot;
    }

    bool has_size(llvm::Type *type, Type t) {
        uint64_t bytes = uint64_t(t.lanes()) * uint64_t(t.bytes());
        return type->isSized() &&
               f_.module().llvm().getDataLayout().getTypeStoreSize(type) == bytes;
    }

    Value *argument(llvm::Function *callee, unsigned i, const std::vector<Value *> &parts) {
        Type t = signature_.parameters[i];
        llvm::Type *wanted = callee->getFunctionType()->getParamType(i);
        if (t.is_scalar() && parts[0]->getType() == wanted) {
            return parts[0];
        }
        if (t.is_bool() && t.is_scalar() && wanted->isIntegerTy()) {
            return b_.CreateZExt(parts[0], wanted);
        }
        if (t.is_handle() && wanted->isPointerTy()) {
            return b_.CreateAddrSpaceCast(parts[0], wanted);
        }
        const llvm::FunctionType *type = callee->getFunctionType();
        if (wanted->isPointerTy()) {
            llvm::Type *pointed = callee->getParamByValType(i);
            check(pointed && has_size(pointed, t), type);
            return in_memory(pointed, t, parts);
        }
        check(is_bits_of(wanted, t), type);
        return b_.CreateLoad(wanted, in_memory(wanted, t, parts));
    }

    /// Aggregates and vectors of that many bytes.
    bool is_bits_of(llvm::Type *type, Type t) {
        bool is_group = type->isAggregateType() || type->isVectorTy();
        return (is_group || (t.is_float() && t.bits() == 16)) && has_size(type, t);
    }

    Value *result(llvm::CallInst *call) {
        Type t = signature_.result;
        llvm::Type *given = call->getType();
        if (t.bits() == 0 || given->isVoidTy()) {
            check(t.bits() == 0 && given->isVoidTy(), call->getFunctionType());
            return llvm::Constant::getNullValue(f_.type(op_->type.element_of()));
        }
        llvm::Type *element = f_.type(t.element_of());
        if (t.is_scalar() && given == element) {
            return call;
        }
        if (t.is_bool() && t.is_scalar() && given->isIntegerTy()) {
            return b_.CreateIsNotNull(call);
        }
        if (t.is_handle() && given->isPointerTy()) {
            return b_.CreateAddrSpaceCast(call, element);
        }
        check(is_bits_of(given, t), call->getFunctionType());
        Value *slot = f_.frame_slot(given, "result", 0, 32);
        b_.CreateStore(call, slot);
        llvm::Type *memory = llvm_memory_type(b_.getContext(), t.element_of());
        Value *v = b_.CreateLoad(
            memory, b_.CreateConstInBoundsGEP1_64(memory, slot, uint64_t(op_->value_index)));
        return t.is_bool() ? b_.CreateIsNotNull(v) : v;
    }

    FunctionEmitter &f_;
    llvm::IRBuilder<> &b_;
    const Call *op_;
    const LinkedFunction &signature_;
};

}  // namespace

Value *FunctionEmitter::emit_linked_call(const Call *op, const LinkedFunction &signature) {
    std::vector<Value *> args;
    for (const Expr &a : op->args) {
        args.push_back(emit(a));
    }
    LinkedCall call(*this, op, signature);
    return by_lanes(args, op->type.lanes(),
                    [&](const std::vector<Value *> &scalars) { return call.emit(scalars); });
}

// linked_symbol("name"): where a variable of a linkable is.
Value *emit_linked_symbol(FunctionEmitter &f, const Call *op) {
    const auto *name = op->args[0].as<StringImm>();
    internal_assert(name) << "linked_symbol needs a name";
    llvm::Module &module = f.module().llvm();
    llvm::GlobalValue *symbol = module.getNamedValue(name->value);
    if (!symbol) {
        auto *unknown = llvm::ArrayType::get(f.builder().getInt8Ty(), 0);
        symbol = new llvm::GlobalVariable(
            module, unknown, false, llvm::GlobalValue::ExternalLinkage, nullptr, name->value,
            nullptr, llvm::GlobalValue::NotThreadLocal, f.machine().global_address_space());
    }
    return f.builder().CreateAddrSpaceCast(symbol, f.module().pointer_type());
}

}  // namespace calotype::internal
