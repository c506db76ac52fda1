// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/device/error_log.h"

#include <stdlib.h>
#include <string.h>

namespace calotype {
namespace runtime {

ErrorLog &ErrorLog::append(const char *added, size_t size) {
    if (length + size + 1 > capacity) {
        const size_t wanted = 2 * (length + size) + 64;
        char *grown = static_cast<char *>(realloc(text, wanted));
        if (!grown) {
            return *this;
        }
        text = grown;
        capacity = wanted;
    }
    memcpy(text + length, added, size);
    length += size;
    text[length] = 0;
    return *this;
}

ErrorLog &ErrorLog::operator<<(const char *added) {
    return append(added ? added : "(null)", added ? strlen(added) : 6);
}

ErrorLog &ErrorLog::operator<<(char c) {
    return append(&c, 1);
}

ErrorLog &ErrorLog::operator<<(uint64_t value) {
    char digits[20];
    size_t first = sizeof digits;
    do {
        digits[--first] = char('0' + value % 10);
        value /= 10;
    } while (value);
    return append(digits + first, sizeof digits - first);
}

ErrorLog &ErrorLog::operator<<(int64_t value) {
    if (value < 0) {
        *this << '-';
        return *this << (uint64_t(0) - uint64_t(value));
    }
    return *this << uint64_t(value);
}

void ErrorLog::clear() {
    length = 0;
    driver_result = 0;
    if (text) {
        text[0] = 0;
    }
}

}  // namespace runtime
}  // namespace calotype
