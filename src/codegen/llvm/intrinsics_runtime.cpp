// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Structs, text, tracing, prefetching and atomic updates.
#include <llvm/IR/Intrinsics.h>

#include "codegen/llvm/intrinsics.h"
#include "codegen/llvm/runtime_call.h"
#include "codegen/pointee.h"
#include "codegen/text_room.h"
#include "ir/constants.h"
#include "support/error.h"

namespace calotype::internal {

using llvm::Value;

// alloca(bytes): storage in the frame; the same at every execution.
Value *emit_alloca(FunctionEmitter &f, const Call *op) {
    auto bytes = as_const_int(op->args[0]);
    if (!bytes && as_const_uint(op->args[0])) {
        bytes = int64_t(*as_const_uint(op->args[0]));
    }
    if (const Call *size = Call::as_intrinsic(op->args[0], Intrinsic::size_of_buffer)) {
        auto *constant = llvm::dyn_cast<llvm::ConstantInt>(emit_size_of_buffer(f, size));
        bytes = constant ? std::optional<int64_t>(constant->getSExtValue()) : std::nullopt;
    }
    internal_assert(bytes) << "alloca of a size that is not constant";
    return f.frame_slot(nullptr, "alloca", uint64_t(std::max<int64_t>(*bytes, 1)), 16);
}

// make_struct(a, b, ...): the address of a struct in the frame; null if it is empty.
Value *emit_make_struct(FunctionEmitter &f, const Call *op) {
    std::vector<Value *> values;
    std::vector<llvm::Type *> types;
    for (const Expr &a : op->args) {
        values.push_back(f.emit(a));
        types.push_back(llvm_memory_type(f.module().context(), a.type()));
    }
    if (values.empty()) {
        return llvm::ConstantPointerNull::get(f.module().pointer_type());
    }
    auto *t = llvm::StructType::get(f.module().context(), types);
    Value *slot = f.frame_slot(t, "struct");
    for (unsigned i = 0; i < values.size(); i++) {
        Value *v = values[i];
        if (v->getType() != types[i]) {
            v = f.builder().CreateZExt(v, types[i]);
        }
        f.builder().CreateStore(v, f.builder().CreateStructGEP(t, slot, i));
    }
    return slot;
}

// load_struct_member(struct, i) of a struct whose members all have the result's type.
Value *emit_load_struct_member(FunctionEmitter &f, const Call *op) {
    llvm::Type *t = llvm_memory_type(f.module().context(), op->type);
    Value *p = f.builder().CreateInBoundsGEP(t, f.emit(op->args[0]), f.emit(op->args[1]));
    Value *v = f.builder().CreateLoad(t, p);
    return op->type.is_bool() ? f.builder().CreateIsNotNull(v) : v;
}

// register_destructor("function", object): function(user_context, object) when the function is
// left.
Value *emit_register_destructor(FunctionEmitter &f, const Call *op) {
    const StringImm *name = op->args[0].as<StringImm>();
    internal_assert(name) << "register_destructor needs the function's name";
    f.register_destructor(name->value, f.emit(op->args[1]));
    return llvm::Constant::getNullValue(f.type(op->type));
}

namespace {

/// Text in the making: a printf format, its arguments, and how long the result can be.
class Text {
public:
    explicit Text(FunctionEmitter &f) : f_(f), b_(f.builder()) {
    }

    void append(const std::string &s) {
        for (char c : s) {
            format_ += c == '%' ? "%%" : std::string(1, c);
        }
        length_ += s.size();
    }

    void append(const Expr &e) {
        if (const StringImm *s = e.as<StringImm>()) {
            append(s->value);
            return;
        }
        Type t = e.type();
        Value *v = f_.emit(e);
        if (t.is_vector()) {
            append(std::string("<"));
        }
        for (int i = 0; i < t.lanes(); i++) {
            if (i > 0) {
                append(std::string(", "));
            }
            append_scalar(f_.lane(v, i), t.element_of());
        }
        if (t.is_vector()) {
            append(std::string(">"));
        }
    }

