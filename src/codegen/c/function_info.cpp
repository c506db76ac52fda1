// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sstream>

#include "codegen/emit.h"
#include "codegen/symbol_name.h"

namespace calotype::internal {

namespace {

const char *kind_name(const LoweredArgument &a) {
    return a.is_output() ? "OutputBuffer" : a.is_buffer() ? "InputBuffer" : "InputScalar";
}

const char *code_name(const Type &t) {
    switch (t.code()) {
    case Type::Int:
        return "calotype_type_int";
    case Type::UInt:
        return "calotype_type_uint";
    case Type::Float:
        return "calotype_type_float";
    case Type::BFloat:
        return "calotype_type_bfloat";
    default:
        return "calotype_type_handle";
    }
}

void write_function(std::ostream &out, const LoweredModule &module, const LoweredFunction &f) {
    std::vector<std::string> parts = name_parts(f.name);
    const std::string name = parts.back();
    parts.pop_back();
    for (const std::string &part : parts) {
        out << "namespace " << part << " {\n";
    }
    out << "/// The arguments of " << f.name << ", in order.\n"
        << "inline constexpr std::array<::CalotypeFunctionInfo::ArgumentInfo, " << f.args.size()
        << "> " << name << "_argument_info() {\n    return {{\n";
    for (const LoweredArgument &a : f.args) {
        const auto shown = module.metadata_names.find(a.name);
        out << "        {\"" << (shown == module.metadata_names.end() ? a.name : shown->second)
            << "\", ::CalotypeFunctionInfo::" << kind_name(a) << ", " << int(a.dimensions)
            << ", calotype_type_t(" << code_name(a.type) << ", " << a.type.bits() << ", 1)},\n";
    }
    out << "    }};\n}\n";
    for (size_t i = 0; i < parts.size(); i++) {
        out << "}\n";
    }
}

}  // namespace

std::string function_info_header_text(const LoweredModule &module) {
    std::ostringstream out;
    out << "// Made by Calotype. Do not edit.\n#pragma once\n\n#include <array>\n\n"
        << "#include <calotype/runtime/cpp/function_info.h>\n"
        << "// For programs that were written for Halide, which have its folder of headers.\n"
        << "#if __has_include(\"HalideRuntime.h\")\n#include \"HalideRuntime.h\"\n#endif\n\n";
    for (const LoweredFunction &f : module.functions) {
        if (f.linkage != LinkageType::Internal) {
            write_function(out, module, f);
        }
    }
    return out.str();
}

}  // namespace calotype::internal
