// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The header and the registration file that go with compiled functions.
#include <set>
#include <sstream>

#include "codegen/emit.h"
#include "codegen/symbol_name.h"
#include "ir/conventions/names.h"
#include "support/text.h"

namespace calotype::internal {

namespace {

std::string parameter(const LoweredArgument &a) {
    if (a.is_buffer()) {
        return "struct calotype_buffer_t *_" + c_identifier(a.name) + "_buffer";
    }
    std::string name = a.name == names::user_context ? a.name : "_" + c_identifier(a.name);
    std::string type = c_type_name(a.type);
    return type + (type.back() == '*' ? "" : " ") + name;
}

std::string prototype(const LoweredFunction &f) {
    std::string text = "int " + simple_name(f.name) + "(";
    for (size_t i = 0; i < f.args.size(); i++) {
        text += (i > 0 ? ", " : "") + parameter(f.args[i]);
    }
    return text + (f.args.empty() ? "void)" : ")");
}

bool has_argv(const LoweredFunction &f) {
    return f.linkage == LinkageType::ExternalPlusArgv ||
           f.linkage == LinkageType::ExternalPlusMetadata;
}

void declare(std::ostream &out, const std::string &comment, const std::string &declaration) {
    out << "\n/** " << comment << " */\n"
        << "CALOTYPE_FUNCTION_ATTRS\n"
        << declaration << ";\n";
}

void declare_function(std::ostream &out, const LoweredFunction &f, bool has_device_code) {
    std::string name = simple_name(f.name);
    declare(out, "Returns 0 or an error code.", prototype(f));
    if (has_argv(f)) {
        declare(out,
                "The same, called with an array of pointers: to each scalar, and each "
                "calotype_buffer_t.",
                "int " + name + "_argv(void **args)");
    }
    if (has_argv(f) && has_device_code) {
        declare(out,
                "The device code that it launches, for calotype_prefetch() and the like: a list "
                "that ends with null.",
                "const struct calotype_module_desc *const *" + name + "_device_modules(void)");
    }
    if (f.linkage == LinkageType::ExternalPlusMetadata) {
        declare(out, "Describes the arguments.",
                "const struct calotype_filter_metadata_t *" + name + "_metadata(void)");
    }
}

void declare_classes(std::ostream &out, const LoweredFunction &f) {
    std::set<std::string> declared;
    for (const LoweredArgument &a : f.args) {
        const std::string one = a.is_buffer() ? "" : class_declaration(a.type);
        if (!one.empty() && declared.insert(one).second) {
            out << one << "\n";
        }
    }
}

/// The declarations, in the namespaces or the extern "C" that they need.
void declare_with_linkage(std::ostream &out, const LoweredFunction &f, const Target &target,
                          bool has_device_code) {
    std::vector<std::string> parts = name_parts(f.name);
    bool cpp = has_cpp_linkage(f, target);
    if (!cpp) {
        out << "\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n";
        declare_function(out, f, has_device_code);
        out << "\n#ifdef __cplusplus\n}  /* extern \"C\" */\n#endif\n";
        return;
    }
    out << "\n#ifdef __cplusplus\n";
    declare_classes(out, f);
    for (size_t i = 0; i + 1 < parts.size(); i++) {
        out << "namespace " << parts[i] << " {\n";
    }
    declare_function(out, f, has_device_code);
    for (size_t i = parts.size() - 1; i > 0; i--) {
        out << "}  // namespace " << parts[i - 1] << "\n";
    }
    out << "#endif  // __cplusplus\n";
}

const char *const preamble = R"(
#include <stdbool.h>
#include <stdint.h>

struct calotype_buffer_t;
struct calotype_filter_metadata_t;
struct calotype_module_desc;

#ifndef CALOTYPE_MUST_USE_RESULT
#if defined(__cplusplus)
#define CALOTYPE_MUST_USE_RESULT [[nodiscard]]
#elif defined(__GNUC__)
#define CALOTYPE_MUST_USE_RESULT __attribute__((warn_unused_result))
#else
#define CALOTYPE_MUST_USE_RESULT
#endif
#endif

/* Put in front of each declaration below, for attributes of your own. */
#ifndef CALOTYPE_FUNCTION_ATTRS
#ifdef HALIDE_FUNCTION_ATTRS
#define CALOTYPE_FUNCTION_ATTRS HALIDE_FUNCTION_ATTRS
#else
#define CALOTYPE_FUNCTION_ATTRS
#endif
#endif
)";

const char *const registration_preamble = R"(//
// Linked into a program that defines calotype_register_argv_and_metadata, this tells it of the
// functions below before main().
#include <cstddef>

struct calotype_filter_metadata_t;

#if defined(HALIDE_REGISTER_EXTRA_KEY_VALUE_PAIRS_FUNC) && \
    !defined(CALOTYPE_REGISTER_EXTRA_KEY_VALUE_PAIRS_FUNC)
#define CALOTYPE_REGISTER_EXTRA_KEY_VALUE_PAIRS_FUNC \
    HALIDE_REGISTER_EXTRA_KEY_VALUE_PAIRS_FUNC
#endif

extern "C" {
void calotype_register_argv_and_metadata(int (*filter_argv_call)(void **),
                                         const struct calotype_filter_metadata_t *filter_metadata,
                                         const char *const *extra_key_value_pairs);
#ifdef CALOTYPE_REGISTER_EXTRA_KEY_VALUE_PAIRS_FUNC
extern const char *const *CALOTYPE_REGISTER_EXTRA_KEY_VALUE_PAIRS_FUNC();
#endif
}
)";

