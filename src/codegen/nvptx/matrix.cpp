// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrix instructions of a warp, as PTX: ldmatrix and mma.sync, from sm_80 on. Registers of operands
// hold 32 bits each, whatever is in them.
#include <llvm/IR/InlineAsm.h>

#include "codegen/llvm/emitter.h"
#include "codegen/nvptx/address_spaces.h"
#include "codegen/nvptx/machine.h"
#include "ir/constants.h"
#include "support/error.h"

namespace calotype::internal {

using llvm::Value;

namespace {

/// "{$4,$5,$6}"
std::string operands(unsigned first, unsigned count) {
    std::string text = "{";
    for (unsigned i = 0; i < count; i++) {
        text += (i == 0 ? "$" : ",$") + std::to_string(first + i);
    }
    return text + "}";
}

/// "r,r,r,"
std::string repeated(const char *constraint, unsigned count) {
    std::string text;
    for (unsigned i = 0; i < count; i++) {
        text += constraint;
        text += ',';
    }
    return text;
}

Value *as_registers(FunctionEmitter &f, Value *v, Type t) {
    const unsigned n = unsigned(t.bits() * t.lanes() / 32);
    return f.builder().CreateBitCast(v, with_lanes(f.builder().getInt32Ty(), int(n)));
}

void append_elements(FunctionEmitter &f, Value *vector, std::vector<Value *> &to) {
    const auto *type = llvm::cast<llvm::FixedVectorType>(vector->getType());
    for (unsigned i = 0; i < type->getNumElements(); i++) {
        to.push_back(f.builder().CreateExtractElement(vector, i));
    }
}

/// A vector of what an instruction gives.
Value *from_results(FunctionEmitter &f, Value *results, unsigned count) {
    llvm::IRBuilder<> &b = f.builder();
    Value *first = b.CreateExtractValue(results, 0);
    Value *vector = llvm::PoisonValue::get(with_lanes(first->getType(), int(count)));
    for (unsigned i = 0; i < count; i++) {
        vector = b.CreateInsertElement(vector, b.CreateExtractValue(results, i), i);
    }
    return vector;
}

llvm::StructType *structure_of(llvm::Type *element, unsigned count) {
    return llvm::StructType::get(element->getContext(), std::vector<llvm::Type *>(count, element));
}

struct Word {
    const char *type, *shape;
};

Word word_of(Type t) {
    if (t.bits() == 8) {
        return {t.is_int() ? "s8" : "u8", "m16n8k32"};
    }
    if (t.bits() == 16) {
        return {t.is_bfloat() ? "bf16" : "f16", "m16n8k16"};
    }
    return {"tf32", "m16n8k8"};
}

/// Where an operand in panels of 128 bytes begins, args[buffer] and the index after it, 16 bytes a
/// unit, and how far apart its parts are: panels, and eight rows of one panel (PTX ISA, "Matrix
/// descriptor format"). The steps of one product differ by a constant, which is added last.
Value *matrix_descriptor(FunctionEmitter &f, const Call *op, size_t buffer, Type element,
                         int panel_bytes) {
    constexpr uint32_t eight_rows = 1024, unit = 16, swizzle_128 = 1;
    const Expr &index = op->args.at(buffer + 1);
    const Add *sum = index.as<Add>();
    const auto constant = sum ? as_const_int(sum->b) : std::optional<int64_t>();
    const int64_t bytes = constant.value_or(0) * element.bytes();
    const bool is_apart = constant && bytes % unit == 0;
    llvm::IRBuilder<> &b = f.builder();
    Value *address = shared_address(f, op->args.at(buffer), element, is_apart ? sum->a : index);
    Value *low =
        b.CreateAdd(b.CreateLShr(address, 4), b.getInt32(uint32_t(panel_bytes) / unit << 16 |
                                                         uint32_t((is_apart ? bytes : 0) / unit)));
    const uint32_t high = eight_rows / unit | swizzle_128 << 30;
    return b.CreateOr(b.CreateZExt(low, b.getInt64Ty()), b.getInt64(uint64_t(high) << 32));
}

/// "+f" of as many registers: those of results first, then each again as an argument.
std::string in_place(const char *kind, unsigned count) {
    std::string text = repeated((std::string("=") + kind).c_str(), count);
    for (unsigned i = 0; i < count; i++) {
        text += std::to_string(i) + ",";
    }
    return text;
}

llvm::Type *register_type(FunctionEmitter &f, bool is_float) {
    return is_float ? f.builder().getFloatTy()
                    : static_cast<llvm::Type *>(f.builder().getInt32Ty());
}

}  // namespace

Value *call_asm(FunctionEmitter &f, llvm::Type *result, const std::vector<Value *> &args,
                const std::string &code, const std::string &constraints, bool has_effects) {
    std::vector<llvm::Type *> types;
    for (Value *v : args) {
        types.push_back(v->getType());
    }
    auto *type = llvm::FunctionType::get(result, types, false);
    llvm::CallInst *call = f.builder().CreateCall(
        type, llvm::InlineAsm::get(type, code, constraints, has_effects), args);
    call->addFnAttr(llvm::Attribute::Convergent);
    call->addFnAttr(llvm::Attribute::NoUnwind);
    return call;
}

Value *shared_address(FunctionEmitter &f, const Expr &buffer, Type element, const Expr &index) {
    const Variable *name = buffer.as<Variable>();
    internal_assert(name) << "shared memory of something that is not a buffer";
    Value *address = f.element_pointer(name->name, element, index);
    internal_assert(address->getType()->getPointerAddressSpace() == shared_address_space)
        << name->name << " is not in shared memory";
    return f.builder().CreatePtrToInt(address, f.builder().getInt32Ty());
}

Value *emit_round_to_tf32(FunctionEmitter &f, const Call *op) {
    llvm::IRBuilder<> &b = f.builder();
    return f.by_lanes({f.emit(op->args[0])}, op->type.lanes(), [&](const std::vector<Value *> &v) {
        auto *type = llvm::FunctionType::get(b.getInt32Ty(), {b.getFloatTy()}, false);
        auto *code = llvm::InlineAsm::get(type, "cvt.rna.tf32.f32 $0, $1;", "=r,f", false);
        return b.CreateBitCast(b.CreateCall(type, code, {v[0]}), b.getFloatTy());
    });
}

// gpu_load_matrix(buffer, index, is_transposed)
Value *emit_load_matrix(FunctionEmitter &f, const Call *op) {
    llvm::IRBuilder<> &b = f.builder();
    Value *address = shared_address(f, op->args.at(0), op->type.element_of(), op->args.at(1));
    const unsigned count = unsigned(op->type.bits() * op->type.lanes() / 32);
    const std::string code = "ldmatrix.sync.aligned.m8n8.x" + std::to_string(count) +
                             (is_const_one(op->args.at(2)) ? ".trans" : "") + ".shared.b16 " +
                             operands(0, count) + ", [$" + std::to_string(count) + "];";
    Value *results = call_asm(f, structure_of(b.getInt32Ty(), count), {address}, code,
                              repeated("=r", count) + "r,~{memory}", true);
    Value *vector = count == 1 ? b.CreateExtractValue(results, 0) : from_results(f, results, count);
    return b.CreateBitCast(vector, f.type(op->type));
}

// matrix_multiply_add(a, b, c)
Value *emit_matrix_multiply_add(FunctionEmitter &f, const Call *op) {
    const Type ta = op->args.at(0).type(), tb = op->args.at(1).type();
    const bool of_floats = op->type.is_float();
    const Word word = word_of(ta);
    const std::string sum = of_floats ? "f32" : "s32";
    std::vector<Value *> args;
    append_elements(f, as_registers(f, f.emit(op->args[0]), ta), args);
    append_elements(f, as_registers(f, f.emit(op->args[1]), tb), args);
    append_elements(f, f.emit(op->args.at(2)), args);
    internal_assert(args.size() == 10) << op->name << " of " << args.size() << " registers";
    const std::string code = std::string("mma.sync.aligned.") + word.shape + ".row.col." + sum +
                             "." + word.type + "." + word_of(tb).type + "." + sum + " " +
                             operands(0, 4) + ", " + operands(4, 4) + ", " + operands(8, 2) + ", " +
                             operands(10, 4) + ";";
    llvm::Type *element = register_type(f, of_floats);
    const char *result = of_floats ? "=f" : "=r", *addend = of_floats ? "f" : "r";
    std::string constraints = repeated(result, 4) + repeated("r", 6) + repeated(addend, 4);
    constraints.pop_back();
    return from_results(f, call_asm(f, structure_of(element, 4), args, code, constraints, false),
                        4);
}

Value *emit_warpgroup_fence(FunctionEmitter &f, const Call *op) {
    call_asm(f, f.builder().getVoidTy(), {}, "wgmma.fence.sync.aligned;", "~{memory}", true);
    return llvm::Constant::getNullValue(f.type(op->type));
}

// gpu_warpgroup_multiply_add(a, i, b, j, c, a_is_transposed, b_is_transposed, bytes of a panel of b,
//                            0 of a's type, 0 of b's type, is_last_of_group)
Value *emit_warpgroup_multiply_add(FunctionEmitter &f, const Call *op) {
    const Type ta = op->args.at(8).type(), tb = op->args.at(9).type();
    const bool of_floats = op->type.is_float();
    const unsigned count = unsigned(op->type.lanes());
    const int depth = 32 / ta.bytes();
    std::vector<Value *> args;
    append_elements(f, f.emit(op->args.at(4)), args);
    args.push_back(matrix_descriptor(f, op, 0, ta, 16));
    args.push_back(matrix_descriptor(f, op, 2, tb, int(*as_const_int(op->args.at(7)))));
    std::string code = "{ .reg .pred p; setp.ne.b32 p, 1, 0; wgmma.mma_async.sync.aligned.m64n" +
                       std::to_string(2 * count) + "k" + std::to_string(depth) +
                       (of_floats ? ".f32." : ".s32.") + word_of(ta).type + "." + word_of(tb).type +
                       " " + operands(0, count) + ", $" + std::to_string(2 * count) + ", $" +
                       std::to_string(2 * count + 1) + ", p";
    if (of_floats) {
        code += ", 1, 1";
    }
    if (ta.bytes() == 2) {
        code += std::string(", ") + (is_const_one(op->args.at(5)) ? "1" : "0") + ", " +
                (is_const_one(op->args.at(6)) ? "1" : "0");
    }
    code += is_const_one(op->args.at(10)) ? "; wgmma.commit_group.sync.aligned; }" : "; }";
    return from_results(f,
                        call_asm(f, structure_of(register_type(f, of_floats), count), args, code,
                                 in_place(of_floats ? "f" : "r", count) + "l,l,~{memory}", true),
                        count);
}

// gpu_warpgroup_wait(c, n)
Value *emit_warpgroup_wait(FunctionEmitter &f, const Call *op) {
    const bool of_floats = op->type.is_float();
    const unsigned count = unsigned(op->type.lanes());
    std::vector<Value *> args;
    append_elements(f, f.emit(op->args.at(0)), args);
    const std::string code =
        "wgmma.wait_group.sync.aligned " + std::to_string(*as_const_int(op->args.at(1))) + ";";
    return from_results(f,
                        call_asm(f, structure_of(register_type(f, of_floats), count), args, code,
                                 in_place(of_floats ? "f" : "r", count) + "~{memory}", true),
                        count);
}

}  // namespace calotype::internal
