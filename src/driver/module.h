// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Module: lowered functions for one target, ready to be written out.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "codegen/llvm_module.h"
#include "codegen/output_type.h"
#include "ir/module.h"
#include "lang/buffer.h"
#include "lang/pipeline.h"
#include "target/target.h"

namespace calotype {

/// A handle: copies are the same module.
class Module {
public:
    Module(const std::string &name, const Target &target,
           const MetadataNameMap &metadata_names = {},
           const RuntimeNamespaceMap &runtime_prefixes = {});
    Module(internal::LoweredModule module, const Target &target);

    const Target &target() const;
    const std::string &name() const;
    bool any_strict_float() const;
    void set_any_strict_float(bool any);
    const std::vector<internal::LoweredBuffer> &buffers() const;
    const std::vector<internal::LoweredFunction> &functions() const &;
    std::vector<internal::LoweredFunction> &functions() &;
    /// Of a Module that is gone after the statement.
    std::vector<internal::LoweredFunction> functions() &&;
    /// A CompileError if there is none of that name.
    internal::LoweredFunction get_function_by_name(const std::string &name) const;
    const std::vector<Module> &submodules() const;
    /// The text of its kernels: the PTX of those for CUDA, or that of all of them. Undefined if there
    /// is none.
    Buffer<> get_cuda_ptx_assembly_buffer() const;
    Buffer<> get_device_code_buffer() const;
    /// The code of the first function as it was while Funcs had dimensions and values, for people to
    /// read; undefined if there is no function.
    void set_conceptual_code_stmt(const internal::Stmt &stmt);
    internal::Stmt get_conceptual_stmt() const;

    void append(const internal::LoweredBuffer &buffer);
    void append(const internal::LoweredFunction &function);
    void append(const Module &module);
    /// The functions and buffers of this module and of its submodules, in one without submodules.
    Module resolve_submodules() const;

    /// Show argument `from` under another name in metadata.
    void remap_metadata_name(const std::string &from, const std::string &to) const;
    MetadataNameMap get_metadata_name_map() const;
    /// The prefixes that names of the runtime's functions get in the code: see
    /// Pipeline::apply_runtime_prefixes.
    RuntimeNamespaceMap get_runtime_prefixes_map() const;
    void set_runtime_prefixes_map(const RuntimeNamespaceMap &runtime_prefixes);

    /// Write these files, all or none.
    void compile(const std::map<OutputFileType, std::string> &output_files) const;
    /// What an autoscheduler says of its work, for the outputs `schedule` and `featurization`; null
    /// if there is nothing.
    void set_auto_scheduler_results(const AutoSchedulerResults &results);
    const AutoSchedulerResults *get_auto_scheduler_results() const;
    /// The bytes of an object file.
    std::string compile_to_object_bytes() const;
    /// The same in a buffer.
    Buffer<uint8_t> compile_to_buffer() const;
    const internal::LoweredModule &lowered() const;

private:
    /// Whether it is the other, or that is among its submodules or theirs.
    bool holds(const Module &other) const;

    struct Contents;
    std::shared_ptr<Contents> contents_;
};

/// One module with the functions of all. A CompileError if their targets cannot be linked.
Module link_modules(const std::string &name, const std::vector<Module> &modules);

/// Write the runtime for the target as an object file, under names with these prefixes: all of it goes
/// into what it is linked to, also into a shared library that has nothing else in it.
void compile_standalone_runtime(const std::string &filename, const Target &target,
                                const RuntimeNamespaceMap &runtime_prefixes = {});
/// The same as an object or a static library, of which linkers take what is used; gives the files that
/// were written.
std::map<OutputFileType, std::string>
compile_standalone_runtime(const std::map<OutputFileType, std::string> &output_files,
                           const Target &target, const RuntimeNamespaceMap &runtime_prefixes = {});

/// The module as optimised LLVM IR. `context` is an llvm::LLVMContext: a template, as only programs that
/// include LLVM's headers can hold the result.
template<typename Context>
std::unique_ptr<llvm::Module> compile_module_to_llvm_module(const Module &module,
                                                            Context &context) {
    const Module all = module.resolve_submodules();
    return internal::llvm_module_of(all.lowered(), all.target(), context);
}
/// Write a static library of these object files. What it holds depends on their bytes and names
/// alone, whether that is asked for or not.
void create_static_library(const std::vector<std::string> &src_files, const Target &target,
                           const std::string &dst_file, bool deterministic = true);

/// Makes the module of a function for a target.
using ModuleFactory = std::function<Module(const std::string &fn_name, const Target &target)>;
/// One function that chooses between targets as it runs: see docs/generators.md. `suffixes` go into
/// the names of files and functions; empty: the target strings.
void compile_multitarget(const std::string &fn_name,
                         const std::map<OutputFileType, std::string> &output_files,
                         const std::vector<Target> &targets,
                         const std::vector<std::string> &suffixes,
                         const ModuleFactory &module_factory);

}  // namespace calotype
