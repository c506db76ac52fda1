// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/raw_ostream.h>

#include "codegen/llvm/target_machine.h"
#include "codegen/module.h"
#include "target/registers.h"

namespace calotype::internal {

struct CompiledModule::Contents {
    Target target;
    // The context outlives the module.
    llvm::LLVMContext context;
    std::unique_ptr<llvm::Module> module;
};

CompiledModule::CompiledModule(const LoweredModule &module, const Target &target)
    : CompiledModule(module, target, compile_device_modules(module, target)) {
}

CompiledModule::CompiledModule(const LoweredModule &module, const Target &target,
                               const std::vector<DeviceCode> &device_codes)
    : contents_(std::make_unique<Contents>()) {
    contents_->target = with_all_features(target);
    contents_->module = llvm_module_of(module, target, device_codes, contents_->context);
}

CompiledModule::CompiledModule(CompiledModule &&) noexcept = default;
CompiledModule &CompiledModule::operator=(CompiledModule &&) noexcept = default;
CompiledModule::~CompiledModule() = default;

std::string CompiledModule::object() const {
    return emit_machine_code(*contents_->module, contents_->target, false);
}

std::string CompiledModule::assembly() const {
    return emit_machine_code(*contents_->module, contents_->target, true);
}

std::string CompiledModule::llvm_assembly() const {
    std::string text;
    llvm::raw_string_ostream stream(text);
    contents_->module->print(stream, nullptr);
    return text;
}

std::string CompiledModule::bitcode() const {
    std::string bytes;
    llvm::raw_string_ostream stream(bytes);
    llvm::WriteBitcodeToFile(*contents_->module, stream);
    return bytes;
}

}  // namespace calotype::internal
