// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/user_text.h"

#include <cstdint>

#include "support/error.h"

namespace calotype::internal {

namespace {

/// The bytes of the character at `i`, 0 if there is none of UTF-8 or it is a zero byte.
size_t character_length(std::string_view text, size_t i) {
    const auto first = uint8_t(text[i]);
    if (first < 0x80) {
        return first == 0 ? 0 : 1;
    }
    const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || i + length > text.size()) {
        return 0;
    }
    uint32_t code = first & (0x7fu >> length);
    for (size_t k = 1; k < length; k++) {
        const auto next = uint8_t(text[i + k]);
        if ((next & 0xc0) != 0x80) {
            return 0;
        }
        code = (code << 6) | (next & 0x3f);
    }
    const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    const bool is_surrogate = code >= 0xd800 && code < 0xe000;
    return code >= smallest[length] && code <= 0x10ffff && !is_surrogate ? length : 0;
}

}  // namespace

std::string printable(std::string_view text) {
    const char *const digits = "0123456789abcdef";
    std::string result;
    for (size_t i = 0; i < text.size();) {
        const size_t length = character_length(text, i);
        if (length > 0) {
            result += text.substr(i, length);
            i += length;
            continue;
        }
        const auto byte = uint8_t(text[i++]);
        result += {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
    }
    return result;
}

void check_characters(std::string_view kind, const std::string &name) {
    user_assert(name.find('\0') == std::string::npos)
        << "the name of " << kind << " " << name << " contains a zero byte";
    for (size_t i = 0; i < name.size();) {
        const size_t length = character_length(name, i);
        user_assert(length > 0) << "the name of " << kind << " " << name << " is not UTF-8";
        i += length;
    }
}

void check_name(std::string_view kind, const std::string &name) {
    user_assert(name.find('.') == std::string::npos)
        << "the name of " << kind << " " << name << " contains a dot, which is reserved";
    check_characters(kind, name);
}

}  // namespace calotype::internal
