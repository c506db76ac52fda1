// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reading and making calotype_buffer_t.
//
//   size_of_buffer(d)      bytes of a calotype_buffer_t with d calotype_dimension_t behind it
//   buffer_init(b, shape, host, device, device_interface, code, bits, dimensions, values, flags)
//                          fills b; its shape, at `shape` (null: behind b), is copied from the
//                          struct `values` of int32 {min, extent, stride, flags} a dimension.
//                          Yields b
//   buffer_crop(b, shape, source, mins, extents)
//                          makes b the part of `source` with those mins and extents (structs of
//                          int32). Yields b
//   buffer_set_bounds(b, d, min, extent, stride)          yields b
#include "codegen/llvm/intrinsics.h"
#include "ir/constants.h"
#include "runtime/abi/buffer.h"
#include "support/error.h"

namespace calotype::internal {

using llvm::Value;

namespace {

enum Field { device, device_interface, host, flags, type, dimensions, dim };
enum DimensionField { min, extent, stride, dimension_flags };

Value *load_field(FunctionEmitter &f, Value *buffer, Field field) {
    return f.buffer_field(buffer, field, f.module().buffer_type()->getElementType(field));
}

void store_field(FunctionEmitter &f, Value *buffer, Field field, Value *value) {
    f.builder().CreateStore(value, f.buffer_field_address(buffer, field));
}

Value *as_int(FunctionEmitter &f, const Expr &e, llvm::Type *t) {
    return f.builder().CreateIntCast(f.emit(e), t, false);
}

/// Where the shape of a buffer that is made goes: an address given, or behind the buffer.
Value *shape_address(FunctionEmitter &f, Value *buffer, const Expr &given) {
    llvm::IRBuilder<> &b = f.builder();
    Value *behind = b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), buffer, sizeof(calotype_buffer_t));
    Value *address = f.emit(given);
    if (!address->getType()->isPointerTy()) {
        address = b.CreateIntToPtr(b.CreateZExt(address, b.getInt64Ty()), b.getPtrTy());
    }
    return b.CreateSelect(b.CreateIsNull(address), behind, address);
}

}  // namespace

Value *int32_address(FunctionEmitter &f, Value *p, Value *i) {
    return f.builder().CreateInBoundsGEP(f.builder().getInt32Ty(), p, i);
}

Value *FunctionEmitter::buffer_field_address(Value *buffer, int field) {
    return b_.CreateStructGEP(module_.buffer_type(), buffer, unsigned(field));
}

Value *FunctionEmitter::buffer_field(Value *buffer, int field, llvm::Type *t) {
    return b_.CreateLoad(t, buffer_field_address(buffer, field));
}

Value *FunctionEmitter::dimension_field_address(Value *buffer, Value *dimension, int field) {
    Value *shape = buffer_field(buffer, Field::dim, module_.pointer_type());
    return b_.CreateInBoundsGEP(module_.dimension_type(), shape,
                                {dimension, b_.getInt32(uint32_t(field))});
}

Value *emit_buffer_field(FunctionEmitter &f, const Call *op) {
    static const std::pair<Intrinsic, Field> rows[] = {
        {Intrinsic::buffer_get_host, host},
        {Intrinsic::buffer_get_device, device},
        {Intrinsic::buffer_get_device_interface, device_interface},
        {Intrinsic::buffer_get_dimensions, dimensions},
    };
    for (const auto &row : rows) {
        if (op->is_intrinsic(row.first)) {
            Value *v = load_field(f, f.emit(op->args[0]), row.second);
            return v->getType()->isPointerTy()
                       ? v
                       : f.builder().CreateIntCast(v, f.type(op->type), true);
        }
    }
    internal_error << "no field for " << op->name;
}

Value *emit_buffer_type(FunctionEmitter &f, const Call *op) {
    unsigned part = op->is_intrinsic(Intrinsic::buffer_get_type_code)   ? 0
                    : op->is_intrinsic(Intrinsic::buffer_get_type_bits) ? 1
                                                                        : 2;
    llvm::StructType *t = f.module().type_type();
    Value *p = f.buffer_field_address(f.emit(op->args[0]), Field::type);
    p = f.builder().CreateStructGEP(t, p, part);
    Value *v = f.builder().CreateLoad(t->getElementType(part), p);
    return f.builder().CreateIntCast(v, f.type(op->type), false);
}

