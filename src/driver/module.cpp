// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver/module.h"

#include <algorithm>
#include <optional>

#include "codegen/emit.h"
#include "codegen/module.h"
#include "driver/link_devices.h"
#include "driver/output_plan.h"
#include "support/error.h"
#include "support/file.h"
#include "support/text.h"

namespace calotype {

using namespace internal;

struct Module::Contents {
    LoweredModule module;
    Target target;
    std::vector<Module> submodules;
    std::optional<AutoSchedulerResults> autoscheduled;
};

namespace internal {

namespace {

std::string emit_one(const Module &module, OutputFileType type) {
    return emit_outputs(module.lowered(), module.target(), {type})[type];
}

Buffer<uint8_t> buffer_of(const std::string &bytes, const std::string &name) {
    Buffer<uint8_t> buffer(int(bytes.size()), name);
    std::copy(bytes.begin(), bytes.end(), buffer.data());
    return buffer;
}

Buffer<> text_of_kernels(const Module &module, OutputFileType type) {
    return buffer_of(emit_one(module, type), module.name() + "_kernels");
}

}  // namespace

}  // namespace internal

Module::Module(const std::string &name, const Target &target, const MetadataNameMap &metadata_names,
               const RuntimeNamespaceMap &runtime_prefixes)
    : Module(LoweredModule(), target) {
    contents_->module.name = name;
    contents_->module.target = target.to_string();
    contents_->module.metadata_names = metadata_names;
    contents_->module.runtime_prefixes = runtime_prefixes;
}

Module::Module(LoweredModule module, const Target &target)
    : contents_(std::make_shared<Contents>()) {
    contents_->module = std::move(module);
    contents_->target = target;
}

const Target &Module::target() const {
    return contents_->target;
}

const std::string &Module::name() const {
    return contents_->module.name;
}

bool Module::any_strict_float() const {
    return contents_->module.any_strict_float;
}

void Module::set_any_strict_float(bool any) {
    contents_->module.any_strict_float = any;
}

const std::vector<LoweredBuffer> &Module::buffers() const {
    return contents_->module.buffers;
}

const std::vector<LoweredFunction> &Module::functions() const & {
    return contents_->module.functions;
}

std::vector<LoweredFunction> &Module::functions() & {
    return contents_->module.functions;
}

std::vector<LoweredFunction> Module::functions() && {
    return contents_->module.functions;
}

LoweredFunction Module::get_function_by_name(const std::string &name) const {
    const LoweredFunction *f = contents_->module.find_function(name);
    if (!f) {
        std::vector<std::string> names;
        for (const LoweredFunction &known : functions()) {
            names.push_back(known.name);
        }
        user_error << "module " << this->name() << " has no function " << name
                   << internal::did_you_mean(name, names);
    }
    return *f;
}

const std::vector<Module> &Module::submodules() const {
    return contents_->submodules;
}

Buffer<> Module::get_cuda_ptx_assembly_buffer() const {
    const auto is_cuda = [](const internal::DeviceModule &m) {
        return m.api == DeviceAPI::CUDA;
    };
    const auto &modules = contents_->module.device_modules;
    return std::any_of(modules.begin(), modules.end(), is_cuda)
               ? internal::text_of_kernels(*this, OutputFileType::ptx)
               : Buffer<>();
}

Buffer<> Module::get_device_code_buffer() const {
    return contents_->module.device_modules.empty()
               ? Buffer<>()
               : internal::text_of_kernels(*this, OutputFileType::device_code);
}

void Module::set_conceptual_code_stmt(const Stmt &stmt) {
    user_assert(!functions().empty()) << "module " << name() << " has no function";
    contents_->module.functions[0].conceptual = stmt;
}

Stmt Module::get_conceptual_stmt() const {
    return functions().empty() ? Stmt() : functions()[0].conceptual;
}

void Module::append(const LoweredBuffer &buffer) {
    contents_->module.buffers.push_back(buffer);
}

void Module::append(const LoweredFunction &function) {
    contents_->module.functions.push_back(function);
}

void Module::append(const Module &module) {
    user_assert(!module.holds(*this))
        << "module " << module.name() << " is appended to " << name() << ", which is "
        << (module.contents_ == contents_ ? "the same" : "a part of it");
    contents_->submodules.push_back(module);
}

bool Module::holds(const Module &other) const {
    return contents_ == other.contents_ ||
           std::any_of(contents_->submodules.begin(), contents_->submodules.end(),
                       [&](const Module &m) { return m.holds(other); });
}

Module Module::resolve_submodules() const {
    Module all(contents_->module, contents_->target);
    for (const Module &submodule : contents_->submodules) {
        const Module resolved = submodule.resolve_submodules();
        internal::append_device_code(all.contents_->module, resolved.lowered());
        for (const LoweredBuffer &b : resolved.buffers()) {
            all.append(b);
        }
        all.set_any_strict_float(all.any_strict_float() || resolved.any_strict_float());
    }
    return all;
}

void Module::remap_metadata_name(const std::string &from, const std::string &to) const {
    contents_->module.metadata_names[from] = to;
}

MetadataNameMap Module::get_metadata_name_map() const {
    return contents_->module.metadata_names;
}

RuntimeNamespaceMap Module::get_runtime_prefixes_map() const {
    return contents_->module.runtime_prefixes;
}

void Module::set_runtime_prefixes_map(const RuntimeNamespaceMap &runtime_prefixes) {
    contents_->module.runtime_prefixes = runtime_prefixes;
}

void Module::compile(const std::map<OutputFileType, std::string> &output_files) const {
    const Module all = submodules().empty() ? *this : resolve_submodules();
    internal::write_files_together(
        internal::module_outputs(all.lowered(), all.target(), output_files));
}

void Module::set_auto_scheduler_results(const AutoSchedulerResults &results) {
    contents_->autoscheduled = results;
    internal::put_results(results, &contents_->module);
}

const AutoSchedulerResults *Module::get_auto_scheduler_results() const {
    return contents_->autoscheduled ? &*contents_->autoscheduled : nullptr;
}

std::string Module::compile_to_object_bytes() const {
    const Module all = resolve_submodules();
    return internal::emit_one(all, OutputFileType::object);
}

Buffer<uint8_t> Module::compile_to_buffer() const {
    return internal::buffer_of(compile_to_object_bytes(), name());
}

const LoweredModule &Module::lowered() const {
    return contents_->module;
}

Module link_modules(const std::string &name, const std::vector<Module> &modules) {
    user_assert(!modules.empty()) << "no modules to link";
    Module result(name, modules[0].target());
    for (const Module &m : modules) {
        user_assert(m.target() == result.target())
            << "module " << m.name() << " is for target " << m.target().to_string() << ", module "
            << modules[0].name() << " for " << result.target().to_string();
        result.append(m);
    }
    return result.resolve_submodules();
}

void compile_standalone_runtime(const std::string &filename, const Target &target,
                                const RuntimeNamespaceMap &runtime_prefixes) {
    internal::write_file_atomically(filename,
                                    internal::standalone_runtime_object(target, runtime_prefixes));
}

std::map<OutputFileType, std::string>
compile_standalone_runtime(const std::map<OutputFileType, std::string> &output_files,
                           const Target &target, const RuntimeNamespaceMap &runtime_prefixes) {
    std::map<OutputFileType, std::string> written;
    for (const auto &[type, path] : output_files) {
        if (type == OutputFileType::object) {
            compile_standalone_runtime(path, target, runtime_prefixes);
            written[type] = path;
        } else if (type == OutputFileType::static_library) {
            internal::write_file_atomically(path,
                                            internal::standalone_runtime(target, runtime_prefixes));
            written[type] = path;
        }
    }
    return written;
}

void create_static_library(const std::vector<std::string> &src_files, const Target &,
                           const std::string &dst_file, bool) {
    std::vector<std::pair<std::string, std::string>> members;
    for (const std::string &file : src_files) {
        members.emplace_back(internal::file_name_of(file), internal::read_file(file));
    }
    internal::write_file_atomically(dst_file, internal::make_static_library(members));
}

void compile_multitarget(const std::string &fn_name,
                         const std::map<OutputFileType, std::string> &output_files,
                         const std::vector<Target> &targets,
                         const std::vector<std::string> &suffixes,
                         const ModuleFactory &module_factory) {
    user_assert(suffixes.empty() || suffixes.size() == targets.size())
        << targets.size() << " targets have " << suffixes.size() << " suffixes";
    std::vector<std::pair<std::string, Target>> named;
    for (size_t i = 0; i < targets.size(); i++) {
        named.emplace_back(suffixes.empty() ? targets[i].to_string() : suffixes[i], targets[i]);
    }
    internal::write_files_together(internal::multitarget_outputs(
        fn_name, output_files, named, [&](const std::string &name, const Target &target) {
            return module_factory(name, target).lowered();
        }));
}

}  // namespace calotype
