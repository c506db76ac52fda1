// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A lowered module as one C++17 file that needs nothing but the runtime to link with.
#include <regex>
#include <sstream>

#include "codegen/c/c_writer.h"
#include "codegen/emit.h"
#include "codegen/runtime_names.h"
#include "codegen/symbol_name.h"
#include "ir/constants.h"
#include "ir/conventions/names.h"
#include "legalize/legalize.h"
#include "support/error.h"

namespace calotype::internal {

namespace {

/// As the header that goes with the file declares it: C++ functions have the types of handles.
std::string parameter_type(const LoweredArgument &a, bool cpp) {
    if (a.is_buffer()) {
        return "calotype_buffer_t *";
    }
    return cpp ? CWriter::parameter_type_name(a.type) : CWriter::type_name(a.type);
}

std::string parameters(const LoweredFunction &f, bool cpp) {
    std::string text;
    for (size_t i = 0; i < f.args.size(); i++) {
        std::string type = parameter_type(f.args[i], cpp);
        text +=
            (i > 0 ? ", " : "") + type + (type.back() == '*' ? "" : " ") + "a" + std::to_string(i);
    }
    return text;
}

void write_argv(std::ostream &out, const LoweredFunction &f, const std::string &name, bool cpp) {
    out << "int " << name << "_argv(void **args) {\n    return " << name << "(";
    for (size_t i = 0; i < f.args.size(); i++) {
        const LoweredArgument &a = f.args[i];
        std::string slot = "args[" + std::to_string(i) + "]";
        std::string type = a.type.is_handle() ? "void *" : CWriter::type_name(a.type);
        out << (i > 0 ? ", " : "")
            << (cpp && a.type.is_handle() && !a.is_buffer() ? "(" + parameter_type(a, cpp) + ")"
                                                            : "")
            << (a.is_buffer() ? "static_cast<calotype_buffer_t *>(" + slot + ")"
                              : "*static_cast<" + type + (type.back() == '*' ? "*" : " *") + ">(" +
                                    slot + ")");
    }
    out << ");\n}\n\n";
}

/// A static constant holding the value in its low bytes, or "nullptr".
std::string constant(std::ostream &out, const Expr &e, Type t, const std::string &name) {
    if (!e.defined() || t.is_handle() || !is_const(e)) {
        return "nullptr";
    }
    auto integer = as_const_int(e);
    auto real = as_const_float(e);
    std::string type = t.is_float() && t.bits() == 16 ? "float" : CWriter::type_name(t);
    out << "static const " << type << " " << name << " = ";
    if (real) {
        out << std::hexfloat << *real << std::defaultfloat;
    } else {
        out << (integer ? std::to_string(*integer)
                        : std::to_string(as_const_uint(e).value_or(0)) + "u");
    }
    out << ";\n";
    return "&" + name;
}

void write_metadata(std::ostream &out, const LoweredModule &module, const LoweredFunction &f,
                    const std::string &name) {
    std::ostringstream rows;
    for (size_t i = 0; i < f.args.size(); i++) {
        const LoweredArgument &a = f.args[i];
        const ArgumentEstimates &e = a.argument_estimates;
        std::string prefix = name + "_argument_" + std::to_string(i), estimates = "nullptr";
        if (a.is_buffer() && a.dimensions > 0) {
            std::string list;
            for (size_t d = 0; d < a.dimensions; d++) {
                Range r = d < e.buffer_estimates.size() ? e.buffer_estimates[d] : Range();
                std::string key = prefix + "_" + std::to_string(d);
                list += constant(out, r.min, Int(64), key + "_min") + ", " +
                        constant(out, r.extent, Int(64), key + "_extent") + ", ";
            }
            out << "static const int64_t *const " << prefix << "_estimates[] = {" << list << "};\n";
            estimates = prefix + "_estimates";
        }
        auto renamed = module.metadata_names.find(a.name);
        Type t = a.type;
        rows << "    {\"" << (renamed == module.metadata_names.end() ? a.name : renamed->second)
             << "\", " << int(a.kind) << ", " << int(a.dimensions) << ", {" << int(t.code()) << ", "
             << t.bits() << ", " << t.lanes() << "}, "
             << constant(out, e.scalar_def, t, prefix + "_def") << ", "
             << constant(out, e.scalar_min, t, prefix + "_min") << ", "
             << constant(out, e.scalar_max, t, prefix + "_max") << ", "
             << constant(out, e.scalar_estimate, t, prefix + "_estimate") << ", " << estimates
             << "},\n";
    }
    std::string count = std::to_string(f.args.size());
    if (!f.args.empty()) {
        out << "static const calotype_filter_argument_t " << name << "_arguments[] = {\n"
            << rows.str() << "};\n";
    }
    out << "const calotype_filter_metadata_t *" << name << "_metadata() {\n"
        << "    static const calotype_filter_metadata_t metadata = {1, " << count << ", "
        << (f.args.empty() ? "nullptr" : name + "_arguments") << ", \"" << module.target << "\", \""
        << name << "\"};\n"
        << "    return &metadata;\n}\n\n";
}

void write_embedded_buffer(std::ostream &out, const LoweredBuffer &b, const std::string &name) {
    out << "alignas(" << b.alignment << ") static const uint8_t " << name << "_data[] = {";
    for (size_t i = 0; i < b.bytes.size(); i++) {
        out << (i % 24 == 0 ? "\n    " : "") << int(b.bytes[i]) << ",";
    }
    out << (b.bytes.empty() ? "0" : "") << "\n};\nstatic calotype_dimension_t " << name
        << "_shape[] = {";
    for (const LoweredBuffer::Dimension &d : b.dimensions) {
        out << "{" << d.min << ", " << d.extent << ", " << d.stride << ", 0}, ";
    }
    out << (b.dimensions.empty() ? "{0, 0, 0, 0}" : "") << "};\n"
        << "static calotype_buffer_t " << name << " = {0, nullptr, const_cast<uint8_t *>(" << name
        << "_data), 1, {" << int(b.type.code()) << ", " << b.type.bits() << ", 1}, "
        << b.dimensions.size() << ", " << name << "_shape, nullptr};\n\n";
}

/// The function, in its namespaces or as extern "C".
void write_function(std::ostream &out, CFile &file, const LoweredFunction &f,
                    const std::map<std::string, std::string> &embedded) {
    CWriter writer(file);
    const bool cpp = has_cpp_linkage(f, file.target);
    for (const auto &[name, text] : embedded) {
        writer.bind(name, text, Handle());
    }
    for (size_t i = 0; i < f.args.size(); i++) {
        const LoweredArgument &a = f.args[i];
        const std::string text = "a" + std::to_string(i);
        const bool pointer = a.is_buffer() || (cpp && a.type.is_handle());
        writer.bind(a.is_buffer() ? names::buffer(a.name) : a.name,
                    pointer ? "((void *)" + text + ")" : text, a.is_buffer() ? Handle() : a.type);
    }
    writer.emit(legalize(f.body, CWriter::capabilities()));
    out << file.functions.str();
    file.functions.str("");
    std::vector<std::string> parts = name_parts(f.name);
    std::string name = parts.back();
    for (const LoweredArgument &a : f.args) {
        out << (cpp && !a.is_buffer() ? class_declaration(a.type) : "");
    }
    for (size_t i = 0; cpp && i + 1 < parts.size(); i++) {
        out << "namespace " << parts[i] << " {\n";
    }
    out << (cpp ? "" : "extern \"C\" {\n");
    out << (f.linkage == LinkageType::Internal ? "static " : "") << "int " << name << "("
        << parameters(f, cpp) << ") {\n"
        << writer.text() << "    return 0;\n}\n\n";
    bool metadata = f.linkage == LinkageType::ExternalPlusMetadata;
    if (metadata || f.linkage == LinkageType::ExternalPlusArgv) {
        write_argv(out, f, name, cpp);
    }
    if (metadata) {
        write_metadata(out, file.module, f, name);
    }
    for (size_t i = 0; i < (cpp ? parts.size() - 1 : 1); i++) {
        out << "}\n";
    }
    out << "\n";
}

/// Declared in the preamble already.
bool in_preamble(const std::string &name) {
    return std::string(c_preamble).find(" " + name + "(") != std::string::npos ||
           std::string(c_preamble).find("*" + name + "(") != std::string::npos;
}

/// Whether float arithmetic must be done as it is written.
bool is_strict(const LoweredModule &module, const Target &target) {
    bool strict = target.has_feature(Target::StrictFloat);
    for (const LoweredFunction &f : module.functions) {
        strict = strict || contains_strict_float(f.body);
    }
    return strict;
}

/// Else compilers may make one operation of a product and a sum.
const char *const without_contraction = R"(
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif
)";

/// Scalars alone: vectors have no type in C.
void check_linked_functions(const LoweredModule &module) {
    for (const auto &[name, f] : module.linked.functions) {
        std::vector<Type> types = f.parameters;
        types.push_back(f.result);
        for (const Type &t : types) {
            user_assert(t.is_scalar()) << "function " << name << " takes or gives " << to_string(t)
                                       << ", which C++ source cannot pass: choose another output";
        }
    }
}

/// Macros by which calls of the runtime have the prefix of the module in their names.
std::string names_with_prefix(const CFile &file) {
    const std::string *prefix = prefix_of_calls(file.module.runtime_prefixes, file.target);
    if (!prefix) {
        return "";
    }
    std::set<std::string> names;
    const std::string preamble = c_preamble;
    const std::regex function("\\b(calotype_\\w+)\\(");
    for (std::sregex_iterator i(preamble.begin(), preamble.end(), function), end; i != end; ++i) {
        names.insert((*i)[1]);
    }
    for (const auto &entry : file.externs) {
        names.insert(entry.first);
    }
    std::string macros;
    for (const std::string &name : names) {
        const std::string renamed = name_with_prefix(name, *prefix);
        macros += renamed == name ? "" : "#define " + name + " " + renamed + "\n";
    }
    return macros;
}

}  // namespace

