// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Storage: the frame of the function, the heap, and what has to be released on the ways out.
//
// A heap allocation's address is kept in a slot of the frame, null outside of its life. The way out
// for errors frees what the slots hold. Storage asked to be on the stack whose size is not known
// becomes a block that is kept until the function ends and only ever grows, on the stack while such
// blocks are small in all, and then on the heap. What comes after the last use of one takes its
// block over.
#include "codegen/llvm/emitter.h"
#include "codegen/llvm/runtime_call.h"
#include "ir/constants.h"
#include "ir/conventions/stack_storage.h"
#include "support/error.h"

namespace calotype::internal {

using llvm::Value;

namespace {

// Less than calotype_minimum_malloc_alignment: more makes accesses no faster where vectors are wide,
// and programs often bring malloc along as their allocator.
constexpr int heap_alignment = 16;
constexpr int device_alignment = 16;  // of Machine::storage

}  // namespace

llvm::AllocaInst *FunctionEmitter::frame_slot(llvm::Type *t, const std::string &name,
                                              uint64_t bytes, int alignment) {
    llvm::BasicBlock &entry = function_->getEntryBlock();
    llvm::IRBuilder<> b(&entry, entry.begin());
    if (bytes > 0) {
        t = llvm::ArrayType::get(b.getInt8Ty(), bytes);
    }
    llvm::AllocaInst *slot = b.CreateAlloca(t, nullptr, name);
    if (alignment > 0) {
        slot->setAlignment(llvm::Align(uint64_t(alignment)));
    }
    return slot;
}

// A slot for a pointer, null at the start, that the ways out hand to `function` unless it is null.
llvm::AllocaInst *FunctionEmitter::cleanup_slot(const std::string &function, bool on_success) {
    llvm::AllocaInst *slot = frame_slot(module_.pointer_type(), "cleanup");
    llvm::IRBuilder<> b(slot->getParent(), std::next(slot->getIterator()));
    b.CreateStore(llvm::ConstantPointerNull::get(module_.pointer_type()), slot);
    cleanups_.push_back({slot, function, on_success});
    return slot;
}

void FunctionEmitter::emit_cleanups(bool success) {
    for (auto cleanup = cleanups_.rbegin(); cleanup != cleanups_.rend(); ++cleanup) {
        if (success && !cleanup->on_success) {
            continue;
        }
        Value *object = b_.CreateLoad(module_.pointer_type(), cleanup->slot);
        llvm::BasicBlock *release = new_block("release"), *after = new_block("released");
        b_.CreateCondBr(b_.CreateIsNull(object), after, release);
        b_.SetInsertPoint(release);
        call_c(cleanup->function, b_.getVoidTy(), {user_context(), object});
        b_.CreateBr(after);
        b_.SetInsertPoint(after);
    }
}

void FunctionEmitter::register_destructor(const std::string &function, Value *object) {
    b_.CreateStore(object, cleanup_slot(function, true));
}

// In 64 bits, the padding of one vector that may be read past the end included. Too large is an
// error.
Value *FunctionEmitter::allocation_bytes(const Allocate *op) {
    Value *limit = b_.getInt64(uint64_t(target().maximum_buffer_size()));
    Value *bytes = b_.getInt64(uint64_t(op->type.bytes() * op->type.lanes()));
    Value *too_large = b_.getFalse();
    for (const Expr &e : op->extents) {
        Value *extent = b_.CreateSExtOrTrunc(emit(e), b_.getInt64Ty());
        extent = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, extent, b_.getInt64(0));
        Value *product =
            b_.CreateBinaryIntrinsic(llvm::Intrinsic::umul_with_overflow, bytes, extent);
        bytes = b_.CreateExtractValue(product, 0);
        too_large = b_.CreateOr(too_large, b_.CreateExtractValue(product, 1));
        too_large = b_.CreateOr(too_large, b_.CreateICmpUGT(bytes, limit));
    }
    Value *padding = b_.getInt64(uint64_t(op->padding) * uint64_t(op->type.bytes()));
    bytes = b_.CreateAdd(bytes, padding);
    check(b_.CreateNot(too_large), [&] {
        return call_runtime(*this, RuntimeFunction::error_buffer_allocation_too_large,
                            {user_context(), module_.string_constant(op->name), bytes, limit});
    });
    return bytes;
}

// The body, with the storage for what it stores.
void FunctionEmitter::emit_stored(const Allocate *op, Value *storage, int alignment) {
    set_host_alignment(op->name, alignment);
    ScopedBinding<Value *> binding(symbols_, op->name, storage);
    Allocation allocation;
    ScopedBinding<Allocation *> known(allocations_, op->name, &allocation);
    emit(op->body);
}