Value *emit_buffer_dimension(FunctionEmitter &f, const Call *op) {
    int field = op->is_intrinsic(Intrinsic::buffer_get_min)      ? DimensionField::min
                : op->is_intrinsic(Intrinsic::buffer_get_extent) ? DimensionField::extent
                                                                 : DimensionField::stride;
    Value *buffer = f.emit(op->args[0]);
    Value *p = f.dimension_field_address(buffer, f.emit(op->args[1]), field);
    return f.builder().CreateIntCast(f.builder().CreateLoad(f.builder().getInt32Ty(), p),
                                     f.type(op->type), true);
}

namespace {

uint64_t dirty_flag(const Call *op) {
    bool is_host = op->is_intrinsic(Intrinsic::buffer_get_host_dirty) ||
                   op->is_intrinsic(Intrinsic::buffer_set_host_dirty);
    return is_host ? calotype_buffer_flag_host_dirty : calotype_buffer_flag_device_dirty;
}

}  // namespace

Value *emit_buffer_get_dirty(FunctionEmitter &f, const Call *op) {
    Value *all = load_field(f, f.emit(op->args[0]), flags);
    Value *bit = f.builder().CreateAnd(all, dirty_flag(op));
    return f.builder().CreateIntCast(f.builder().CreateIsNotNull(bit), f.type(op->type), false);
}

Value *emit_buffer_set_dirty(FunctionEmitter &f, const Call *op) {
    llvm::IRBuilder<> &b = f.builder();
    Value *buffer = f.emit(op->args[0]);
    Value *on = b.CreateIsNotNull(f.emit(op->args[1]));
    Value *all = load_field(f, buffer, flags);
    uint64_t flag = dirty_flag(op);
    store_field(f, buffer, flags,
                b.CreateSelect(on, b.CreateOr(all, flag), b.CreateAnd(all, ~flag)));
    return llvm::Constant::getNullValue(f.type(op->type));
}

Value *emit_buffer_is_bounds_query(FunctionEmitter &f, const Call *op) {
    llvm::IRBuilder<> &b = f.builder();
    Value *buffer = f.emit(op->args[0]);
    Value *no_host = b.CreateIsNull(load_field(f, buffer, host));
    Value *result = b.CreateAnd(no_host, b.CreateIsNull(load_field(f, buffer, device)));
    return b.CreateIntCast(result, f.type(op->type), false);
}

Value *emit_buffer_set_bounds(FunctionEmitter &f, const Call *op) {
    Value *buffer = f.emit(op->args[0]), *d = f.emit(op->args[1]);
    internal_assert(op->args.size() == 5) << "buffer_set_bounds takes 5 arguments";
    const int fields[] = {DimensionField::min, DimensionField::extent, DimensionField::stride};
    for (size_t i = 0; i < 3; i++) {
        f.builder().CreateStore(f.emit(op->args[2 + i]),
                                f.dimension_field_address(buffer, d, fields[i]));
    }
    return buffer;
}

Value *emit_size_of_buffer(FunctionEmitter &f, const Call *op) {
    Expr d = op->args.empty() ? make_const(Int(32), 0) : op->args[0];
    llvm::IRBuilder<> &b = f.builder();
    Value *shape =
        b.CreateMul(as_int(f, d, b.getInt64Ty()), b.getInt64(sizeof(calotype_dimension_t)));
    Value *bytes = b.CreateAdd(shape, b.getInt64(sizeof(calotype_buffer_t)));
    return b.CreateIntCast(bytes, f.type(op->type), false);
}

// A handle, or an address as a number: 0 for none.
Value *address_of(FunctionEmitter &f, const Expr &e) {
    llvm::IRBuilder<> &b = f.builder();
    Value *v = f.emit(e);
    return v->getType()->isPointerTy()
               ? v
               : b.CreateIntToPtr(b.CreateZExt(v, b.getInt64Ty()), b.getPtrTy());
}

Value *emit_buffer_init(FunctionEmitter &f, const Call *op) {
    llvm::IRBuilder<> &b = f.builder();
    internal_assert(op->args.size() == 10) << "buffer_init takes 10 arguments";
    Value *buffer = f.emit(op->args[0]);
    Value *shape = shape_address(f, buffer, op->args[1]);
    auto pointer = [&](const Expr &e) {
        return address_of(f, e);
    };
    store_field(f, buffer, host, pointer(op->args[2]));
    store_field(f, buffer, device, as_int(f, op->args[3], b.getInt64Ty()));
    store_field(f, buffer, device_interface, pointer(op->args[4]));
    llvm::StructType *tt = f.module().type_type();
    Value *type_address = f.buffer_field_address(buffer, Field::type);
    b.CreateStore(as_int(f, op->args[5], b.getInt8Ty()), b.CreateStructGEP(tt, type_address, 0));
    b.CreateStore(as_int(f, op->args[6], b.getInt8Ty()), b.CreateStructGEP(tt, type_address, 1));
    b.CreateStore(b.getInt16(1), b.CreateStructGEP(tt, type_address, 2));
    Value *count = as_int(f, op->args[7], b.getInt32Ty());
    store_field(f, buffer, dimensions, count);
    store_field(f, buffer, dim, shape);
    store_field(f, buffer, flags, as_int(f, op->args[9], b.getInt64Ty()));
    f.builder().CreateStore(llvm::ConstantPointerNull::get(b.getPtrTy()),
                            f.buffer_field_address(buffer, 7));
    Value *values = pointer(op->args[8]);
    Value *bytes =
        b.CreateMul(b.CreateZExt(count, b.getInt64Ty()), b.getInt64(sizeof(calotype_dimension_t)));
    b.CreateMemMove(shape, llvm::MaybeAlign(4), values, llvm::MaybeAlign(4), bytes);
    return buffer;
}

