// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls of C functions, of the runtime, and of other functions of the module.
#include "codegen/llvm/runtime_call.h"
#include "codegen/symbol_name.h"
#include "support/error.h"

namespace calotype::internal {

using llvm::Value;

Value *FunctionEmitter::call_llvm(unsigned intrinsic_id, const std::vector<Value *> &args) {
    return call_llvm(intrinsic_id, args.at(0)->getType(), args);
}

Value *FunctionEmitter::call_llvm(unsigned intrinsic_id, llvm::Type *overload,
                                  const std::vector<Value *> &args) {
    std::vector<llvm::Type *> types;
    if (overload) {
        types.push_back(overload);
    }
    return b_.CreateIntrinsic(llvm::Intrinsic::ID(intrinsic_id), types, args);
}

namespace {

/// The C ABI wants small integers extended to 32 bits by whoever passes them.
void add_extension(llvm::Function *callee, unsigned index, llvm::Type *type, bool is_signed) {
    if (type->isIntegerTy() && type->getIntegerBitWidth() < 32) {
        callee->addParamAttr(index, is_signed ? llvm::Attribute::SExt : llvm::Attribute::ZExt);
    }
}

llvm::AttributeList call_attributes(llvm::Function *callee) {
    llvm::AttributeList list = callee->getAttributes();
    return list.removeFnAttributes(callee->getContext());
}

}  // namespace

Value *FunctionEmitter::call_c(const std::string &name, llvm::Type *result,
                               const std::vector<Value *> &args) {
    std::vector<llvm::Type *> types;
    for (Value *a : args) {
        types.push_back(a->getType());
    }
    auto *type = llvm::FunctionType::get(result, types, false);
    llvm::Function *callee = module_.declare(name, type);
    for (unsigned i = 0; i < types.size(); i++) {
        add_extension(callee, i, types[i], false);
    }
    llvm::CallInst *call = b_.CreateCall(type, callee, args);
    call->setAttributes(call_attributes(callee));
    return call;
}

Value *call_runtime(FunctionEmitter &f, RuntimeFunction function,
                    const std::vector<Value *> &args) {
    const RuntimeFunctionInfo &info = runtime_function(function);
    bool agree = args.size() == info.parameters.size();
    for (size_t i = 0; agree && i < args.size(); i++) {
        agree = args[i]->getType() == f.type(info.parameters[i]);
    }
    internal_assert(agree) << "wrong arguments of " << info.name;
    llvm::Type *result = info.is_void ? f.builder().getVoidTy() : f.type(info.result);
    return f.call_c(info.name, result, args);
}

llvm::Function *FunctionEmitter::declare_extern(const Call *op) {
    if (llvm::Function *own = module_.module_function(op->name)) {
        return own;
    }
    std::vector<llvm::Type *> types;
    std::vector<Type> parameters;
    for (const Expr &a : op->args) {
        parameters.push_back(a.type().element_of());
        types.push_back(type(parameters.back()));
    }
    auto *ft = llvm::FunctionType::get(type(op->type.element_of()), types, false);
    bool is_cpp = op->call_type == CallKind::ExternCPlusPlus;
    llvm::Function *callee =
        module_.declare(is_cpp ? cpp_symbol_name(op->name, parameters) : op->name, ft);
    for (size_t i = 0; i < types.size(); i++) {
        add_extension(callee, unsigned(i), types[i], op->args[i].type().is_int());
    }
    if (op->type.is_int_or_uint() && op->type.bits() < 32) {
        callee->addRetAttr(op->type.is_int() ? llvm::Attribute::SExt : llvm::Attribute::ZExt);
    }
    if (op->call_type == CallKind::PureExtern) {
        callee->setDoesNotAccessMemory();
        callee->addFnAttr(llvm::Attribute::WillReturn);
    }
    return callee;
}

Value *FunctionEmitter::call_function(const Call *op, llvm::Function *callee,
                                      const std::vector<Value *> &args) {
    std::vector<llvm::Type *> types;
    for (Value *a : args) {
        types.push_back(a->getType());
    }
    auto *ft = llvm::FunctionType::get(type(op->type.element_of()), types, false);
    llvm::CallInst *call = b_.CreateCall(ft, callee, args);
    call->setAttributes(call_attributes(callee));
    return call;
}

// There are no vectors in C: a call with vectors is one call a lane.
Value *FunctionEmitter::emit_extern_call(const Call *op) {
    if (const LinkedFunction *linked = module_.linked_function(op->name)) {
        return emit_linked_call(op, *linked);
    }
    std::vector<Value *> args;
    for (const Expr &a : op->args) {
        args.push_back(emit(a));
    }
    const RuntimeFunctionInfo *of_runtime = find_runtime_function(op->name);
    if (of_runtime && of_runtime->accepts(op->args)) {
        Value *result = call_runtime(*this, of_runtime->function, args);
        return of_runtime->is_void ? llvm::Constant::getNullValue(type(op->type)) : result;
    }
    llvm::Function *callee = declare_extern(op);
    return by_lanes(args, op->type.lanes(), [&](const std::vector<Value *> &scalars) {
        return call_function(op, callee, scalars);
    });
}

Value *FunctionEmitter::emit_node(const Call *op) {
    switch (op->call_type) {
    case CallKind::Intrinsic:
        return emit_intrinsic(op);
    case CallKind::Extern:
    case CallKind::PureExtern:
    case CallKind::ExternCPlusPlus:
        return emit_extern_call(op);
    default:
        internal_error << "call of " << op->name << " in a lowered module";
    }
}

}  // namespace calotype::internal
