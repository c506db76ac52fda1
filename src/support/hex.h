// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bytes as hexadecimal digits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace calotype::internal {

/// Two lower-case digits a byte.
inline std::string hex_digits(const uint8_t *bytes, size_t size) {
    static constexpr char digits[] = "0123456789abcdef";
    std::string text(2 * size, '0');
    for (size_t i = 0; i < size; i++) {
        text[2 * i] = digits[bytes[i] >> 4];
        text[2 * i + 1] = digits[bytes[i] & 15];
    }
    return text;
}

/// 0 to 15 for a lower-case digit, -1 for anything else.
inline int hex_value(char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

}  // namespace calotype::internal
