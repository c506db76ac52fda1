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
#include "codegen/llvm/runtime_call.h"
#include "ir/conventions/names.h"
#include "ir/queries.h"
#include "ir/walk/search.h"
#include "support/error.h"

namespace calotype::internal {

using llvm::Value;

namespace {

/// Of the names of parts of a long function.
constexpr char part_suffix[] = ".part";

// What a name is in 64 bits, for addresses: a product that 32 bits cannot hold is not found again from them. Null where
// there is no more to it than the 32.
Value *wide_value(const Scope<Value *> &wide, const std::string &name) {
    Value *const *bound = wide.find(name);
    return bound ? *bound : nullptr;
}

}  // namespace

// All names used inside that mean something here. Names that are bound anew inside and mean
// something else here are captured needlessly, which does no harm.
FunctionEmitter::Closure FunctionEmitter::make_closure(const Stmt &body,
                                                       const std::vector<std::string> &bound,
                                                       const std::vector<Value *> &others) {
    std::set<std::string> used = names_used(body);
    for (const std::string &name : bound) {
        used.erase(name);
    }
    used.erase(names::user_context);
    Closure closure;
    std::vector<llvm::Type *> types;
    std::vector<Value *> values;
    for (const std::string &name : used) {
        Value *const *value = symbols_.find(name);
        if (value && !llvm::isa<llvm::Constant>(*value)) {
            Value *wide = wide_value(wide_, name);
            closure.names.push_back(name);
            values.push_back(wide ? wide : *value);
            types.push_back(values.back()->getType());
        }
    }
    for (Value *other : others) {
        values.push_back(other);
        types.push_back(other->getType());
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
            Value *wide = wide_value(wide_, name);
            inner.wide_.push(name, wide && llvm::isa<llvm::Constant>(wide) ? wide : nullptr);
        }
    });
    inner.host_alignment_ = host_alignment_;
    inner.alias_names_ = alias_names_;
    llvm::MDNode *empty = llvm::MDNode::get(module_.context(), {});
    for (size_t i = 0; i < closure.names.size(); i++) {
        Value *field = inner.b_.CreateStructGEP(closure.type, address, unsigned(i));
        auto *value =
            inner.b_.CreateLoad(closure.type->getElementType(unsigned(i)), field, closure.names[i]);
        value->setMetadata(llvm::LLVMContext::MD_invariant_load, empty);
        mark_if_data(value, *symbols_.find(closure.names[i]));
        const bool is_wide = wide_value(wide_, closure.names[i]) != nullptr;
        inner.wide_.push(closure.names[i], is_wide ? value : nullptr);
        inner.bind(closure.names[i],
                   is_wide ? inner.b_.CreateTrunc(value, b_.getInt32Ty()) : value);
    }
}

void FunctionEmitter::emit_parallel_loop(const For *op) {
    const std::vector<ParallelTask> tasks = parallel_tasks(op);
    if (task_parent_ || !tasks[0].acquires.empty()) {
        emit_parallel_tasks(tasks);
        return;
    }
    Value *min = emit(op->min), *extent = emit(op->extent);
    Closure closure = make_closure(op->body, {op->name});
    llvm::Type *p = module_.pointer_type(), *i32 = b_.getInt32Ty();
    auto *type = llvm::FunctionType::get(i32, {p, i32, p}, false);
    llvm::Function *task =
        module_.internal_function(function_->getName().str() + ".par_for." + op->name, type);
    {
        FunctionEmitter inner(module_, task, machine_);
        inner.bind(names::user_context, task->getArg(0));
        inner.bind(op->name, task->getArg(1));
        unpack_closure(closure, task->getArg(2), inner);
        inner.emit_body(op->body);
    }
    return_if_nonzero(call_runtime(*this, RuntimeFunction::do_par_for,
                                   {user_context(), task, min, extent, closure.address}));
}

// int task(user_context, min, extent, closure, task_parent): iterations min .. min + extent - 1.
llvm::Function *FunctionEmitter::emit_task_function(const ParallelTask &task,
                                                    const std::string &name,
                                                    const Closure &closure) {
    llvm::Type *p = module_.pointer_type(), *i32 = b_.getInt32Ty();
    auto *type = llvm::FunctionType::get(i32, {p, i32, i32, p, p}, false);
    llvm::Function *function = module_.internal_function(name, type);
    FunctionEmitter inner(module_, function, machine_);
    inner.bind(names::user_context, function->getArg(0));
    inner.bind(".task.min", function->getArg(1));
    inner.bind(".task.extent", function->getArg(2));
    inner.task_parent_ = function->getArg(4);
    unpack_closure(closure, function->getArg(3), inner);
    std::string variable = task.loop_variable.empty() ? ".task.once" : task.loop_variable;
    inner.emit_body(For::make(variable, Variable::make(Int(32), ".task.min"),
                              Variable::make(Int(32), ".task.extent"), ForType::Serial,
                              Partition::Never, DeviceAPI::None, task.body));
    return function;
}

