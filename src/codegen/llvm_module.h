// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Modules of LLVM, for programs that look at them or change them. Such a program includes LLVM's own
// headers, of the version that the compiler was built with, and links LLVM.
#pragma once

#include <memory>
#include <string>

namespace llvm {
class LLVMContext;
class Module;
class raw_fd_ostream;
class raw_pwrite_stream;
}  // namespace llvm

namespace calotype {

struct Target;

namespace internal {

using LLVMOStream = llvm::raw_pwrite_stream;
struct LoweredModule;

/// See compile_module_to_llvm_module.
std::unique_ptr<llvm::Module> llvm_module_of(const LoweredModule &module, const Target &target,
                                             llvm::LLVMContext &context);

}  // namespace internal

/// A file to write to. A CompileError if it cannot be opened.
std::unique_ptr<llvm::raw_fd_ostream> make_raw_fd_ostream(const std::string &filename);

/// @name Machine code of a module that compile_module_to_llvm_module made, for its target
/// @{
void compile_llvm_module_to_object(llvm::Module &module, internal::LLVMOStream &out);
void compile_llvm_module_to_assembly(llvm::Module &module, internal::LLVMOStream &out);
/// @}
/// @name The module itself
/// @{
void compile_llvm_module_to_llvm_bitcode(llvm::Module &module, internal::LLVMOStream &out);
void compile_llvm_module_to_llvm_assembly(llvm::Module &module, internal::LLVMOStream &out);
/// @}

}  // namespace calotype
