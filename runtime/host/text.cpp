// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/host/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/abi/debug.h"

namespace calotype::runtime {

void Text::make_room(size_t size) {
    const size_t wanted = 2 * size;
    char *memory = static_cast<char *>(realloc(grown, wanted));
    if (memory) {
        if (!grown) {
            memcpy(memory, inside, length + 1);
        }
        grown = memory;
        capacity = wanted;
    }
}

Text &Text::append(const char *s, size_t count) {
    if (length + count >= capacity) {
        make_room(length + count + 1);
    }
    const size_t room = capacity - 1 - length;
    const bool is_cut = count > room;
    count = is_cut ? room : count;
    char *const text = grown ? grown : inside;
    memcpy(text + length, s, count);
    length += count;
    text[length] = 0;
    if (is_cut) {
        memcpy(text + capacity - 4, "...", 4);
    }
    return *this;
}

Text &Text::operator<<(const char *s) {
    s = s ? s : "(null)";
    return append(s, strlen(s));
}

Text &Text::operator<<(char c) {
    return append(&c, 1);
}

Text &Text::operator<<(int64_t value) {
    if (value < 0) {
        *this << '-';
        return *this << (uint64_t(0) - uint64_t(value));
    }
    return *this << uint64_t(value);
}

Text &Text::operator<<(uint64_t value) {
    char digits[20];
    size_t first = sizeof digits;
    do {
        digits[--first] = char('0' + value % 10);
        value /= 10;
    } while (value);
    return append(digits + first, sizeof digits - first);
}

/** The digits as every locale but one would write them. */
static void use_decimal_point(char *digits) {
    for (char *c = digits; *c; c++) {
        *c = *c == ',' ? '.' : *c;
    }
}

Text &Text::operator<<(double value) {
    char digits[40];
    for (int precision = 6; precision <= 17; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, value);
        if (isnan(value) || strtod(digits, nullptr) == value) {
            break;
        }
    }
    use_decimal_point(digits);
    return *this << digits;
}

Text &Text::operator<<(float value) {
    char digits[40];
    for (int precision = 6; precision <= 9; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, double(value));
        if (isnan(value) || strtof(digits, nullptr) == value) {
            break;
        }
    }
    use_decimal_point(digits);
    return *this << digits;
}

Text &Text::operator<<(const void *pointer) {
    char digits[32];
    return append(digits, size_t(snprintf(digits, sizeof digits, "%p", pointer)));
}

Text &Text::operator<<(const calotype_type_t &type) {
    static const char *const names[] = {"int", "uint", "float", "handle", "bfloat"};
    const unsigned code = unsigned(type.code);
    if (code < sizeof names / sizeof names[0]) {
        *this << names[code];
    } else {
        *this << "type" << code << '_';
    }
    if (type.code != calotype_type_handle) {
        *this << unsigned(type.bits);
    }
    if (type.lanes != 1) {
        *this << 'x' << unsigned(type.lanes);
    }
    return *this;
}

/** Read a T from memory that need not be aligned. */
template<typename T>
static T load(const void *p) {
    T value;
    memcpy(&value, p, sizeof value);
    return value;
}

static Text &append_int(Text &text, int bytes, const void *p) {
    switch (bytes) {
    case 1:
        return text << int64_t(load<int8_t>(p));
    case 2:
        return text << int64_t(load<int16_t>(p));
    case 4:
        return text << int64_t(load<int32_t>(p));
    default:
        return text << load<int64_t>(p);
    }
}

static Text &append_uint(Text &text, int bytes, const void *p) {
    switch (bytes) {
    case 1:
        return text << uint64_t(load<uint8_t>(p));
    case 2:
        return text << uint64_t(load<uint16_t>(p));
    case 4:
        return text << uint64_t(load<uint32_t>(p));
    default:
        return text << load<uint64_t>(p);
    }
}

static Text &append_float(Text &text, int bytes, const void *p) {
    switch (bytes) {
    case 2:
        return text << calotype_float16_bits_to_float(load<uint16_t>(p));
    case 4:
        return text << load<float>(p);
    default:
        return text << load<double>(p);
    }
}

Text &Text::append_value(const calotype_type_t &type, const void *value) {
    switch (type.code) {
    case calotype_type_int:
        return append_int(*this, type.bytes(), value);
    case calotype_type_uint:
        return append_uint(*this, type.bytes(), value);
    case calotype_type_float:
        return append_float(*this, type.bytes(), value);
    case calotype_type_bfloat: {
        const uint32_t bits = uint32_t(load<uint16_t>(value)) << 16;
        return *this << load<float>(&bits);
    }
    case calotype_type_handle:
        return *this << load<const void *>(value);
    }
    return *this << '?';
}

}  // namespace calotype::runtime
