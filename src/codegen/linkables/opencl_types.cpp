// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A declaration is sorted into qualifiers, words of a built-in type, stars and a name. A pointer is
// known by its star and the memory that it points to, whatever is there.
#include "codegen/linkables/opencl_types.h"

#include <algorithm>
#include <map>
#include <set>

#include "support/text.h"

namespace calotype::internal {

namespace {

using Words = std::vector<std::string>;

/// Of types of one word; vectors are those with a number after it, but for bool and void.
const std::map<std::string, Type> &named_types() {
    static const std::map<std::string, Type> types = {
        {"void", Type()},     {"bool", Bool()},     {"char", Int(8)},    {"uchar", UInt(8)},
        {"short", Int(16)},   {"ushort", UInt(16)}, {"int", Int(32)},    {"uint", UInt(32)},
        {"long", Int(64)},    {"ulong", UInt(64)},  {"half", Float(16)}, {"float", Float(32)},
        {"double", Float(64)}};
    return types;
}

bool is_one_of(const std::string &word, const std::set<std::string> &words) {
    return words.count(word) > 0;
}

/// Those of memory, with or without "__"; "" for other words.
std::string memory_of(const std::string &word) {
    const std::string plain = starts_with(word, "__") ? word.substr(2) : word;
    return is_one_of(plain, {"global", "local", "constant", "private", "generic"}) ? plain : "";
}

bool is_qualifier(const std::string &word) {
    return is_one_of(word, {"const", "volatile", "restrict", "__restrict", "static", "inline",
                            "extern", "__kernel", "kernel"});
}

std::optional<Type> vector_type(const std::string &word) {
    const size_t digits = word.find_first_of("0123456789");
    const std::string element = word.substr(0, digits),
                      lanes = word.substr(std::min(digits, word.size()));
    const auto found = named_types().find(element);
    if (found == named_types().end() || found->second.bits() < 8) {
        return std::nullopt;
    }
    return is_one_of(lanes, {"2", "3", "4", "8", "16"})
               ? std::optional(found->second.with_lanes(std::stoi(lanes)))
               : std::nullopt;
}

/// Of "unsigned", "short int" and the like; "long long" is none of OpenCL.
std::optional<Type> integer_type(const Words &words) {
    const auto count = [&](const char *word) {
        return std::count(words.begin(), words.end(), word);
    };
    const auto signs = count("unsigned") + count("signed");
    const auto sizes = count("char") + count("short") + count("long");
    const auto ints = count("int");
    if (signs > 1 || sizes > 1 || ints > 1 || (count("char") && ints) ||
        size_t(signs + sizes + ints) != words.size()) {
        return std::nullopt;
    }
    const int bits = count("char") ? 8 : count("short") ? 16 : count("long") ? 64 : 32;
    return count("unsigned") ? UInt(bits) : Int(bits);
}

bool is_integer_word(const std::string &word) {
    return is_one_of(word, {"unsigned", "signed", "char", "short", "int", "long"});
}

/// Takes the words of a type from the front.
std::optional<Type> take_type(Words &words) {
    size_t n = 0;
    while (n < words.size() && is_integer_word(words[n])) {
        n++;
    }
    std::optional<Type> type;
    if (n > 0) {
        type = integer_type(Words(words.begin(), words.begin() + long(n)));
    } else if (!words.empty()) {
        const auto found = named_types().find(words[0]);
        type = found == named_types().end() ? vector_type(words[0]) : found->second;
        n = 1;
    }
    words.erase(words.begin(), words.begin() + long(std::min(n, words.size())));
    return type;
}

bool is_name(const std::string &word) {
    return isalpha(uint8_t(word[0])) || word[0] == '_';
}

/// What is behind the last star: qualifiers and a name, if that.
bool is_behind_pointer(const Words &words, size_t star) {
    size_t names = 0;
    for (size_t i = star + 1; i < words.size(); i++) {
        if (!is_name(words[i])) {
            return false;
        }
        names += is_qualifier(words[i]) || !memory_of(words[i]).empty() ? 0 : 1;
    }
    return names <= 1;
}

/// Of one star. What it points to does not matter, but where that is; unless it is said, the version
/// of OpenCL says it.
std::optional<OpenclType> pointer_type(const Words &words, size_t star) {
    std::string memory;
    for (size_t i = 0; i < star; i++) {
        if (!is_name(words[i])) {
            return std::nullopt;
        }
        memory = memory.empty() ? memory_of(words[i]) : memory;
    }
    if (star == 0 || !is_behind_pointer(words, star)) {
        return std::nullopt;
    }
    if (memory.empty()) {
        return OpenclType{"a pointer", Handle()};
    }
    const bool is_passed = memory == "global" || memory == "generic";
    return OpenclType{"a pointer to __" + memory + " memory",
                      is_passed ? std::optional(Handle()) : std::nullopt};
}

}  // namespace

bool OpenclType::is(Type t) const {
    if (!type || type->is_handle() || t.is_handle()) {
        return type && type->is_handle() && t.is_handle();
    }
    const bool may_be_kept_as_another = t.is_float() && t.bits() == 16;
    return may_be_kept_as_another ? type->is_float() && type->lanes() == t.lanes() : *type == t;
}

std::optional<OpenclType> opencl_type(const std::vector<std::string> &words) {
    const auto star = std::find(words.begin(), words.end(), "*");
    if (star != words.end()) {
        return std::count(words.begin(), words.end(), "*") == 1
                   ? pointer_type(words, size_t(star - words.begin()))
                   : std::nullopt;
    }
    Words rest;
    std::copy_if(words.begin(), words.end(), std::back_inserter(rest),
                 [](const std::string &w) { return !is_qualifier(w) && memory_of(w).empty(); });
    const Words all = rest;
    const std::optional<Type> type = take_type(rest);
    const bool has_name = rest.size() == 1 && is_name(rest[0]) && !is_integer_word(rest[0]);
    if (!type || (!rest.empty() && !has_name)) {
        return std::nullopt;
    }
    return OpenclType{join(Words(all.begin(), all.end() - long(rest.size())), " "), type};
}

}  // namespace calotype::internal
