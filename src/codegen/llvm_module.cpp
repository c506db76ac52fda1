// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/llvm_module.h"

#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/raw_ostream.h>

#include "codegen/llvm/module_emitter.h"
#include "codegen/llvm/target_machine.h"
#include "codegen/module.h"
#include "codegen/runtime_names.h"
#include "support/error.h"
#include "target/registers.h"

namespace calotype {

namespace internal {

namespace {

constexpr const char *target_flag = "calotype_target";

Target target_of(const llvm::Module &module) {
    const auto *text = llvm::dyn_cast_or_null<llvm::MDString>(module.getModuleFlag(target_flag));
    user_assert(text)
        << "LLVM module " << module.getModuleIdentifier()
        << " was not made by compile_module_to_llvm_module: it does not say its target";
    return Target(text->getString().str());
}

}  // namespace

std::unique_ptr<llvm::Module> llvm_module_of(const LoweredModule &module, const Target &target,
                                             const std::vector<DeviceCode> &device_codes,
                                             llvm::LLVMContext &context) {
    const Target whole = with_all_features(target);
    auto result = ModuleEmitter(module, whole, device_codes, context).emit();
    optimize(*result, whole);
    if (const std::string *prefix = prefix_of_calls(module.runtime_prefixes, target)) {
        rename_runtime_calls(*result, *prefix);
    }
    result->addModuleFlag(llvm::Module::Warning, target_flag,
                          llvm::MDString::get(context, whole.to_string()));
    return result;
}

std::unique_ptr<llvm::Module> llvm_module_of(const LoweredModule &module, const Target &target,
                                             llvm::LLVMContext &context) {
    return llvm_module_of(module, target, compile_device_modules(module, target), context);
}

}  // namespace internal

std::unique_ptr<llvm::raw_fd_ostream> make_raw_fd_ostream(const std::string &filename) {
    std::error_code error;
    auto stream = std::make_unique<llvm::raw_fd_ostream>(filename, error);
    user_assert(!error) << "cannot write " << filename << ": " << error.message();
    return stream;
}

void compile_llvm_module_to_object(llvm::Module &module, internal::LLVMOStream &out) {
    out << internal::emit_machine_code(module, internal::target_of(module), false);
}

void compile_llvm_module_to_assembly(llvm::Module &module, internal::LLVMOStream &out) {
    out << internal::emit_machine_code(module, internal::target_of(module), true);
}

void compile_llvm_module_to_llvm_bitcode(llvm::Module &module, internal::LLVMOStream &out) {
    llvm::WriteBitcodeToFile(module, out);
}

void compile_llvm_module_to_llvm_assembly(llvm::Module &module, internal::LLVMOStream &out) {
    module.print(out, nullptr);
}

}  // namespace calotype