    /// The finished text, in the frame.
    Value *finish() {
        const uint64_t room = text_room(length_);
        Value *buffer = f_.frame_slot(nullptr, "text", room, 16);
        std::vector<Value *> args = {buffer, b_.getInt64(room),
                                     f_.module().string_constant(format_)};
        auto *type = llvm::FunctionType::get(b_.getInt32Ty(),
                                             {b_.getPtrTy(), b_.getInt64Ty(), b_.getPtrTy()}, true);
        llvm::Function *snprintf = f_.module().declare("snprintf", type);
        args.insert(args.end(), args_.begin(), args_.end());
        b_.CreateCall(type, snprintf, args);
        return buffer;
    }

private:
    void append_scalar(Value *v, Type t) {
        if (t.is_handle()) {
            bool is_text = points_to<char>(t);
            add(is_text ? "%s" : "%p", v, is_text ? 256 : 20);
        } else if (t.is_float()) {
            v = f_.convert(v, t, Float(64));
            add(t.bits() == 64 ? "%e" : "%f", v, t.bits() == 64 ? 32 : 64);
        } else if (t.is_bool()) {
            add("%s",
                b_.CreateSelect(v, f_.module().string_constant("true"),
                                f_.module().string_constant("false")),
                5);
        } else {
            Type wide = t.with_bits(64);
            add(t.is_int() ? "%lld" : "%llu", f_.convert(v, t, wide), 24);
        }
    }

    void add(const char *conversion, Value *v, size_t room) {
        format_ += conversion;
        args_.push_back(v);
        length_ += room;
    }

