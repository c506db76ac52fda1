// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions of OpenCL C: outside of all braces, a name, parameters in parentheses, attributes, "{".
// Macros are not expanded: where one may make a function, or hide one, there may be more names.
#include <algorithm>
#include <map>

#include "codegen/linkables/symbols.h"
#include "support/text.h"

namespace calotype::internal {

namespace {

bool is_word(char c) {
    return isalnum(uint8_t(c)) || c == '_';
}

/// Lines that a backslash ends go on in the next one.
std::string joined_lines(const std::string &source) {
    std::string text;
    for (size_t i = 0; i < source.size(); i++) {
        const size_t end = source[i] == '\\' ? i + 1 + (source.compare(i + 1, 1, "\r") == 0) : i;
        if (end > i && source.compare(end, 1, "\n") == 0) {
            i = end;
        } else {
            text += source[i];
        }
    }
    return text;
}

/// Words, literals in quotes and single marks; comments are left out, and so are lines for the
/// preprocessor, but for what they define.
class OpenclReader {
public:
    explicit OpenclReader(const std::string &source) : text_(joined_lines(source)) {
        while (at_ < text_.size()) {
            read();
        }
    }
    std::vector<std::string> tokens;
    std::map<std::string, bool> macros;  ///< whether one may make more than words and attributes
    bool includes = false;

private:
    void read() {
        const char c = text_[at_];
        if (isspace(uint8_t(c))) {
            line_begins_ |= c == '\n';
            at_++;
        } else if (text_.compare(at_, 2, "//") == 0) {
            at_ = std::min(text_.find('\n', at_), text_.size());
        } else if (text_.compare(at_, 2, "/*") == 0) {
            const size_t end = text_.find("*/", at_ + 2);
            at_ = end == std::string::npos ? text_.size() : end + 2;
        } else if (line_begins_ && c == '#') {
            const size_t end = std::min(text_.find('\n', at_), text_.size());
            directive(text_.substr(at_ + 1, end - at_ - 1));
            at_ = end;
        } else {
            line_begins_ = false;
            tokens.push_back(token());
        }
    }

    std::string token() {
        const size_t begin = at_;
        const char c = text_[at_++];
        if (c == '"' || c == '\'') {
            while (at_ < text_.size() && text_[at_] != c && text_[at_] != '\n') {
                at_ += text_[at_] == '\\' ? 2 : 1;
            }
            at_ = std::min(at_ + 1, text_.size());
            return std::string(1, c);
        }
        while (is_word(c) && at_ < text_.size() && is_word(text_[at_])) {
            at_++;
        }
        return text_.substr(begin, at_ - begin);
    }

    void directive(const std::string &line) {
        const std::string text(trim(line));
        includes |= starts_with(text, "include");
        if (!starts_with(text, "define")) {
            return;
        }
        const std::string macro(trim(text.substr(6)));
        size_t end = 0;
        while (end < macro.size() && is_word(macro[end])) {
            end++;
        }
        const std::string body = macro.substr(end);
        const bool is_attribute = body.find("__attribute__") != std::string::npos;
        macros[macro.substr(0, end)] |= starts_with(body, "(") ||
                                        body.find('{') != std::string::npos ||
                                        (!is_attribute && body.find('(') != std::string::npos);
    }

    const std::string text_;
    size_t at_ = 0;
    bool line_begins_ = true;
};

/// Finds the functions among the tokens.
class OpenclFunctions {
public:
    explicit OpenclFunctions(const OpenclReader &source)
        : tokens_(source.tokens), macros_(source.macros) {
        symbols.is_whole = !source.includes;
        std::string name;
        while (at_ < tokens_.size()) {
            const std::string &t = tokens_[at_];
            if (t == "(") {
                group(name);
            } else if (t == "{") {
                skip_group("{", "}");
                declaration_ = at_;
            } else {
                auto macro = macros_.find(t);
                symbols.is_whole &= macro == macros_.end() || !macro->second;
                name = is_word(t[0]) ? t : "";
                at_++;
                declaration_ = t == ";" ? at_ : declaration_;
            }
        }
    }
    ImageSymbols symbols;

private:
    bool is_at(const char *mark) const {
        return at_ < tokens_.size() && tokens_[at_] == mark;
    }

    void skip_group(const char *open, const char *close) {
        int depth = 0;
        do {
            depth += is_at(open) ? 1 : is_at(close) ? -1 : 0;
            at_++;
        } while (at_ < tokens_.size() && depth > 0);
        symbols.is_whole &= depth == 0;  // branches of the preprocessor may each open one
    }

    /// name (parameters) attributes, then "{" of a definition, or ";" and the like.
    void group(const std::string &name) {
        const size_t begin = at_ + 1;
        skip_group("(", ")");
        const size_t end = at_ - 1, behind = at_;
        if (name.empty() || name == "__attribute__") {
            return;
        }
        bool is_attributed = true;
        for (; at_ < tokens_.size() && is_word(tokens_[at_][0]);) {
            const bool is_attribute = tokens_[at_++] == "__attribute__";
            is_attributed &= is_attribute;
            if (is_attribute && is_at("(")) {
                skip_group("(", ")");
            }
        }
        if (is_at("{")) {
            define(name, begin, end);
            return;
        }
        // Else, unless this declares something, it was a macro, of another source perhaps.
        symbols.is_whole &= is_attributed && at_ < tokens_.size() && !is_at("(");
        at_ = behind;
    }

    void define(const std::string &name, size_t begin, size_t end) {
        if (macros_.count(name)) {
            symbols.is_whole = false;  // it is called something else
            return;
        }
        symbols.defined.insert(name);
        symbols.functions.insert(name);
        symbols.opencl[name].push_back(signature(begin, end));
    }

    bool has_macro(size_t begin, size_t end) const {
        return std::any_of(tokens_.begin() + long(begin), tokens_.begin() + long(end),
                           [&](const std::string &t) { return macros_.count(t) > 0; });
    }

    /// Of tokens without macros, and without attributes in front of them.
    std::optional<OpenclType> type(size_t begin, size_t end) const {
        while (begin < end && tokens_[begin] == "__attribute__") {
            int depth = 0;
            do {
                begin++;
                depth += tokens_[begin] == "(" ? 1 : tokens_[begin] == ")" ? -1 : 0;
            } while (begin < end && depth > 0);
            begin++;
        }
        if (begin >= end || has_macro(begin, end)) {
            return std::nullopt;
        }
        return opencl_type({tokens_.begin() + long(begin), tokens_.begin() + long(end)});
    }

    /// Of parameters between `begin` and `end`, and a name in front of them.
    OpenclSignature signature(size_t begin, size_t end) const {
        OpenclSignature found;
        found.result = type(declaration_, begin - 2);
        found.is_known = !has_macro(begin, end);
        if (!found.is_known || end == begin || (end == begin + 1 && tokens_[begin] == "void")) {
            return found;
        }
        int depth = 0;
        for (size_t i = begin, first = begin; i <= end; i++) {
            const std::string &t = tokens_[i];  // the last is the closing parenthesis
            if (i == end || (t == "," && depth == 0)) {
                found.parameters.push_back(type(first, i));
                first = i + 1;
            }
            depth += t == "(" ? 1 : t == ")" ? -1 : 0;
        }
        return found;
    }

    const std::vector<std::string> &tokens_;
    const std::map<std::string, bool> &macros_;
    size_t at_ = 0;
    size_t declaration_ = 0;  ///< where that began which may be a function's
};

}  // namespace

ImageSymbols opencl_symbols(const std::string &source) {
    return OpenclFunctions(OpenclReader(source)).symbols;
}

}  // namespace calotype::internal
