// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/emit.h"

#include <optional>

#include <llvm/Object/Archive.h>
#include <llvm/Object/ArchiveWriter.h>
#include <llvm/Support/MemoryBuffer.h>

#include "codegen/module.h"
#include "codegen/symbol_name.h"
#include "ir/printer.h"
#include "support/error.h"

namespace calotype::internal {

namespace {

bool needs_code(OutputFileType type) {
    switch (type) {
    case OutputFileType::assembly:
    case OutputFileType::bitcode:
    case OutputFileType::llvm_assembly:
    case OutputFileType::object:
    case OutputFileType::static_library:
        return true;
    default:
        return false;
    }
}

bool is_of_devices(OutputFileType type) {
    switch (type) {
    case OutputFileType::cubin:
    case OutputFileType::cuda_source:
    case OutputFileType::device_code:
    case OutputFileType::device_report:
    case OutputFileType::ptx:
        return true;
    default:
        return false;
    }
}

std::string emit_device_output(OutputFileType type, const LoweredModule &module,
                               const Target &target, const std::vector<DeviceCode> &codes) {
    switch (type) {
    case OutputFileType::cubin:
        return cubin_bytes(module, codes);
    case OutputFileType::cuda_source:
        return cuda_source_text(module, target);
    case OutputFileType::device_code:
        return device_code_text(module, codes);
    case OutputFileType::device_report:
        return device_report_text(module, target, codes);
    default:
        return ptx_text(module, codes);
    }
}

void warn_of_notes(const LoweredModule &module, const std::vector<DeviceCode> &codes) {
    for (size_t i = 0; i < codes.size(); i++) {
        for (const std::string &note : codes[i].notes) {
            user_warning << "pipeline " << module.name << ": " << note;
        }
    }
}

std::string emit_code(OutputFileType type, const LoweredModule &module,
                      const CompiledModule &code) {
    switch (type) {
    case OutputFileType::assembly:
        return code.assembly();
    case OutputFileType::bitcode:
        return code.bitcode();
    case OutputFileType::llvm_assembly:
        return code.llvm_assembly();
    case OutputFileType::object:
        return code.object();
    default:
        return make_static_library({{c_identifier(module.name) + ".o", code.object()}});
    }
}

std::string emit_text(OutputFileType type, const LoweredModule &module, const Target &target) {
    switch (type) {
    case OutputFileType::c_header:
        return c_header_text(module, target);
    case OutputFileType::c_source:
        return c_source_text(module, target);
    case OutputFileType::featurization:
        return module.featurization;
    case OutputFileType::function_info_header:
        return function_info_header_text(module);
    case OutputFileType::python_extension:
        return python_extension_text(module, target);
    case OutputFileType::pytorch_wrapper:
        return pytorch_wrapper_text(module, target);
    case OutputFileType::registration:
        return registration_text(module, target);
    case OutputFileType::schedule:
        return module.schedule_source.empty() ? "// No autoscheduler has written a schedule.\n"
                                              : module.schedule_source;
    case OutputFileType::stmt:
        return stmt_text(module);
    case OutputFileType::stmt_html:
        return stmt_html_text(module, stmt_text(module));
    case OutputFileType::conceptual_stmt:
        return conceptual_stmt_text(module);
    case OutputFileType::conceptual_stmt_html:
        return stmt_html_text(module, conceptual_stmt_text(module));
    default:
        internal_error << "a lowered module has no " << output_type_info(type).name;
    }
}

}  // namespace

bool can_emit(OutputFileType type) {
    switch (type) {
    case OutputFileType::c_header:
    case OutputFileType::c_source:
    case OutputFileType::conceptual_stmt:
    case OutputFileType::conceptual_stmt_html:
    case OutputFileType::featurization:
    case OutputFileType::function_info_header:
    case OutputFileType::python_extension:
    case OutputFileType::pytorch_wrapper:
    case OutputFileType::registration:
    case OutputFileType::schedule:
    case OutputFileType::stmt:
    case OutputFileType::stmt_html:
        return true;
    default:
        return needs_code(type) || is_of_devices(type);
    }
}

std::map<OutputFileType, std::string>
emit_outputs(const LoweredModule &module, const Target &target,
             const std::set<OutputFileType> &types,
             const std::function<void(bool is_device_code)> &begins) {
    const auto begin = [&](bool is_device_code) {
        if (begins) {
            begins(is_device_code);
        }
    };
    std::map<OutputFileType, std::string> result;
    std::optional<std::vector<DeviceCode>> device_codes;
    std::optional<CompiledModule> code;
    for (OutputFileType type : types) {
        if ((needs_code(type) || is_of_devices(type)) && !device_codes) {
            if (!module.device_modules.empty()) {
                begin(true);
            }
            device_codes = compile_device_modules(module, target);
            warn_of_notes(module, *device_codes);
        }
        if (needs_code(type) && !code) {
            begin(false);
            code.emplace(module, target, *device_codes);
        }
        result[type] = needs_code(type) ? emit_code(type, module, *code)
                       : is_of_devices(type)
                           ? emit_device_output(type, module, target, *device_codes)
                           : emit_text(type, module, target);
    }
    return result;
}

std::string make_static_library(const std::vector<std::pair<std::string, std::string>> &objects) {
    std::vector<llvm::NewArchiveMember> members;
    for (const auto &[name, bytes] : objects) {
        // The member refers to the bytes and the name; both outlive the writing.
        llvm::NewArchiveMember member(llvm::MemoryBufferRef(bytes, name));
        members.push_back(std::move(member));
    }
    auto archive = llvm::writeArchiveToBuffer(members, llvm::SymtabWritingMode::NormalSymtab,
                                              llvm::object::Archive::K_GNU, /*Deterministic=*/true,
                                              /*Thin=*/false);
    if (!archive) {
        internal_error << "cannot make a static library: " << llvm::toString(archive.takeError());
    }
    return (*archive)->getBuffer().str();
}

namespace {

template<typename T>
T read(llvm::Expected<T> value) {
    if (!value) {
        user_error << "not a static library: " << llvm::toString(value.takeError());
    }
    return std::move(*value);
}

}  // namespace

std::vector<std::pair<std::string, std::string>> read_static_library(std::string_view bytes) {
    const auto archive = read(llvm::object::Archive::create(llvm::MemoryBufferRef(bytes, "")));
    std::vector<std::pair<std::string, std::string>> members;
    llvm::Error error = llvm::Error::success();
    for (const llvm::object::Archive::Child &member : archive->children(error)) {
        members.emplace_back(read(member.getName()).str(), read(member.getBuffer()).str());
    }
    if (error) {
        user_error << "not a static library: " << llvm::toString(std::move(error));
    }
    return members;
}

namespace {

std::string kernel_text(const DeviceModule &module, const DeviceKernel &kernel) {
    std::string text = "kernel<" + std::string(to_string(module.api)) + "> " + kernel.name + "(";
    for (size_t i = 0; i < kernel.args.size(); i++) {
        const KernelArgument &a = kernel.args[i];
        text += (i > 0 ? ", " : "") + a.name + ": " + to_string(a.type) + (a.is_buffer ? "[]" : "");
    }
    return text + ") {\n" + (kernel.body.defined() ? to_string(kernel.body) : "") + "}\n";
}

std::string module_text(const LoweredModule &module, Stmt LoweredFunction::*body) {
    std::string text = "module name=" + module.name + ", target=" + module.target + "\n";
    for (const LoweredBuffer &b : module.buffers) {
        text += "buffer " + b.name + " = {" + std::to_string(b.bytes.size()) + " bytes of " +
                to_string(b.type) + "}\n";
    }
    for (const LoweredFunction &f : module.functions) {
        text += "func " + f.name + "(";
        for (size_t i = 0; i < f.args.size(); i++) {
            const LoweredArgument &a = f.args[i];
            text += i > 0 ? ", " : "";
            text += a.name + ": " + to_string(a.type);
            text += a.is_buffer() ? "[" + std::to_string(a.dimensions) + "]" : "";
        }
        text += ") {\n" + ((f.*body).defined() ? to_string(f.*body) : "") + "}\n";
    }
    return text;
}

}  // namespace

std::string conceptual_stmt_text(const LoweredModule &module) {
    return module_text(module, &LoweredFunction::conceptual);
}

std::string stmt_text(const LoweredModule &module) {
    std::string text = module_text(module, &LoweredFunction::body);
    for (const DeviceModule &m : module.device_modules) {
        for (const DeviceKernel &k : m.kernels) {
            text += kernel_text(m, k);
        }
    }
    return text;
}

}  // namespace calotype::internal
