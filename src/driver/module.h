// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Module: lowered functions for one target, ready to be written out.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

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
           const MetadataNameMap &metadata_names = {});
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

    void append(const internal::LoweredBuffer &buffer);
    void append(const internal::LoweredFunction &function);
    void append(const Module &module);
    /// The functions and buffers of this module and of its submodules, in one without submodules.
    Module resolve_submodules() const;

    /// Show argument `from` under another name in metadata.
    void remap_metadata_name(const std::string &from, const std::string &to) const;
    MetadataNameMap get_metadata_name_map() const;

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
    struct Contents;
    std::shared_ptr<Contents> contents_;
};

/// One module with the functions of all. A CompileError if their targets cannot be linked.
Module link_modules(const std::string &name, const std::vector<Module> &modules);

/// Write the runtime for the target as a static library; gives the target that it serves.
void compile_standalone_runtime(const std::string &filename, const Target &target);
std::map<OutputFileType, std::string>
compile_standalone_runtime(const std::map<OutputFileType, std::string> &output_files,
                           const Target &target);

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
