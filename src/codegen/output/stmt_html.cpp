// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The text of the lowered code as a page on which every block can be folded: a line that ends with
// "{" and all up to the line that begins with the matching "}" is a <details> element.
#include <set>
#include <sstream>

#include "codegen/emit.h"
#include "support/text.h"

namespace calotype::internal {

namespace {

const char *const page_begin = R"(<!DOCTYPE html>
<html>
<head>
<meta charset="utf-8">
<title>TITLE</title>
<style>
body { font-family: monospace; white-space: pre; }
details { display: inline; }
details > summary { display: inline; cursor: pointer; list-style: none; }
details:not([open]) > summary::after { content: " ... }"; color: gray; }
.k { color: #7a3e9d; font-weight: bold; }
.s { color: #448c27; }
.n { color: #9c5d27; }
</style>
</head>
<body>)";

std::string escaped(const std::string &text) {
    return replace_all(replace_all(replace_all(text, "&", "&amp;"), "<", "&lt;"), ">", "&gt;");
}

bool is_word(char c) {
    return std::isalnum(uint8_t(c)) || c == '_' || c == '.' || c == '$';
}

std::string colored_word(const std::string &word) {
    static const std::set<std::string> keywords = {
        "for",    "parallel", "vectorized", "unrolled", "let",     "in",       "if",   "else",
        "assert", "allocate", "free",       "produce",  "consume", "evaluate", "func", "module",
        "load",   "prefetch", "atomic",     "fork",     "realize", "when"};
    if (keywords.count(word)) {
        return "<span class=\"k\">" + word + "</span>";
    }
    return std::isdigit(uint8_t(word[0])) ? "<span class=\"n\">" + word + "</span>" : word;
}

std::string colored(const std::string &line) {
    std::string result;
    for (size_t i = 0; i < line.size();) {
        size_t end = i + 1;
        if (line[i] == '"') {
            while (end < line.size() && line[end] != '"') {
                end += line[end] == '\\' ? 2 : 1;
            }
            end = std::min(end + 1, line.size());
            result += "<span class=\"s\">" + escaped(line.substr(i, end - i)) + "</span>";
        } else if (is_word(line[i])) {
            while (end < line.size() && is_word(line[end])) {
                end++;
            }
            result += colored_word(line.substr(i, end - i));
        } else {
            result += escaped(line.substr(i, 1));
        }
        i = end;
    }
    return result;
}

}  // namespace

std::string stmt_html_text(const LoweredModule &module, const std::string &text) {
    std::ostringstream out;
    out << replace_all(page_begin, "TITLE", escaped(module.name));
    int depth = 0;
    for (const std::string &line : split(text, "\n")) {
        if (starts_with(trim(line), "}") && depth > 0) {
            out << "</details>";
            depth--;
        }
        if (ends_with(line, "{")) {
            out << "<details open><summary>" << colored(line) << "</summary>\n";
            depth++;
        } else {
            out << colored(line) << "\n";
        }
    }
    for (; depth > 0; depth--) {
        out << "</details>";
    }
    out << "</body>\n</html>\n";
    return out.str();
}

}  // namespace calotype::internal