void FunctionEmitter::emit_stack_allocation(const Allocate *op, int64_t bytes) {
    int alignment = target().natural_lanes(8);
    // One more vector, which strided loads may touch.
    uint64_t padded = uint64_t(bytes + op->padding * op->type.bytes() + alignment);
    llvm::AllocaInst *slot = frame_slot(nullptr, op->name, padded, alignment);
    // What is stored and not read in an iteration need not be; and slots may share their bytes.
    b_.CreateLifetimeStart(slot, b_.getInt64(padded));
    // A value that is computed under a condition is none of the iteration before: what depends on that one does not
    // become vectors. As a value it costs nothing.
    if (bytes == op->type.bytes() && op->type.is_scalar()) {
        llvm::Type *in_memory = llvm_memory_type(module_.context(), op->type);
        b_.CreateStore(llvm::Constant::getNullValue(in_memory), slot);
    }
    emit_stored(op, slot, alignment);
    b_.CreateLifetimeEnd(slot, b_.getInt64(padded));
}

// What the runtime gives out is no part of anything else.
Value *FunctionEmitter::call_malloc(Value *bytes) {
    Value *storage = call_runtime(*this, RuntimeFunction::malloc, {user_context(), bytes});
    llvm::cast<llvm::CallInst>(storage)->addRetAttr(llvm::Attribute::NoAlias);
    return storage;
}

// A block that nothing lives in any more, or a new one. What shares a block may alias.
FunctionEmitter::FrameBuffer FunctionEmitter::frame_buffer(const std::string &name) {
    if (!free_frame_buffers_.empty()) {
        const FrameBuffer buffer = free_frame_buffers_.back();
        free_frame_buffers_.pop_back();
        alias_names_[name] = buffer.alias;
        return buffer;
    }
    const auto counter = [&](const std::string &of) {
        llvm::AllocaInst *slot = frame_slot(b_.getInt64Ty(), of);
        llvm::IRBuilder<>(slot->getParent(), std::next(slot->getIterator()))
            .CreateStore(b_.getInt64(0), slot);
        return slot;
    };
    if (!frame_bytes_) {
        frame_bytes_ = counter("frame_bytes");
    }
    alias_names_.erase(name);
    return {frame_slot(module_.pointer_type(), name + ".address"), counter(name + ".size"),
            cleanup_slot(runtime_function(RuntimeFunction::free).name, true), name};
}

// Storage for `bytes`, in a block that lasts until the function ends.
Value *FunctionEmitter::grow_frame_buffer(const Allocate *op, Value *bytes,
                                          const FrameBuffer &buffer) {
    llvm::Type *p = module_.pointer_type();
    llvm::BasicBlock *grow = new_block("grow"), *ready = new_block("ready");
    Value *enough = b_.CreateICmpULE(bytes, b_.CreateLoad(b_.getInt64Ty(), buffer.size));
    b_.CreateCondBr(enough, ready, grow);
    b_.SetInsertPoint(grow);
    // Not null: the program's own function may not expect that.
    Value *old = b_.CreateLoad(p, buffer.heap);
    llvm::BasicBlock *release = new_block("release"), *released = new_block("released");
    b_.CreateCondBr(b_.CreateIsNull(old), released, release);
    b_.SetInsertPoint(release);
    call_runtime(*this, RuntimeFunction::free, {user_context(), old});
    b_.CreateStore(llvm::ConstantPointerNull::get(module_.pointer_type()), buffer.heap);
    b_.CreateBr(released);
    b_.SetInsertPoint(released);
    b_.CreateStore(new_frame_block(bytes, buffer), buffer.address);
    b_.CreateStore(bytes, buffer.size);
    b_.CreateBr(ready);
    b_.SetInsertPoint(ready);
    return b_.CreateLoad(p, buffer.address, op->name);
}

