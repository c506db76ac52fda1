// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parallel loops and tasks. What runs on other threads becomes a function of its own; the variables
// and buffers it uses are handed over in a struct on the caller's stack, the closure.
//
//     parallel for (y, min, extent) body
//  ->
//     int task(user_context, y, closure) { unpack; body; return 0; }
//     pack; if (code = calotype_do_par_for(user_context, task, min, extent, closure)) return code;
#include <set>

#include "codegen/llvm/emitter.h"
#include "ir/visitor.h"
#include "support/error.h"

namespace calotype::internal {

using llvm::Value;

namespace {

/// Every name that occurs in variables, loads, stores, and frees, bound inside or not.
class NamesUsed : public Visitor {
public:
    std::set<std::string> names;

protected:
    using Visitor::visit;
    void visit(const Variable *op) override {
        names.insert(op->name);
    }
    void visit(const Load *op) override {
        names.insert(op->name);
        Visitor::visit(op);
    }
    void visit(const Store *op) override {
        names.insert(op->name);
        Visitor::visit(op);
    }
};

}  // namespace

// All names used inside that mean something here. Names that are bound anew inside and mean something
// else here are captured needlessly, which does no harm.
FunctionEmitter::Closure FunctionEmitter::make_closure(const Stmt &body,
                                                       const std::vector<std::string> &bound) {
    NamesUsed used;
    used(body);
    for (const std::string &name : bound) {
        used.names.erase(name);
    }
    used.names.erase("__user_context");
    Closure closure;
    std::vector<llvm::Type *> types;
    std::vector<Value *> values;
    for (const std::string &name : used.names) {
        Value *const *value = symbols_.find(name);
        if (value && !llvm::isa<llvm::Constant>(*value)) {
            closure.names.push_back(name);
            values.push_back(*value);
            types.push_back((*value)->getType());
        }
    }
    closure.type = llvm::StructType::get(module_.context(), types);
    closure.address = frame_slot(closure.type, "closure");
    for (size_t i = 0; i < values.size(); i++) {
        b_.CreateStore(values[i], b_.CreateStructGEP(closure.type, closure.address, unsigned(i)));
    }
    return closure;
}

void FunctionEmitter::unpack_closure(const Closure &closure, Value *address,
                                     FunctionEmitter &inner) {
    symbols_.for_each([&](const std::string &name, Value *value) {
        if (llvm::isa<llvm::Constant>(value)) {
            inner.bind(name, value);
        }
    });
    inner.host_alignment_ = host_alignment_;
    llvm::MDNode *empty = llvm::MDNode::get(module_.context(), {});
    for (size_t i = 0; i < closure.names.size(); i++) {
        Value *field = inner.b_.CreateStructGEP(closure.type, address, unsigned(i));
        auto *value = inner.b_.CreateLoad(closure.type->getElementType(unsigned(i)), field,
                                          closure.names[i]);
        value->setMetadata(llvm::LLVMContext::MD_invariant_load, empty);
        inner.bind(closure.names[i], value);
    }
}

void FunctionEmitter::emit_parallel_loop(const For *op) {
    Value *min = emit(op->min), *extent = emit(op->extent);
    Closure closure = make_closure(op->body, {op->name});
    llvm::Type *p = module_.pointer_type(), *i32 = b_.getInt32Ty();
    auto *type = llvm::FunctionType::get(i32, {p, i32, p}, false);
    llvm::Function *task =
        module_.internal_function(function_->getName().str() + ".par_for." + op->name, type);
    {
        FunctionEmitter inner(module_, task);
        inner.bind("__user_context", task->getArg(0));
        inner.bind(op->name, task->getArg(1));
        unpack_closure(closure, task->getArg(2), inner);
        inner.emit_body(op->body);
    }
    return_if_nonzero(call_runtime("calotype_do_par_for", i32,
                                   {user_context(), task, min, extent, closure.address}));
}

void FunctionEmitter::emit_node(const Fork *op) {
    internal_error << "not yet";
}

void FunctionEmitter::emit_node(const Acquire *op) {
    internal_error << "not yet";
}

void FunctionEmitter::emit_node(const Atomic *op) {
    emit(op->body);
}

bool FunctionEmitter::emit_atomic_store(const Store *) {
    return false;
}

}  // namespace calotype::internal
