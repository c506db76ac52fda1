// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PTX that a program brings as inline assembly stays as it is.
#include <gtest/gtest.h>

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>

#include "codegen/nvptx/ptx.h"

namespace calotype::internal {

namespace {

TEST(InlinePtx, IsKeptToTheLastInstruction) {
    llvm::LLVMContext context;
    llvm::Module module("inline", context);
    PtxWriter writer(Capability{90, 0});
    writer.prepare(module);
    llvm::IRBuilder<> b(context);
    auto *unary = llvm::FunctionType::get(b.getInt32Ty(), {b.getInt32Ty()}, false);
    auto *function = llvm::Function::Create(unary, llvm::Function::ExternalLinkage, "f", module);
    b.SetInsertPoint(llvm::BasicBlock::Create(context, "", function));
    const char *code = "neg.s32 $0, $1; add.s32 $0, $0, 77;";
    b.CreateRet(
        b.CreateCall(llvm::InlineAsm::get(unary, code, "=r,r", false), {function->getArg(0)}));
    writer.optimize(module);
    const std::string ptx = writer.text(module);
    EXPECT_NE(ptx.find("neg.s32"), std::string::npos) << ptx;
    EXPECT_NE(ptx.find(", 77;"), std::string::npos) << ptx;
}

}  // namespace

}  // namespace calotype::internal