// The dimensions of the source are counted in a loop: it may be an argument of any shape.
Value *emit_buffer_crop(FunctionEmitter &f, const Call *op) {
    llvm::IRBuilder<> &b = f.builder();
    llvm::Type *i32 = b.getInt32Ty(), *i64 = b.getInt64Ty();
    Value *buffer = f.emit(op->args[0]);
    Value *shape = shape_address(f, buffer, op->args[1]);
    Value *source = f.emit(op->args[2]), *mins = address_of(f, op->args[3]),
          *extents = address_of(f, op->args[4]);
    Value *count = load_field(f, source, dimensions);
    b.CreateMemCpy(buffer, llvm::MaybeAlign(8), source, llvm::MaybeAlign(8),
                   uint64_t(sizeof(calotype_buffer_t)));
    store_field(f, buffer, dim, shape);
    store_field(f, buffer, device, b.getInt64(0));
    store_field(f, buffer, device_interface, llvm::ConstantPointerNull::get(b.getPtrTy()));

    llvm::Function *function = b.GetInsertBlock()->getParent();
    llvm::BasicBlock *before = b.GetInsertBlock();
    auto *loop = llvm::BasicBlock::Create(b.getContext(), "crop", function);
    auto *after = llvm::BasicBlock::Create(b.getContext(), "cropped", function);
    b.CreateCondBr(b.CreateICmpSGT(count, b.getInt32(0)), loop, after);
    b.SetInsertPoint(loop);
    llvm::PHINode *d = b.CreatePHI(i32, 2), *offset = b.CreatePHI(i64, 2);
    d->addIncoming(b.getInt32(0), before);
    offset->addIncoming(b.getInt64(0), before);
    auto source_field = [&](DimensionField field) {
        return b.CreateLoad(i32, f.dimension_field_address(source, d, field));
    };
    Value *old_min = source_field(DimensionField::min),
          *step = source_field(DimensionField::stride);
    Value *new_min = b.CreateLoad(i32, int32_address(f, mins, d));
    Value *new_extent = b.CreateLoad(i32, int32_address(f, extents, d));
    Value *values[] = {new_min, new_extent, step, b.getInt32(0)};
    for (unsigned field = 0; field < 4; field++) {
        Value *p = b.CreateInBoundsGEP(f.module().dimension_type(), shape, {d, b.getInt32(field)});
        b.CreateStore(values[field], p);
    }
    Value *moved =
        b.CreateMul(b.CreateSExt(b.CreateSub(new_min, old_min), i64), b.CreateSExt(step, i64));
    Value *next_offset = b.CreateAdd(offset, moved), *next = b.CreateAdd(d, b.getInt32(1));
    d->addIncoming(next, b.GetInsertBlock());
    offset->addIncoming(next_offset, b.GetInsertBlock());
    b.CreateCondBr(b.CreateICmpSLT(next, count), loop, after);
    b.SetInsertPoint(after);
    llvm::PHINode *total = b.CreatePHI(i64, 2);
    total->addIncoming(b.getInt64(0), before);
    total->addIncoming(next_offset, loop);

    llvm::StructType *tt = f.module().type_type();
    Value *bits_address = b.CreateStructGEP(tt, f.buffer_field_address(source, Field::type), 1);
    Value *bits = b.CreateZExt(b.CreateLoad(b.getInt8Ty(), bits_address), i64);
    Value *element = b.CreateLShr(b.CreateAdd(bits, b.getInt64(7)), 3);
    Value *old_host = load_field(f, source, host);
    Value *new_host = b.CreateGEP(b.getInt8Ty(), old_host, b.CreateMul(total, element));
    store_field(f, buffer, host, b.CreateSelect(b.CreateIsNull(old_host), old_host, new_host));
    return buffer;
}

}  // namespace calotype::internal
