// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Set-up of LLVM for a target, optimisation, and writing machine code.
#pragma once

#include <memory>
#include <string>

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include "target/target.h"

namespace calotype::internal {

/// CompileError if code cannot be generated for the target.
std::unique_ptr<llvm::TargetMachine> make_target_machine(const Target &target);

/// Sets triple, data layout and module flags.
void prepare_module(llvm::Module &module, const Target &target);
/// Says for which processor and features the function is.
void add_target_attributes(llvm::Function &function, const Target &target);

void optimize(llvm::Module &module, const Target &target);

/// Machine code of a copy of the module: an object file, or assembly text.
std::string emit_machine_code(const llvm::Module &module, const Target &target, bool as_text);

}  // namespace calotype::internal
