// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions of OpenCL C: outside of all braces, a name, parameters in parentheses, and "{".
#include "codegen/linkables/symbols.h"

namespace calotype::internal {

namespace {

/// The source without comments and lines for the preprocessor.
std::string plain_text(const std::string &source) {
    std::string text;
    bool line_begins = true;
    for (size_t i = 0; i < source.size(); i++) {
        const bool is_directive = line_begins && source[i] == '#';
        if (is_directive || source.compare(i, 2, "//") == 0) {
            size_t end = source.find('\n', i);
            while (is_directive && end != std::string::npos && source[end - 1] == '\\') {
                end = source.find('\n', end + 1);
            }
            i = end == std::string::npos ? source.size() : end;
        } else if (source.compare(i, 2, "/*") == 0) {
            const size_t end = source.find("*/", i + 2);
            i = end == std::string::npos ? source.size() : end + 1;
            text += ' ';
            continue;
        }
        if (i >= source.size()) {
            break;
        }
        line_begins = source[i] == '\n' || (line_begins && isspace(uint8_t(source[i])));
        text += source[i];
    }
    return text;
}

bool is_word(char c) {
    return isalnum(uint8_t(c)) || c == '_';
}

/// Passes over text from one that opens to the one that closes it.
size_t past_group(const std::string &text, size_t at, char open, char close) {
    int depth = 0;
    for (; at < text.size(); at++) {
        depth += text[at] == open ? 1 : text[at] == close ? -1 : 0;
        if (depth == 0) {
            return at + 1;
        }
    }
    return at;
}

}  // namespace

std::optional<ImageSymbols> opencl_symbols(const std::string &source) {
    if (source.find("##") != std::string::npos || source.find("#include") != std::string::npos) {
        return std::nullopt;
    }
    const std::string text = plain_text(source);
    ImageSymbols symbols;
    std::string name;
    for (size_t at = 0; at < text.size();) {
        if (is_word(text[at])) {
            const size_t begin = at;
            while (at < text.size() && is_word(text[at])) {
                at++;
            }
            name = text.substr(begin, at - begin);
        } else if (text[at] == '(') {
            at = past_group(text, at, '(', ')');
            const size_t next = text.find_first_not_of(" \t\r\n", at);
            if (next != std::string::npos && text[next] == '{' && !name.empty()) {
                symbols.defined.insert(name);
                symbols.functions.insert(name);
            }
        } else if (text[at] == '{') {
            at = past_group(text, at, '{', '}');
        } else {
            name = isspace(uint8_t(text[at])) ? name : "";
            at++;
        }
    }
    return symbols;
}

}  // namespace calotype::internal