/// An object whose constructor tells the program of the function.
void register_function(std::ostream &out, const LoweredFunction &f, const Target &target) {
    const std::vector<std::string> parts = name_parts(f.name);
    const std::string &name = parts.back();
    const bool is_cpp = has_cpp_linkage(f, target);
    const size_t namespaces = is_cpp ? parts.size() - 1 : 0;
    std::string scope = "::";
    out << "\n" << (is_cpp ? "" : "extern \"C\" {\n");
    for (size_t i = 0; i < namespaces; i++) {
        out << "namespace " << parts[i] << " {\n";
        scope += parts[i] + "::";
    }
    out << "int " << name << "_argv(void **args);\n"
        << "const struct calotype_filter_metadata_t *" << name << "_metadata();\n";
    for (size_t i = 0; i < (is_cpp ? namespaces : 1); i++) {
        out << "}\n";
    }
    out << "\nnamespace {\n"
        << "struct Register_" << name << " {\n"
        << "    Register_" << name << "() {\n"
        << "#ifdef CALOTYPE_REGISTER_EXTRA_KEY_VALUE_PAIRS_FUNC\n"
        << "        const char *const *extra = CALOTYPE_REGISTER_EXTRA_KEY_VALUE_PAIRS_FUNC();\n"
        << "#else\n"
        << "        const char *const *extra = nullptr;\n"
        << "#endif\n"
        << "        calotype_register_argv_and_metadata(" << scope << name << "_argv, " << scope
        << name << "_metadata(), extra);\n"
        << "    }\n"
        << "} register_" << name << ";\n"
        << "}  // namespace\n";
}

}  // namespace

std::string c_header_text(const LoweredModule &module, const Target &target) {
    std::ostringstream out;
    std::string guard = "CALOTYPE_GENERATED_" + c_identifier(module.name) + "_H";
    out << "/* Made by Calotype for " << module.target << ". Do not edit. */\n"
        << "#ifndef " << guard << "\n#define " << guard << "\n"
        << preamble;
    for (const LoweredFunction &f : module.functions) {
        if (f.linkage != LinkageType::Internal) {
            declare_with_linkage(out, f, target, !module.device_modules.empty());
        }
    }
    out << "\n#endif  /* " << guard << " */\n";
    return out.str();
}

std::string registration_text(const LoweredModule &module, const Target &target) {
    std::ostringstream out;
    out << "// Made by Calotype for " << module.target << ". Do not edit.\n"
        << registration_preamble;
    for (const LoweredFunction &f : module.functions) {
        if (f.linkage == LinkageType::ExternalPlusMetadata) {
            register_function(out, f, target);
        }
    }
    return out.str();
}

}  // namespace calotype::internal
