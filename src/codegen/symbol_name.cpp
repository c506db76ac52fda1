// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// C++ names follow the Itanium ABI, which all compilers but Microsoft's share: _Z, the name with
// its namespaces, then a code a parameter. What was spelled once is then referred to by number (S_,
// S0_, S1_, ...).
#include "codegen/symbol_name.h"

#include <cctype>
#include <map>
#include <sstream>

#include "codegen/pointee.h"
#include "ir/conventions/names.h"
#include "support/error.h"
#include "support/text.h"

namespace calotype::internal {

namespace {

/// "1a", "1b", "1f" of a::b::f; std is "St" and a part of what is in it.
std::vector<std::string> part_codes(const std::vector<std::string> &name) {
    std::vector<std::string> codes;
    const bool is_in_std = name.size() > 1 && name[0] == "std";
    for (size_t i = is_in_std ? 1 : 0; i < name.size(); i++) {
        codes.push_back((is_in_std && i == 1 ? "St" : "") + std::to_string(name[i].size()) +
                        name[i]);
    }
    return codes;
}

class ItaniumMangler {
public:
    std::string function(const std::vector<std::string> &name,
                         const std::vector<std::string> &parameters) {
        const std::vector<std::string> codes = part_codes(name);
        std::string prefix;
        for (size_t i = 0; i < codes.size(); i++) {
            prefix += codes[i];
            if (i + 1 < codes.size()) {
                remember(prefix);
            }
        }
        out_ = "_Z" + (codes.size() > 1 ? "N" + prefix + "E" : prefix);
        for (const std::string &p : parameters) {
            parameter(p);
        }
        return out_ + (parameters.empty() ? "v" : "");
    }

private:
    // A type, what it qualifies or points to after each "P", "K" or "VK", or a builtin's one letter.
    void parameter(const std::string &code) {
        if (code.size() == 1) {
            out_ += code;
        } else if (!refer(code)) {
            const size_t prefix =
                code[0] == 'N' ? 0 : code.find_first_not_of("VK") + (code[0] == 'P');
            const bool is_name = code[0] == 'N' || code[0] == 'S' || is_digit(code[0]);
            if (is_name) {
                name(code);
            } else {
                out_ += code.substr(0, prefix);
                parameter(code.substr(prefix));
            }
            remember(code);
        }
    }

    /// "3foo" or "St3foo", or "N1a1b3fooE", whose namespaces are then known, too.
    void name(const std::string &code) {
        if (code[0] != 'N') {
            out_ += code;
            return;
        }
        const std::string inside = code.substr(1, code.size() - 2);
        std::vector<size_t> ends;
        for (size_t at = inside[0] == 'S' ? 2 : 0; at < inside.size();) {
            size_t digits = 0;
            const size_t length = std::stoul(inside.substr(at), &digits);
            ends.push_back(at += digits + length);
        }
        out_ += 'N';
        size_t known = 0;
        for (size_t i = ends.size() - 1; i-- > 0 && known == 0;) {
            known = refer(inside.substr(0, ends[i])) ? i + 1 : 0;
        }
        for (size_t i = known; i < ends.size(); i++) {
            const size_t begin = i == 0 ? 0 : ends[i - 1];
            out_ += inside.substr(begin, ends[i] - begin);
            if (i + 1 < ends.size()) {
                remember(inside.substr(0, ends[i]));
            }
        }
        out_ += 'E';
    }

    static bool is_digit(char c) {
        return std::isdigit(static_cast<unsigned char>(c)) != 0;
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

/// The code of a type by its name in C++, which has no pointers and no qualifiers.
std::string named_code(const std::string &name) {
    static const std::map<std::string, std::string> builtin = {
        {"void", "v"},     {"bool", "b"},     {"char", "c"},    {"int8_t", "a"},   {"uint8_t", "h"},
        {"int16_t", "s"},  {"uint16_t", "t"}, {"int32_t", "i"}, {"uint32_t", "j"}, {"int64_t", "l"},
        {"uint64_t", "m"}, {"float", "f"},    {"double", "d"}};
    const auto it = builtin.find(name);
    if (it != builtin.end()) {
        return it->second;
    }
    const std::vector<std::string> codes = part_codes(name_parts(name));
    const std::string code = join(codes, "");
    return codes.size() > 1 ? "N" + code + "E" : code;
}

/// The code of "struct a::b const *".
std::string handle_code(const HandleType *type) {
    std::string name = "void", qualifiers;
    std::istringstream words(type ? type->cpp_name : "");
    for (std::string word; words >> word;) {
        if (word == "const") {
            qualifiers += 'K';
        } else if (word == "volatile") {
            qualifiers.insert(0, "V");
        } else if (word != "*" && word != "class" && word != "struct" && word != "union") {
            name = word;
        }
    }
    return "P" + qualifiers + named_code(name);
}

std::string parameter_code(Type t) {
    if (t.is_handle()) {
        return points_to<calotype_buffer_t>(t) ? buffer_code : handle_code(t.handle_type);
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

std::string symbol_name_of_callers(const LoweredFunction &function, const Target &target) {
    LoweredFunction same = function;
    for (LoweredArgument &a : same.args) {
        if (a.name == names::user_context) {
            a.type = Handle();
        }
    }
    return symbol_name(same, target);
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

std::string in_namespaces(const std::vector<std::string> &parts, const std::string &declaration) {
    std::string text, end;
    for (size_t i = 0; i + 1 < parts.size(); i++) {
        text += "namespace " + parts[i] + " { ";
        end += " }";
    }
    return text + declaration + end;
}

std::string class_declaration(const Type &t) {
    std::istringstream words(t.is_handle() && t.handle_type ? t.handle_type->cpp_name : "");
    std::string kind, name;
    words >> kind >> name;
    if (kind != "class" && kind != "struct" && kind != "union") {
        return "";
    }
    const std::vector<std::string> parts = name_parts(name);
    return in_namespaces(parts, kind + " " + parts.back() + ";");
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
