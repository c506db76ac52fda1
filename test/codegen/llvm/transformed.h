// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a pass makes of LLVM IR that a test writes down.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>

namespace calotype::internal {

/// The module of a text after transformation(module), which is expected to leave it valid.
template<typename F>
std::unique_ptr<llvm::Module> transformed(const std::string &text, llvm::LLVMContext &context,
                                          const F &transformation) {
    llvm::SMDiagnostic error;
    std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(text, error, context);
    EXPECT_TRUE(module) << error.getMessage().str() << "\n" << text;
    transformation(*module);
    EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
    return module;
}

}  // namespace calotype::internal
