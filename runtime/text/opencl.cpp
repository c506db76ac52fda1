// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels given as OpenCL C and launched by name.
#include <string.h>

#include "runtime/abi/runtime_opencl.h"
#include "runtime/text/text_modules.h"

using namespace calotype::runtime;

namespace {

bool is_of_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/** Names and single characters, without comments, literals and directives. */
class Words {
    const char *next_char;
    bool begins_line = true;

    void skip_to(const char *end) {
        const char *found = strstr(next_char, end);
        next_char = found ? found + strlen(end) : next_char + strlen(next_char);
    }
    /** With a backslash in front a character ends nothing. */
    void skip_past(char end) {
        for (next_char++; *next_char && *next_char != end; next_char++) {
            next_char += *next_char == '\\' && next_char[1];
        }
        next_char += *next_char != 0;
    }
    /** Whether something was skipped. */
    bool skip() {
        const char c = *next_char;
        if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
            begins_line |= c == '\n';
            next_char++;
        } else if (c == '/' && next_char[1] == '*') {
            next_char += 2;
            skip_to("*/");
        } else if (c == '/' && next_char[1] == '/') {
            skip_past('\n');
            begins_line = true;
        } else if (c == '#' && begins_line) {
            skip_past('\n');
        } else if (c == '"' || c == '\'') {
            skip_past(c);
        } else {
            return false;
        }
        return true;
    }

public:
    const char *begin = "";
    size_t length = 0;

    explicit Words(const char *text) : next_char(text) {
    }
    /** False: there is none. */
    bool next() {
        while (*next_char && skip()) {
        }
        begins_line = false;
        begin = next_char;
        while (is_of_name(*next_char)) {
            next_char++;
        }
        next_char += begin == next_char && *next_char;
        length = size_t(next_char - begin);
        return length > 0;
    }
    bool is(const char *word) const {
        return strlen(word) == length && memcmp(begin, word, length) == 0;
    }
    /** After an opening parenthesis: past the one that closes it. */
    void skip_parentheses() {
        for (int depth = 1; depth > 0 && next();) {
            depth += is("(") ? 1 : is(")") ? -1 : 0;
        }
    }
};

/** After the word `__kernel`: its name, if it has a body. */
bool find_name(Words &words, const char **name, size_t *length) {
    bool is_attribute = false, has_parameters = false;
    while (words.next() && !words.is(";") && !words.is("{")) {
        if (words.is("(")) {
            has_parameters |= !is_attribute;
            is_attribute = false;
            words.skip_parentheses();
        } else if (words.is("__attribute__")) {
            is_attribute = true;
        } else if (!has_parameters) {
            is_attribute = false;
            *name = words.begin;
            *length = words.length;
        }
    }
    return has_parameters && words.is("{");
}

void find_kernels(const char *text, void (*found)(const char *, size_t, void *), void *data) {
    Words words(text);
    while (words.next()) {
        const char *name = "";
        size_t length = 0;
        if ((words.is("__kernel") || words.is("kernel")) && find_name(words, &name, &length)) {
            found(name, length, data);
        }
    }
}

constexpr TextKind opencl_c = {CALOTYPE_OPENCL_C, 0, calotype_opencl_device_interface,
                               find_kernels};

}  // namespace

CALOTYPE_TEXT_KERNELS(opencl, opencl_c)