    FunctionEmitter &f_;
    llvm::IRBuilder<> &b_;
    std::string format_;
    std::vector<Value *> args_;
    size_t length_ = 0;
};

void print_line(FunctionEmitter &f, const std::vector<Expr> &args, size_t first) {
    Text text(f);
    for (size_t i = first; i < args.size(); i++) {
        text.append(args[i]);
        text.append(std::string(i + 1 < args.size() ? " " : "\n"));
    }
    call_runtime(f, RuntimeFunction::print, {f.user_context(), text.finish()});
}

}  // namespace

// stringify(a, b, ...): the arguments as text, one after the other.
Value *emit_stringify(FunctionEmitter &f, const Call *op) {
    Text text(f);
    for (const Expr &a : op->args) {
        text.append(a);
    }
    return text.finish();
}

namespace {

/// The call with argument `index`, which is its value too, given a name, so that it is evaluated
/// once. Undefined if that is a name or a constant already.
Expr name_value(const Call *op, size_t index) {
    const Expr &value = op->args[index];
    if (value.as<Variable>() || value.as<StringImm>() || is_const(value)) {
        return Expr();
    }
    std::vector<Expr> args = op->args;
    args[index] = Variable::make(value.type(), ".printed");
    return Let::make(".printed", value, Call::make(op->type, op->intrinsic, args));
}

}  // namespace

// print(a, b, ...): prints a line of the arguments, spaces between, and yields the first.
Value *emit_print(FunctionEmitter &f, const Call *op) {
    if (Expr named = name_value(op, 0); named.defined()) {
        return f.emit(named);
    }
    print_line(f, op->args, 0);
    return f.emit(op->args[0]);
}

// print_when(condition, a, b, ...): the same where the condition holds.
Value *emit_print_when(FunctionEmitter &f, const Call *op) {
    if (Expr named = name_value(op, 1); named.defined()) {
        return f.emit(named);
    }
    llvm::IRBuilder<> &b = f.builder();
    Value *condition = f.emit(op->args[0]);
    if (condition->getType()->isVectorTy()) {
        condition = b.CreateOrReduce(condition);
    }
    llvm::Function *function = b.GetInsertBlock()->getParent();
    auto *then = llvm::BasicBlock::Create(b.getContext(), "print", function);
    auto *after = llvm::BasicBlock::Create(b.getContext(), "printed", function);
    b.CreateCondBr(condition, then, after);
    b.SetInsertPoint(then);
    print_line(f, op->args, 1);
    b.CreateBr(after);
    b.SetInsertPoint(after);
    return f.emit(op->args[1]);
}

// trace(func, value, coordinates, code, bits, lanes, event, parent, value_index, dimensions, tag,
// thread_id)
// calls calotype_trace and yields the event's id. `value` and `coordinates` are structs or null.
Value *emit_trace(FunctionEmitter &f, const Call *op) {
    llvm::IRBuilder<> &b = f.builder();
    internal_assert(op->args.size() == 12) << "trace takes 12 arguments";
    llvm::Type *p = b.getPtrTy(), *i32 = b.getInt32Ty(), *i8 = b.getInt8Ty();
    llvm::Type *types[] = {p, p, p, p, i8, i8, b.getInt16Ty(), i32, i32, i32, i32, i32, i32};
    // Where each argument goes in calotype_trace_event_t.
    static const unsigned fields[] = {0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 3, 12};
    auto *event = llvm::StructType::get(b.getContext(), llvm::ArrayRef<llvm::Type *>(types));
    Value *slot = f.frame_slot(event, "event");
    for (size_t i = 0; i < op->args.size(); i++) {
        Value *v = f.emit(op->args[i]);
        llvm::Type *t = types[fields[i]];
        if (t->isPointerTy() && !v->getType()->isPointerTy()) {
            v = b.CreateIntToPtr(b.CreateZExt(v, b.getInt64Ty()), t);
        } else if (!t->isPointerTy()) {
            v = b.CreateIntCast(v, t, true);
        }
        b.CreateStore(v, b.CreateStructGEP(event, slot, fields[i]));
    }
    constexpr unsigned lanes_argument = 5, lanes_field = 11;
    b.CreateStore(b.CreateIntCast(f.emit(op->args[lanes_argument]), i32, true),
                  b.CreateStructGEP(event, slot, lanes_field));
    return call_runtime(f, RuntimeFunction::trace, {f.user_context(), slot});
}

// prefetch(address, offset, ...): the element of the call's type at that offset.
Value *emit_prefetch(FunctionEmitter &f, const Call *op) {
    llvm::IRBuilder<> &b = f.builder();
    Value *p = f.emit(op->args[0]);
    if (op->args.size() > 1) {
        Type element = op->type.element_of();
        llvm::Type *t = element.bits() == 0 || element.is_handle()
                            ? b.getInt8Ty()
                            : llvm_memory_type(b.getContext(), element);
        p = b.CreateGEP(t, p, b.CreateSExtOrTrunc(f.emit(op->args[1]), b.getInt64Ty()));
    }
    // For reading, to be kept in all levels of the cache, data.
    b.CreateIntrinsic(llvm::Intrinsic::prefetch, {p->getType()},
                      {p, b.getInt32(0), b.getInt32(3), b.getInt32(1)});
    return llvm::Constant::getNullValue(f.type(op->type));
}

// Nothing where such stores are in order with others; x86 has its own (x86/machine.cpp).
Value *emit_stream_store_fence(FunctionEmitter &f, const Call *op) {
    return llvm::Constant::getNullValue(f.type(op->type));
}

// atomic_add(address, index, value): adds to element `index`; yields what was there.
Value *emit_atomic_add(FunctionEmitter &f, const Call *op) {
    llvm::IRBuilder<> &b = f.builder();
    Type t = op->args[2].type();
    llvm::Type *lt = f.type(t);
    Value *p = b.CreateInBoundsGEP(lt, f.emit(op->args[0]), f.emit(op->args[1]));
    auto operation = t.is_float() ? llvm::AtomicRMWInst::FAdd : llvm::AtomicRMWInst::Add;
    return b.CreateAtomicRMW(operation, p, f.emit(op->args[2]), llvm::MaybeAlign(),
                             llvm::AtomicOrdering::Monotonic);
}

}  // namespace calotype::internal
