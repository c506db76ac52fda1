// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The registers have been chosen by lowering, so the intrinsics that name them are used, and LLVM
// allocates none. To LLVM each may touch any memory, so that nothing moves across it.
#include "codegen/x86/tiles.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/IntrinsicsX86.h>

#include "ir/constants.h"
#include "support/error.h"

namespace calotype::internal {

using llvm::Value;

namespace {

uint8_t constant_argument(const Call *op, size_t i) {
    const auto value = as_const_int(op->args.at(i));
    internal_assert(value) << op->name << " with an argument that is not constant";
    return uint8_t(*value);
}

Value *tile(FunctionEmitter &f, const Call *op, size_t i) {
    return f.builder().getInt8(constant_argument(op, i));
}

/// The 64 bytes that LDTILECFG reads: palette 1, then at 16 the bytes of a row of each register, two
/// bytes each, and at 48 their rows.
Value *configuration(FunctionEmitter &f, const Call *op) {
    constexpr size_t size = 64, bytes_at = 16, rows_at = 48;
    std::vector<uint8_t> bytes(size, 0);
    bytes[0] = 1;
    for (size_t t = 0; 2 * t < op->args.size(); t++) {
        bytes[rows_at + t] = constant_argument(op, 2 * t);
        bytes[bytes_at + 2 * t] = constant_argument(op, 2 * t + 1);
    }
    llvm::Constant *value = llvm::ConstantDataArray::get(f.module().context(), bytes);
    llvm::Module *module = f.builder().GetInsertBlock()->getModule();
    auto *variable = new llvm::GlobalVariable(*module, value->getType(), true,
                                              llvm::GlobalValue::PrivateLinkage, value, "tiles");
    variable->setAlignment(llvm::Align(size));
    return variable;
}

/// tile_load and tile_store (t, buffer, i, step).
std::vector<Value *> access_arguments(FunctionEmitter &f, const Call *op) {
    llvm::IRBuilder<> &b = f.builder();
    const auto wide = [&](const Expr &e) {
        return b.CreateSExtOrTrunc(f.emit(e), b.getInt64Ty());
    };
    Value *bytes = b.getInt64(uint64_t(op->type.bytes()));
    Value *address = b.CreateGEP(b.getInt8Ty(), f.emit(op->args.at(1)),
                                 b.CreateMul(wide(op->args.at(2)), bytes));
    return {tile(f, op, 0), address, b.CreateMul(wide(op->args.at(3)), bytes)};
}

llvm::Intrinsic::ID product(Type a, Type b) {
    if (a.is_bfloat()) {
        return llvm::Intrinsic::x86_tdpbf16ps;
    }
    if (a.is_int()) {
        return b.is_int() ? llvm::Intrinsic::x86_tdpbssd : llvm::Intrinsic::x86_tdpbsud;
    }
    return b.is_int() ? llvm::Intrinsic::x86_tdpbusd : llvm::Intrinsic::x86_tdpbuud;
}

}  // namespace

Value *emit_x86_tiles(FunctionEmitter &f, const Call *op) {
    const auto emit = [&](llvm::Intrinsic::ID id, const std::vector<Value *> &args) -> Value * {
        f.builder().CreateIntrinsic(id, {}, args);
        return llvm::Constant::getNullValue(f.type(op->type));
    };
    if (op->is_intrinsic(Intrinsic::tile_configure)) {
        return emit(llvm::Intrinsic::x86_ldtilecfg, {configuration(f, op)});
    }
    if (op->is_intrinsic(Intrinsic::tile_release)) {
        return emit(llvm::Intrinsic::x86_tilerelease, {});
    }
    if (op->is_intrinsic(Intrinsic::tile_zero)) {
        return emit(llvm::Intrinsic::x86_tilezero, {tile(f, op, 0)});
    }
    if (op->is_intrinsic(Intrinsic::tile_load)) {
        return emit(llvm::Intrinsic::x86_tileloadd64, access_arguments(f, op));
    }
    if (op->is_intrinsic(Intrinsic::tile_store)) {
        return emit(llvm::Intrinsic::x86_tilestored64, access_arguments(f, op));
    }
    if (op->is_intrinsic(Intrinsic::tile_multiply_add)) {
        return emit(product(op->args.at(3).type(), op->args.at(4).type()),
                    {tile(f, op, 0), tile(f, op, 1), tile(f, op, 2)});
    }
    return nullptr;
}

}  // namespace calotype::internal
