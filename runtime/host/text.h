// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Text: a short message put together on the stack, cut off with "..." if it gets too long.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "runtime/abi/type.h"

namespace calotype {
namespace runtime {

class Text {
public:
    Text() {
        text[0] = 0;
    }
    Text &operator<<(const char *s);
    Text &operator<<(char c);
    Text &operator<<(int64_t value);
    Text &operator<<(uint64_t value);
    Text &operator<<(int32_t value) {
        return *this << int64_t(value);
    }
    Text &operator<<(uint32_t value) {
        return *this << uint64_t(value);
    }
    /** As short as it can be and still read back as the same number. */
    Text &operator<<(double value);
    Text &operator<<(float value);
    Text &operator<<(const void *pointer);
    /** "uint8", "float32x4". */
    Text &operator<<(const calotype_type_t &type);
    /** One value of the given type, one lane, read from memory. */
    Text &append_value(const calotype_type_t &type, const void *value);

    const char *c_str() const {
        return text;
    }
    size_t size() const {
        return length;
    }

private:
    static constexpr size_t capacity = 2048;
    char text[capacity];
    size_t length = 0;

    void append(const char *s, size_t count);
};

}  // namespace runtime
}  // namespace calotype
