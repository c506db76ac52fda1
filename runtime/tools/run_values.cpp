// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run_values.h"

#include <cerrno>
#include <climits>
#include <cstdlib>

namespace calotype {
namespace run {

namespace {

[[noreturn]] void fail_value(const std::string &what, const std::string &text,
                             const std::string &wanted) {
    fail(what + " is \"" + text + "\", must be " + wanted);
}

uint64_t parse_unsigned(const std::string &what, const std::string &text, uint64_t max) {
    char *end = nullptr;
    errno = 0;
    const uint64_t value = strtoull(text.c_str(), &end, 0);
    if (text.empty() || text.find('-') != std::string::npos || *end || errno || value > max) {
        fail_value(what, text, "an integer from 0 to " + std::to_string(max));
    }
    return value;
}

}  // namespace

void fail(const std::string &message) {
    throw std::runtime_error(message);
}

std::vector<std::string> split(const std::string &text, char separator) {
    std::vector<std::string> parts;
    size_t begin = 0;
    for (size_t end; (end = text.find(separator, begin)) != std::string::npos; begin = end + 1) {
        parts.push_back(text.substr(begin, end - begin));
    }
    parts.push_back(text.substr(begin));
    return parts;
}

std::string name_of_type(calotype_type_t type) {
    if (type.code == calotype_type_handle) {
        return "handle";
    }
    if (type.code == calotype_type_uint && type.bits == 1) {
        return "bool";
    }
    static const char *const names[] = {"int", "uint", "float", "handle", "bfloat"};
    return names[type.code] + std::to_string(type.bits);
}

int64_t parse_int(const std::string &what, const std::string &text, int64_t min, int64_t max) {
    char *end = nullptr;
    errno = 0;
    const int64_t value = strtoll(text.c_str(), &end, 0);
    if (text.empty() || *end || errno || value < min || value > max) {
        fail_value(what, text,
                   "an integer from " + std::to_string(min) + " to " + std::to_string(max));
    }
    return value;
}

double parse_float(const std::string &what, const std::string &text) {
    char *end = nullptr;
    const double value = strtod(text.c_str(), &end);
    if (text.empty() || *end) {
        fail_value(what, text, "a number");
    }
    return value;
}

bool parse_bool(const std::string &what, const std::string &text) {
    if (text.empty() || text == "true" || text == "1") {
        return true;
    }
    if (text != "false" && text != "0") {
        fail_value(what, text, "true or false");
    }
    return false;
}

std::vector<int> parse_extents(const std::string &what, const std::string &text) {
    if (text.size() < 2 || text.front() != '[' || text.back() != ']') {
        fail_value(what, text, "like [640,480]");
    }
    std::vector<int> extents;
    if (text != "[]") {
        for (const std::string &part : split(text.substr(1, text.size() - 2), ',')) {
            extents.push_back(int(parse_int("an extent of " + what, part, 0, INT_MAX)));
        }
    }
    return extents;
}

calotype_scalar_value_t parse_value(const std::string &what, const std::string &text,
                                    calotype_type_t type) {
    calotype_scalar_value_t value;
    const int bits = type.bits;
    if (type.code == calotype_type_float && bits == 32) {
        value.u.f32 = float(parse_float(what, text));
    } else if (type.code == calotype_type_float && bits == 64) {
        value.u.f64 = parse_float(what, text);
    } else if (type.code == calotype_type_uint && bits == 1) {
        value.u.b = parse_bool(what, text);
    } else if (type.code == calotype_type_uint) {
        value.u.u64 = parse_unsigned(what, text, UINT64_MAX >> (64 - bits));
    } else if (type.code == calotype_type_int) {
        const int64_t max = INT64_MAX >> (64 - bits);
        const int64_t parsed = parse_int(what, text, -max - 1, max);
        // Of little-endian machines, as all that pipelines run on: the low bytes are the value.
        value.u.i64 = parsed;
    } else {
        fail(what + " is of type " + name_of_type(type) + ", which cannot be given as text");
    }
    return value;
}

}  // namespace run
}  // namespace calotype
