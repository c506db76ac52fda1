// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// C++ names follow the Itanium ABI, which all compilers but Microsoft's share: _Z, the name with
// its namespaces, then a code a parameter. What was spelled once is then referred to by number (S_,
// S0_, S1_, ...).
#include "codegen/symbol_name.h"

#include <cctype>

#include "codegen/pointee.h"
#include "support/error.h"
#include "support/text.h"

namespace calotype::internal {

namespace {

class ItaniumMangler {
public:
    std::string function(const std::vector<std::string> &name,
                         const std::vector<std::string> &parameters) {
        out_ = "_Z";
        if (name.size() > 1) {
            out_ += 'N';
            std::string prefix;
            for (size_t i = 0; i < name.size(); i++) {
                prefix += std::to_string(name[i].size()) + name[i];
                if (i + 1 < name.size()) {
                    remember(prefix);
                }
            }
            out_ += prefix + 'E';
        } else {
            out_ += std::to_string(name[0].size()) + name[0];
        }
        for (const std::string &p : parameters) {
            parameter(p);
        }
        return out_ + (parameters.empty() ? "v" : "");
    }

private:
    // "P" and a type, or a builtin's one letter.
    void parameter(const std::string &code) {
        if (code.size() == 1) {
            out_ += code;
        } else if (!refer(code)) {
            out_ += 'P';
            std::string pointee = code.substr(1);
            parameter_or_name(pointee);
            remember(code);
        }
    }

    void parameter_or_name(const std::string &code) {
        bool is_name = std::isdigit(static_cast<unsigned char>(code[0])) != 0;
        if (!is_name) {
            parameter(code);
        } else if (!refer(code)) {
            out_ += code;
            remember(code);
        }
    }

    bool refer(const std::string &code) {
        for (size_t i = 0; i < seen_.size(); i++) {
            if (seen_[i] == code) {
                out_ += i == 0 ? "S_" : "S" + base36(i - 1) + "_";
                return true;
            }
        }
        return false;
    }

    void remember(const std::string &code) {
        seen_.push_back(code);
    }

    static std::string base36(size_t n) {
        std::string digits;
        do {
            digits.insert(digits.begin(), "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[n % 36]);
            n /= 36;
        } while (n > 0);
        return digits;
    }

    std::string out_;
    std::vector<std::string> seen_;
};

const char *const buffer_code = "P17calotype_buffer_t";

std::string parameter_code(Type t) {
    if (t.is_handle()) {
        return points_to<calotype_buffer_t>(t) ? buffer_code : "Pv";
    }
    if (t.is_bool()) {
        return "b";
    }
    if (t.is_float() && t.bits() >= 32) {
        return t.bits() == 32 ? "f" : "d";
    }
    switch (t.bits()) {
    case 8:
        return t.is_int() ? "a" : "h";
    case 16:
        return t.is_int() ? "s" : "t";
    case 32:
        return t.is_int() ? "i" : "j";
    default:
        return t.is_int() ? "l" : "m";
    }
}

std::string companion(const LoweredFunction &function, const Target &target, const char *suffix,
                      const std::vector<std::string> &parameters) {
    std::vector<std::string> parts = name_parts(function.name);
    parts.back() += suffix;
    if (has_cpp_linkage(function, target)) {
        return ItaniumMangler().function(parts, parameters);
    }
    return parts.back();
}

}  // namespace

bool has_cpp_linkage(const LoweredFunction &function, const Target &target) {
    if (function.name_mangling == NameMangling::Default) {
        return target.has_feature(Target::CPlusPlusMangling);
    }
    return function.name_mangling == NameMangling::CPlusPlus;
}

std::vector<std::string> name_parts(const std::string &name) {
    std::vector<std::string> parts;
    for (const std::string &part : split(name, "::")) {
        if (!part.empty()) {
            parts.push_back(part);
        }
    }
    internal_assert(!parts.empty()) << "a function without a name";
    return parts;
}

std::string simple_name(const std::string &name) {
    return name_parts(name).back();
}

std::string symbol_name(const LoweredFunction &function, const Target &target) {
    if (!has_cpp_linkage(function, target)) {
        return simple_name(function.name);
    }
    std::vector<std::string> parameters;
    for (const LoweredArgument &a : function.args) {
        parameters.push_back(a.is_buffer() ? buffer_code : parameter_code(a.type));
    }
    return ItaniumMangler().function(name_parts(function.name), parameters);
}

std::string cpp_symbol_name(const std::string &name, const std::vector<Type> &parameters) {
    std::vector<std::string> codes;
    for (const Type &t : parameters) {
        codes.push_back(parameter_code(t));
    }
    return ItaniumMangler().function(name_parts(name), codes);
}

std::string argv_symbol_name(const LoweredFunction &function, const Target &target) {
    return companion(function, target, "_argv", {"PPv"});
}

std::string metadata_symbol_name(const LoweredFunction &function, const Target &target) {
    return companion(function, target, "_metadata", {});
}

std::string device_modules_symbol_name(const LoweredFunction &function, const Target &target) {
    return companion(function, target, "_device_modules", {});
}

std::string c_type_name(const Type &t) {
    if (t.is_handle()) {
        return t.handle_type ? t.handle_type->cpp_name : "void *";
    }
    if (t.is_bool()) {
        return "bool";
    }
    if (t.is_float() && t.bits() >= 32) {
        return t.bits() == 32 ? "float" : "double";
    }
    return std::string(t.is_int() ? "int" : "uint") + std::to_string(t.bits()) + "_t";
}

std::string c_identifier(const std::string &name) {
    std::string result;
    for (char c : name) {
        result += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
    }
    if (result.empty() || std::isdigit(static_cast<unsigned char>(result[0]))) {
        result.insert(result.begin(), '_');
    }
    return result;
}

}  // namespace calotype::internal