std::string c_source_text(const LoweredModule &module, const Target &target) {
    user_assert(module.device_modules.empty())
        << "pipeline " << module.name << " has kernels for "
        << to_string(module.device_modules[0].api)
        << ", which C++ source cannot hold: compile it to an object or a static library";
    check_linked_functions(module);
    CFile file{module, target, {}, {}, {}, 0};
    std::ostringstream functions, out;
    std::map<std::string, std::string> embedded;
    for (const LoweredBuffer &b : module.buffers) {
        std::string name = "image_" + c_identifier(b.name);
        write_embedded_buffer(functions, b, name);
        embedded[names::buffer(b.name)] = "((void *)&" + name + ")";
    }
    for (const LoweredFunction &f : module.functions) {
        write_function(functions, file, f, embedded);
    }
    out << "// Made by Calotype for " << module.target << ". Do not edit.\n"
        << names_with_prefix(file) << (is_strict(module, target) ? without_contraction : "")
        << c_preamble << "\nextern \"C\" {\n";
    for (const auto &[name, prototype] : file.externs) {
        if (!in_preamble(name)) {
            out << prototype << "\n";
        }
    }
    out << "}\n\n";
    for (const std::string &declaration : file.cpp_functions) {
        out << declaration << "\n";
    }
    out << (file.cpp_functions.empty() ? "" : "\n") << functions.str();
    return out.str();
}

}  // namespace calotype::internal
