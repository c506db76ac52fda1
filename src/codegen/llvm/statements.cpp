// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Control flow. A function has one way out for errors, a block with a phi of the codes, and one for
// success; both release what is registered with cleanup_slot.
#include "codegen/llvm/emitter.h"
#include "codegen/parts.h"
#include "codegen/scattered_bytes.h"
#include "codegen/x86/features.h"
#include "ir/queries.h"
#include "ir/walk/field_walk.h"
#include "support/error.h"
#include "target/registers.h"

namespace calotype::internal {

using llvm::Value;

namespace {

/// Of a function: some thirty stages. What a part does not know of what was computed before it is little beside so much.
constexpr size_t most_nodes = 4000;

}  // namespace

FunctionEmitter::FunctionEmitter(ModuleEmitter &module, llvm::Function *function,
                                 const Machine &machine)
    : module_(module), machine_(machine), function_(function),
      b_(llvm::BasicBlock::Create(module.context(), "entry", function)),
      error_exit_(llvm::BasicBlock::Create(module.context(), "error_exit", function)),
      error_code_(llvm::PHINode::Create(b_.getInt32Ty(), 0, "error", error_exit_)),
      strict_float_(module.strict_float() || target().has_feature(Target::StrictFloat)) {
    if (!strict_float_) {
        llvm::FastMathFlags flags;
        flags.setAllowReassoc();
        flags.setAllowContract();
        flags.setNoSignedZeros();
        b_.setFastMathFlags(flags);
    }
}

void FunctionEmitter::emit_body(const Stmt &body) {
    llvm::BasicBlock *start = new_block("body");
    llvm::BasicBlock *entry = b_.GetInsertBlock();
    b_.SetInsertPoint(start);
    much_math_ = has_much_math(body);
    if (!parts_ && !function_->getReturnType()->isVoidTy()) {  // what cannot fail is a kernel
        parts_ = std::make_shared<std::set<const StmtNode *>>(parts_of(body, most_nodes));
    }
    emit_whole(body);
    emit_cleanups(true);
    if (function_->getReturnType()->isVoidTy()) {
        internal_assert(error_code_->getNumIncomingValues() == 0)
            << "function " << function_->getName().str() << " can fail, but has no way to say so";
        b_.CreateRetVoid();
    } else {
        b_.CreateRet(b_.getInt32(0));
    }
    if (error_code_->getNumIncomingValues() == 0) {
        error_code_->eraseFromParent();
        error_exit_->eraseFromParent();
    } else {
        b_.SetInsertPoint(error_exit_);
        emit_cleanups(false);
        b_.CreateRet(error_code_);
        error_exit_->moveAfter(&function_->back());
    }
    // Frame slots were put into the entry block; it ends here.
    b_.SetInsertPoint(entry);
    b_.CreateBr(start);
}

llvm::BasicBlock *FunctionEmitter::new_block(const char *name) {
    return llvm::BasicBlock::Create(module_.context(), name, function_);
}

void FunctionEmitter::emit(const Stmt &s) {
    if (is_part(s)) {
        emit_part(s);
    } else {
        emit_whole(s);
    }
}

void FunctionEmitter::emit_whole(const Stmt &s) {
    if (s.defined()) {
        dispatch(s.get(), [this](const auto *op) { emit_node(op); });
    }
}

void FunctionEmitter::emit_node(const LetStmt *op) {
    // Long chains of lets are walked without recursion.
    std::vector<std::string> names;
    Stmt rest;
    for (const LetStmt *let = op; let; let = rest.as<LetStmt>()) {
        Value *value = emit(let->value);
        if (!value->hasName() && !llvm::isa<llvm::Constant>(value)) {
            value->setName(let->name);
        }
        bind_wide(let->name, let->value);
        symbols_.push(let->name, value);
        names.push_back(let->name);
        rest = let->body;
        if (is_part(rest)) {
            break;
        }
    }
    emit(rest);
    for (auto name = names.rbegin(); name != names.rend(); ++name) {
        symbols_.pop(*name);
        wide_.pop(*name);
    }
}

void FunctionEmitter::check(Value *condition, const std::function<Value *()> &code) {
    if (auto *constant = llvm::dyn_cast<llvm::ConstantInt>(condition);
        constant && constant->isOne()) {
        return;
    }
    llvm::BasicBlock *failed = new_block("failed"), *passed = new_block("passed");
    llvm::MDNode *weights = llvm::MDNode::get(
        module_.context(), {llvm::MDString::get(module_.context(), "branch_weights"),
                            llvm::ConstantAsMetadata::get(b_.getInt32(1 << 30)),
                            llvm::ConstantAsMetadata::get(b_.getInt32(1))});
    b_.CreateCondBr(condition, passed, failed, weights);
    b_.SetInsertPoint(failed);
    Value *result = code();
    error_code_->addIncoming(result, b_.GetInsertBlock());
    b_.CreateBr(error_exit_);
    b_.SetInsertPoint(passed);
}

void FunctionEmitter::return_if_nonzero(Value *code) {
    check(b_.CreateICmpEQ(code, b_.getInt32(0)), [&] { return code; });
}

void FunctionEmitter::emit_node(const AssertStmt *op) {
    if (target().has_feature(Target::NoAsserts)) {
        return;
    }
    check(emit(op->condition), [&] { return emit(op->message); });
}

void FunctionEmitter::emit_node(const ProducerConsumer *op) {
    emit(op->body);
}

void FunctionEmitter::emit_node(const Block *op) {
    emit(op->first);
    Stmt rest = op->rest;
    for (const Block *block; !is_part(rest) && (block = rest.as<Block>()) != nullptr;) {
        emit(block->first);
        rest = block->rest;
    }
    emit(rest);
}

void FunctionEmitter::emit_node(const IfThenElse *op) {
    Value *condition = emit(op->condition);
    llvm::BasicBlock *then = new_block("then"), *after = new_block("endif");
    llvm::BasicBlock *otherwise = op->else_case.defined() ? new_block("else") : after;
    b_.CreateCondBr(condition, then, otherwise);
    b_.SetInsertPoint(then);
    emit(op->then_case);
    b_.CreateBr(after);
    if (op->else_case.defined()) {
        b_.SetInsertPoint(otherwise);
        emit(op->else_case);
        b_.CreateBr(after);
    }
    b_.SetInsertPoint(after);
}

void FunctionEmitter::emit_node(const Evaluate *op) {
    emit(op->value);
}

void FunctionEmitter::emit_node(const For *op) {
    if (op->for_type == ForType::Serial) {
        emit_serial_loop(op);
    } else if (op->for_type == ForType::Parallel) {
        emit_parallel_loop(op);
    } else {
        internal_error << "loop " << op->name << " is still " << to_string(op->for_type);
    }
}

void FunctionEmitter::emit_serial_loop(const For *op) {
    Value *min = emit(op->min), *extent = emit(op->extent);
    llvm::Type *t = min->getType();
    Value *end = b_.CreateNSWAdd(min, extent);
    llvm::BasicBlock *entry = b_.GetInsertBlock();
    llvm::BasicBlock *loop = new_block("loop"), *after = new_block("endloop");
    b_.CreateCondBr(b_.CreateICmpSGT(extent, int_constant(t, 0)), loop, after);
    b_.SetInsertPoint(loop);
    llvm::PHINode *variable = b_.CreatePHI(t, 2, op->name);
    variable->addIncoming(min, entry);
    {
        ScopedBinding<Value *> binding(symbols_, op->name, variable);
        const bool before = std::exchange(much_math_, has_much_math(op->body));
        emit(op->body);
        much_math_ = before;
    }
    Value *next = b_.CreateNSWAdd(variable, int_constant(t, 1));
    variable->addIncoming(next, b_.GetInsertBlock());
    llvm::BranchInst *back = b_.CreateCondBr(b_.CreateICmpNE(next, end), loop, after);
    const bool is_innermost = !contains_kind(op->body, NodeKind::For);
    if (op->partition == Partition::Never || (is_innermost && touches_scattered_bytes(op)) ||
        (is_innermost && packs_neighbours_of_iteration(op)) ||
        (is_innermost && !machine_.has_fast_gather(target()) &&
         does_little_but_gather(op, vector_register_bits(target(), true))) ||
        (is_innermost && target().arch == Target::X86 && !x86_has_narrow_and_long_lanes(target()) &&
         does_little_but_convert_to_long(op))) {
        keep_scalar(back);
    }
    b_.SetInsertPoint(after);
}

// Vectors of iterations would be more code than what the few iterations outside of a steady state do.
void FunctionEmitter::keep_scalar(llvm::BranchInst *back) {
    llvm::LLVMContext &context = module_.context();
    llvm::Metadata *off[] = {llvm::MDString::get(context, "llvm.loop.vectorize.enable"),
                             llvm::ConstantAsMetadata::get(b_.getFalse())};
    llvm::MDNode *loop =
        llvm::MDNode::getDistinct(context, {nullptr, llvm::MDNode::get(context, off)});
    loop->replaceOperandWith(0, loop);  // by itself it differs from that of every other loop
    back->setMetadata(llvm::LLVMContext::MD_loop, loop);
}

void FunctionEmitter::emit_node(const Provide *op) {
    internal_error << "provide of " << op->name << " in a lowered module";
}

void FunctionEmitter::emit_node(const Realize *op) {
    internal_error << "realize of " << op->name << " in a lowered module";
}

void FunctionEmitter::emit_node(const HoistedStorage *op) {
    internal_error << "hoisted storage of " << op->name << " in a lowered module";
}

void FunctionEmitter::emit_node(const Prefetch *op) {
    internal_error << "prefetch of " << op->name << " in a lowered module";
}

}  // namespace calotype::internal