// On the stack, if there is room for it and for the vector that strided loads may touch beyond it.
Value *FunctionEmitter::new_frame_block(Value *bytes, const FrameBuffer &buffer) {
    const int alignment = target().natural_lanes(8);
    Value *padded = b_.CreateAdd(bytes, b_.getInt64(uint64_t(alignment)));
    Value *taken = b_.CreateAdd(b_.CreateLoad(b_.getInt64Ty(), frame_bytes_), padded);
    Value *fits = b_.CreateICmpULE(taken, b_.getInt64(uint64_t(max_automatic_stack_bytes)));
    llvm::BasicBlock *on_stack = new_block("on_stack"), *on_heap = new_block("on_heap"),
                     *done = new_block("placed");
    b_.CreateCondBr(fits, on_stack, on_heap);
    b_.SetInsertPoint(on_stack);
    llvm::AllocaInst *on_frame = b_.CreateAlloca(b_.getInt8Ty(), padded);
    on_frame->setAlignment(llvm::Align(uint64_t(alignment)));
    b_.CreateStore(taken, frame_bytes_);
    b_.CreateBr(done);
    b_.SetInsertPoint(on_heap);
    Value *fresh = call_malloc(bytes);
    b_.CreateStore(fresh, buffer.heap);
    check(b_.CreateIsNotNull(fresh), [&] {
        return call_runtime(*this, RuntimeFunction::error_out_of_memory, {user_context()});
    });
    llvm::BasicBlock *checked = b_.GetInsertBlock();
    b_.CreateBr(done);
    b_.SetInsertPoint(done);
    llvm::PHINode *block = b_.CreatePHI(module_.pointer_type(), 2);
    block->addIncoming(on_frame, on_stack);
    block->addIncoming(fresh, checked);
    return block;
}

void FunctionEmitter::emit_heap_allocation(const Allocate *op) {
    Allocation allocation;
    Value *storage;
    Value *bytes = allocation_bytes(op);  // kernels compute addresses in as many bits as the host
    if (op->new_expr.defined()) {
        storage = emit(op->new_expr);
        allocation.free_function = op->free_function;
    } else {
        Value *wanted = is_trivially_true(op->condition) ? nullptr : emit(op->condition);
        bytes = wanted ? b_.CreateSelect(wanted, bytes, b_.getInt64(0)) : bytes;
        if (op->memory_type == MemoryType::Stack) {
            allocation.frame_buffer = frame_buffer(op->name);
            storage = grow_frame_buffer(op, bytes, *allocation.frame_buffer);
        } else {
            allocation.free_function = runtime_function(RuntimeFunction::free).name;
            storage = call_malloc(bytes);
            Value *good = b_.CreateIsNotNull(storage);
            good = wanted ? b_.CreateOr(good, b_.CreateNot(wanted)) : good;
            check(good, [&] {
                return call_runtime(*this, RuntimeFunction::error_out_of_memory, {user_context()});
            });
        }
        set_host_alignment(op->name, heap_alignment);
    }
    if (!allocation.free_function.empty()) {
        allocation.slot = cleanup_slot(allocation.free_function, false);
        b_.CreateStore(storage, allocation.slot);
    }
    ScopedBinding<Value *> binding(symbols_, op->name, storage);
    ScopedBinding<Allocation *> known(allocations_, op->name, &allocation);
    emit(op->body);
    if (!allocation.freed) {
        free_allocation(op->name);
    }
}

void FunctionEmitter::emit_node(const Allocate *op) {
    int64_t elements = op->constant_size();
    bool constant = elements > 0 || op->extents.empty();
    for (const Expr &e : op->extents) {
        constant = constant || is_const_zero(e);
    }
    elements = op->extents.empty() ? 1 : elements;
    int64_t bytes = elements * op->type.bytes() * op->type.lanes();
    auto saved = host_alignment_.find(op->name);
    int alignment_before = saved == host_alignment_.end() ? 0 : saved->second;
    if (Value *storage = machine_.storage(*this, op)) {
        emit_stored(op, storage, device_alignment);
    } else if (constant && !op->new_expr.defined() && is_on_stack(op->memory_type, bytes)) {
        emit_stack_allocation(op, bytes);
    } else {
        user_assert(op->memory_type != MemoryType::Register)
            << "allocation " << op->name
            << " is to be held in registers, but its size is not constant";
        emit_heap_allocation(op);
    }
    host_alignment_.erase(op->name);
    if (alignment_before) {
        host_alignment_[op->name] = alignment_before;
    }
}

void FunctionEmitter::free_allocation(const std::string &name) {
    Allocation *allocation = allocations_.get(name);
    allocation->freed = true;
    if (allocation->frame_buffer) {
        free_frame_buffers_.push_back(*allocation->frame_buffer);
    }
    if (!allocation->slot) {
        return;
    }
    llvm::Type *p = module_.pointer_type();
    Value *storage = b_.CreateLoad(p, allocation->slot);
    call_c(allocation->free_function, b_.getVoidTy(), {user_context(), storage});
    b_.CreateStore(llvm::ConstantPointerNull::get(module_.pointer_type()), allocation->slot);
}

void FunctionEmitter::emit_node(const Free *op) {
    free_allocation(op->name);
}

}  // namespace calotype::internal
