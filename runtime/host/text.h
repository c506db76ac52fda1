// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Text: a message that is put together, of any length.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "runtime/abi/type.h"

namespace calotype::runtime {

/** Short ones need no heap. What a longer one finds no memory for is cut off with "...". */
class Text {
public:
    Text() {
        clear();
    }
    /** A sentence is a text. */
    Text(const char *text) : Text() {
        *this << text;
    }
    Text(const Text &other) : Text() {
        append(other.c_str(), other.size());
    }
    ~Text() {
        if (grown) {
            free(grown);
        }
    }
    Text &operator=(const Text &) = delete;

    Text &append(const char *text, size_t size);
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
        return grown ? grown : inside;
    }
    size_t size() const {
        return length;
    }
    bool empty() const {
        return length == 0;
    }
    void clear() {
        cut(0);
    }
    /** Leave the first so many characters. */
    void cut(size_t size) {
        (grown ? grown : inside)[length = size] = 0;
    }

private:
    char *grown = nullptr;
    size_t length = 0, capacity = sizeof inside;
    char inside[232];

    void make_room(size_t size);
};

}  // namespace calotype::runtime