// Fills an array of calotype_parallel_task_t and runs them.
void FunctionEmitter::emit_parallel_tasks(const std::vector<ParallelTask> &tasks) {
    llvm::Type *p = module_.pointer_type(), *i32 = b_.getInt32Ty();
    auto *acquire_type = llvm::StructType::get(module_.context(), {p, i32});
    auto *task_type =
        llvm::StructType::get(module_.context(), {p, p, p, p, i32, i32, i32, i32, b_.getInt8Ty()});
    Value *array = frame_slot(llvm::ArrayType::get(task_type, tasks.size()), "tasks");
    for (size_t i = 0; i < tasks.size(); i++) {
        const ParallelTask &task = tasks[i];
        const std::string name = function_->getName().str() + ".task" + std::to_string(i);
        Closure closure = make_closure(task.body, {task.loop_variable});
        llvm::Function *function = emit_task_function(task, name, closure);
        size_t count = task.acquires.size();
        Value *acquires =
            frame_slot(llvm::ArrayType::get(acquire_type, std::max<size_t>(count, 1)), "acquires");
        for (size_t k = 0; k < count; k++) {
            Value *entry = b_.CreateConstInBoundsGEP1_64(acquire_type, acquires, k);
            b_.CreateStore(emit(task.acquires[k].first),
                           b_.CreateStructGEP(acquire_type, entry, 0));
            b_.CreateStore(emit(task.acquires[k].second),
                           b_.CreateStructGEP(acquire_type, entry, 1));
        }
        Value *fields[] = {function,
                           closure.address,
                           module_.string_constant(name),
                           acquires,
                           b_.getInt32(uint32_t(count)),
                           emit(task.min),
                           emit(task.extent),
                           b_.getInt32(uint32_t(task.min_threads)),
                           b_.getInt8(task.serial)};
        Value *entry = b_.CreateConstInBoundsGEP1_64(task_type, array, i);
        for (unsigned k = 0; k < 9; k++) {
            b_.CreateStore(fields[k], b_.CreateStructGEP(task_type, entry, k));
        }
    }
    Value *parent =
        task_parent_ ? task_parent_ : llvm::ConstantPointerNull::get(module_.pointer_type());
    return_if_nonzero(
        call_runtime(*this, RuntimeFunction::do_parallel_tasks,
                     {user_context(), b_.getInt32(uint32_t(tasks.size())), array, parent}));
}

// What is allocated outside and freed inside: by the part then. Until then the way out for errors frees it where it was
// allocated, so that the address of its slot is handed on.
//
//     int part(user_context, closure, task_parent) { unpack; s; return 0; }
//     pack; if (code = part(user_context, closure, task_parent)) return code;
void FunctionEmitter::emit_part(const Stmt &s) {
    std::map<std::string, Allocation *> freed;
    for_each<Free>(s, [&](const Free *op) {
        if (Allocation *const *known = allocations_.find(op->name)) {
            freed[op->name] = *known;
        }
    });
    std::vector<Value *> slots;
    for (const auto &[name, allocation] : freed) {
        if (allocation->slot) {
            slots.push_back(allocation->slot);
        }
    }
    const Closure closure = make_closure(s, {}, slots);
    llvm::Type *p = module_.pointer_type();
    auto *type = llvm::FunctionType::get(b_.getInt32Ty(), {p, p, p}, false);
    const llvm::StringRef whole = function_->getName();
    llvm::Function *part = module_.internal_function(
        whole.substr(0, whole.find(part_suffix)).str() + part_suffix, type);
    part->addFnAttr(llvm::Attribute::NoInline);
    {
        FunctionEmitter inner(module_, part, machine_);
        inner.bind(names::user_context, part->getArg(0));
        inner.parts_ = parts_;
        inner.task_parent_ = task_parent_ ? part->getArg(2) : nullptr;
        unpack_closure(closure, part->getArg(1), inner);
        std::vector<Allocation> outside(freed.size());
        size_t i = 0, field = closure.names.size();
        for (const auto &[name, allocation] : freed) {
            if (allocation->slot) {
                Value *slot =
                    inner.b_.CreateStructGEP(closure.type, part->getArg(1), unsigned(field++));
                outside[i].slot = inner.b_.CreateLoad(p, slot);
                outside[i].free_function = allocation->free_function;
            }
            inner.allocations_.push(name, &outside[i++]);
        }
        inner.emit_body(s);
    }
    Value *parent =
        task_parent_ ? task_parent_ : llvm::ConstantPointerNull::get(module_.pointer_type());
    return_if_nonzero(b_.CreateCall(part, {user_context(), closure.address, parent}));
    for (const auto &[name, allocation] : freed) {
        allocation->freed = true;
        if (allocation->frame_buffer) {
            free_frame_buffers_.push_back(*allocation->frame_buffer);
        }
    }
}

void FunctionEmitter::emit_node(const Fork *op) {
    emit_parallel_tasks(parallel_tasks(op));
}

void FunctionEmitter::emit_node(const Acquire *op) {
    emit_parallel_tasks(parallel_tasks(op));
}

}  // namespace calotype::internal
