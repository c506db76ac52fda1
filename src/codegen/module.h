// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CompiledModule: a lowered module turned into optimised machine-independent code for one target,
// ready to be written out as object, assembly, LLVM assembly or bitcode.
#pragma once

#include <memory>
#include <string>

#include "codegen/device_code.h"
#include "ir/module.h"
#include "target/target.h"

namespace llvm {
class LLVMContext;
class Module;
}  // namespace llvm

namespace calotype::internal {

/// The module as optimised LLVM IR; codes are those of compile_device_modules(). Throws CompileError if
/// the target cannot be compiled for, and InternalError if the module breaks the conventions of
/// ir/module.h.
std::unique_ptr<llvm::Module> llvm_module_of(const LoweredModule &module, const Target &target,
                                             const std::vector<DeviceCode> &device_codes,
                                             llvm::LLVMContext &context);

/// Move-only. Objects are independent of each other: several may be built and written at once on
/// several threads. The same module and target always give the same bytes.
class CompiledModule {
public:
    /// Generates and optimises code, as llvm_module_of.
    CompiledModule(const LoweredModule &module, const Target &target);
    /// The same with the code of compile_device_modules(), made before.
    CompiledModule(const LoweredModule &module, const Target &target,
                   const std::vector<DeviceCode> &device_codes);
    CompiledModule(CompiledModule &&) noexcept;
    CompiledModule &operator=(CompiledModule &&) noexcept;
    ~CompiledModule();

    /// A relocatable, position-independent object file.
    std::string object() const;
    /// Assembly text for the target.
    std::string assembly() const;
    std::string llvm_assembly() const;
    std::string bitcode() const;

private:
    struct Contents;
    std::unique_ptr<Contents> contents_;
};

}  // namespace calotype::internal
