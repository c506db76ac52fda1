// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/cuda/device_symbols.h"

#include <string.h>

namespace calotype::runtime {

namespace {

// ---- PTX -------------------------------------------------------------------------------------

bool is_name_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$' || c == '%';
}

/** Words of PTX: names and directives, which begin at a '.', and every other character alone. */
struct Words {
    const char *at;
    const char *begin = nullptr;
    size_t length = 0;

    void skip_space_and_comments() {
        for (;;) {
            if (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r') {
                at++;
            } else if (at[0] == '/' && at[1] == '/') {
                at += strcspn(at, "\n");
            } else if (at[0] == '/' && at[1] == '*') {
                const char *end = strstr(at + 2, "*/");
                at = end ? end + 2 : at + strlen(at);
            } else {
                return;
            }
        }
    }
    bool next() {
        skip_space_and_comments();
        begin = at;
        const bool is_mark = *at != '.' && !is_name_char(*at);
        at += *at ? 1 : 0;
        while (!is_mark && is_name_char(*at)) {
            at++;
        }
        length = size_t(at - begin);
        return length > 0;
    }
    bool is(const char *word) const {
        return strlen(word) == length && memcmp(begin, word, length) == 0;
    }
    /** After an opening bracket, behind the closing one. */
    void skip_brackets() {
        for (int depth = 1; depth > 0 && next();) {
            depth += is("(") - is(")");
        }
    }
};

/** Whether there is one behind the name of a function, which else is declared alone. */
bool has_body(Words words) {
    while (words.next() && !words.is(";")) {
        if (words.is("{")) {
            return true;
        }
    }
    return false;
}

/** `.visible .func (results) name`, `.visible .entry name`, `.visible .global .align 4 .b32 name`.
 */
bool visit_ptx(const char *text, FoundSymbol found) {
    Words words{text};
    bool is_visible = false;
    while (words.next()) {
        const bool is_function = words.is(".func") || words.is(".entry");
        if (is_visible && (is_function || words.is(".global") || words.is(".const"))) {
            bool more = words.next();
            while (more && (words.begin[0] == '.' || words.is("("))) {
                const bool has_number = words.is(".align");
                if (words.is("(")) {
                    words.skip_brackets();
                }
                more = words.next() && (!has_number || words.next());
            }
            const bool is_definition = more && (!is_function || has_body(words));
            if (is_definition && !found(words.begin, words.length)) {
                return false;
            }
        }
        is_visible = words.is(".visible");
    }
    return true;
}

}  // namespace

void find_ptx_kernels(const char *text, void (*found)(const char *, size_t, void *), void *data) {
    Words words{text};
    while (words.next()) {
        if (words.is(".entry") && words.next() && has_body(words)) {
            found(words.begin, words.length, data);
        }
    }
}

namespace {

// ---- cubins ----------------------------------------------------------------------------------

constexpr uint64_t section_bytes = 64, symbol_bytes = 24;

/** Those of one table that others see, that are strong, and that are defined here. */
bool visit_symbols(const FileBytes &elf, uint64_t table, uint64_t strings, FoundSymbol found) {
    const uint64_t first = elf.number(table + 24, 8), bytes = elf.number(table + 32, 8);
    const uint64_t names = elf.number(strings + 24, 8), name_bytes = elf.number(strings + 32, 8);
    if (!elf.has(first, bytes) || !elf.has(names, name_bytes)) {
        return true;
    }
    for (uint64_t at = first; at + symbol_bytes <= first + bytes; at += symbol_bytes) {
        constexpr uint64_t is_global = 1, is_object = 1, is_function = 2;
        const uint64_t name = elf.number(at, 4), info = elf.number(at + 4, 1);
        const bool is_wanted = info >> 4 == is_global &&
                               ((info & 15) == is_object || (info & 15) == is_function) &&
                               elf.number(at + 6, 2) != 0 && name < name_bytes;
        if (is_wanted) {
            const char *text = reinterpret_cast<const char *>(elf.bytes + names + name);
            if (!found(text, strnlen(text, size_t(name_bytes - name)))) {
                return false;
            }
        }
    }
    return true;
}

bool visit_elf(const FileBytes &elf, FoundSymbol found) {
    constexpr uint64_t symbol_table = 2;
    const uint64_t sections = elf.number(40, 8), n = elf.number(60, 2);
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t section = sections + i * section_bytes;
        const uint64_t strings = sections + elf.number(section + 40, 4) * section_bytes;
        if (elf.number(section + 4, 4) == symbol_table && elf.has(section, section_bytes) &&
            elf.has(strings, section_bytes) && !visit_symbols(elf, section, strings, found)) {
            return false;
        }
    }
    return true;
}

}  // namespace

bool for_each_definition(const calotype_image &image, FoundSymbol found) {
    if (image.kind == CALOTYPE_PTX) {
        return visit_ptx(static_cast<const char *>(image.data), found);
    }
    if (image.kind == CALOTYPE_CUBIN) {
        return visit_elf(bytes_of(image), found);
    }
    return true;
}

}  // namespace calotype::runtime
