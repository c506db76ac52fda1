// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ModuleEmitter: makes the LLVM module of a lowered module: declarations, constants, embedded
// buffers, argv wrappers and metadata. Bodies are FunctionEmitter's work.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include "codegen/linkables/bitcode.h"
#include "codegen/llvm/device_modules.h"
#include "ir/module.h"
#include "target/target.h"

namespace calotype::internal {

class ModuleEmitter {
public:
    /// `device_codes` are of the device modules of `source`, one by one.
    ModuleEmitter(const LoweredModule &source, const Target &target,
                  const std::vector<DeviceCode> &device_codes, llvm::LLVMContext &context);

    /// The finished module, verified but not optimised. To be called once.
    std::unique_ptr<llvm::Module> emit();

    const Target &target() const {
        return target_;
    }
    llvm::LLVMContext &context() const {
        return context_;
    }
    llvm::Module &llvm() const {
        return *module_;
    }
    bool strict_float() const {
        return strict_float_;
    }

    llvm::PointerType *pointer_type() const {
        return llvm::PointerType::get(context_, 0);
    }
    /// Index arithmetic is done in 64 bits where buffers may exceed 2^31 - 1 bytes.
    bool large_buffers() const {
        return target_.has_feature(Target::LargeBuffers);
    }

    /// Address of a private constant holding the text and a zero byte; one a text.
    llvm::Constant *string_constant(const std::string &text);
    /// The function of that C name; declared on first use with the given type.
    llvm::Function *declare(const std::string &name, llvm::FunctionType *type);
    /// A new function that only this module can call. Its name may be changed to be unique.
    llvm::Function *internal_function(const std::string &name, llvm::FunctionType *type);
    /// The embedded calotype_buffer_t behind Variable `name` ("im.buffer"), or null.
    llvm::Constant *embedded_buffer(const std::string &name) const;
    /// The function of this module with that name, or null.
    llvm::Function *module_function(const std::string &name) const;
    /// A function that a linkable supplies to this module, or null.
    const LinkedFunction *linked_function(const std::string &name) const;
    /// Links LLVM bitcode of linkables into the module, before anything calls it. `wanted` are
    /// functions that others than this module's own call.
    void link_linkables(const std::vector<BitcodeImage> &bitcode,
                        const std::set<std::string> &wanted);
    /// When all calls are in the module: what is not called of that need not stay, except `wanted`.
    void drop_unused_bitcode(const std::set<std::string> &wanted);
    /// " of linkable rng (rng.bc)" for a function that came so, else "".
    std::string origin_of(const std::string &function) const;
    /// The code for devices that travels in this module.
    DeviceModules &device_modules() {
        return device_modules_;
    }
    /// Address of a new constant that only this module sees.
    llvm::Constant *private_constant(llvm::Constant *value, const char *name);
    /// Node of the alias tree: accesses to buffers of different names do not alias.
    llvm::MDNode *alias_tag(const std::string &buffer);

    /// { device, device_interface, host, flags, type, dimensions, dim, padding }
    llvm::StructType *buffer_type() const {
        return buffer_type_;
    }
    /// { min, extent, stride, flags }
    llvm::StructType *dimension_type() const {
        return dimension_type_;
    }
    /// { code, bits, lanes }
    llvm::StructType *type_type() const {
        return type_type_;
    }

private:
    void set_function_attributes(llvm::Function *function);
    void emit_embedded_buffer(const LoweredBuffer &buffer);
    llvm::Function *emit_declaration(const LoweredFunction &function);
    /// The function under the name by which other pipelines call it, where that is another.
    void emit_name_of_callers(const LoweredFunction &function);
    void emit_argv(const LoweredFunction &function, llvm::Function *callee);
    void emit_metadata(const LoweredFunction &function);
    void emit_device_modules(const LoweredFunction &function);
    void emit_getter(const std::string &symbol, llvm::Constant *value);
    llvm::Constant *argument_metadata(const LoweredArgument &argument, llvm::StructType *type);
    llvm::Constant *scalar_metadata(const Expr &value, Type type);
    llvm::Constant *estimates_metadata(const LoweredArgument &argument);
    void link_external_code();

    const LoweredModule &source_;
    const Target &target_;
    llvm::LLVMContext &context_;
    std::unique_ptr<llvm::Module> module_;
    bool strict_float_;
    DeviceModules device_modules_;
    llvm::StructType *buffer_type_, *dimension_type_, *type_type_;
    std::map<std::string, llvm::Constant *> strings_;
    std::map<std::string, llvm::Constant *> embedded_;
    std::map<std::string, llvm::Function *> functions_;
    std::map<std::string, std::string> origins_;  ///< of functions that came as bitcode
    std::map<std::string, llvm::MDNode *> alias_tags_;
    llvm::MDNode *alias_root_ = nullptr;
};

}  // namespace calotype::internal
