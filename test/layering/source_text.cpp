// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "layering/source_text.h"

#include <algorithm>
#include <cctype>
#include <regex>

namespace layering {

namespace {

/// Walks over a source, turning what is no code into blanks.
class Blanker {
public:
    explicit Blanker(std::string_view text) : text_(text), out_(text) {
    }

    std::string run() {
        while (at_ < text_.size()) {
            step();
        }
        return std::move(out_);
    }

private:
    bool is_next(std::string_view what) const {
        return text_.substr(at_, what.size()) == what;
    }

    void blank_until(size_t end) {
        for (end = std::min(end, text_.size()); at_ < end; at_++) {
            if (out_[at_] != '\n') {
                out_[at_] = ' ';
            }
        }
    }

    size_t after(std::string_view what, size_t from) const {
        const size_t found = text_.find(what, from);
        return found == std::string_view::npos ? text_.size() : found + what.size();
    }

    /// The end of a line that a backslash may continue.
    size_t end_of_directive() const {
        size_t end = at_;
        do {
            end = after("\n", end);
        } while (end < text_.size() && end >= 2 && text_[end - 2] == '\\');
        return end;
    }

    size_t end_of_literal(char quote) const {
        size_t end = at_ + 1;
        while (end < text_.size() && text_[end] != quote && text_[end] != '\n') {
            end += text_[end] == '\\' ? 2 : 1;
        }
        return end + 1;
    }

    bool inside_a_word() const {
        return at_ > 0 && (std::isalnum((unsigned char)text_[at_ - 1]) || text_[at_ - 1] == '_');
    }

    void step() {
        if (is_next("//")) {
            blank_until(after("\n", at_));
        } else if (is_next("/*")) {
            blank_until(after("*/", at_ + 2));
        } else if (is_next("R\"") && !inside_a_word()) {
            const size_t open = text_.find('(', at_);
            const std::string close =
                ")" + std::string(text_.substr(at_ + 2, open - at_ - 2)) + "\"";
            blank_until(after(close, open));
        } else if (is_next("\"") || (is_next("'") && !inside_a_word())) {
            blank_until(end_of_literal(text_[at_]));
        } else if (is_next("#") && first_on_line_) {
            blank_until(end_of_directive());
        } else {
            const char c = text_[at_++];
            first_on_line_ = c == '\n' || (first_on_line_ && std::isspace((unsigned char)c));
            return;
        }
        first_on_line_ = at_ > 0 && text_[at_ - 1] == '\n';
    }

    std::string_view text_;
    std::string out_;
    size_t at_ = 0;
    bool first_on_line_ = true;
};

bool opens_a_function(const std::string &head) {
    static const std::regex container(
        R"(^\s*(template\s*<[^{}]*>\s*)?(inline\s+)?(namespace|class|struct|union|enum|extern)\b)");
    static const std::regex function(R"(\)[^=]*$|\boperator\b)");
    std::smatch match;
    const bool contains_members = std::regex_search(head, match, container);
    // A function may return a struct by its long name; a class never has a parameter list.
    if (contains_members && !std::regex_search(head, std::regex(R"(\)\s*(const)?\s*$)"))) {
        return false;
    }
    return std::regex_search(head, function);
}

std::string squeeze(const std::string &text) {
    std::string out;
    for (char c : text) {
        const bool space = std::isspace((unsigned char)c);
        if (!space || (!out.empty() && out.back() != ' ')) {
            out += space ? ' ' : c;
        }
    }
    return out;
}

}  // namespace

std::string blank_out(std::string_view text) {
    return Blanker(text).run();
}

int count_lines(std::string_view text) {
    const int newlines = int(std::count(text.begin(), text.end(), '\n'));
    return newlines + (!text.empty() && text.back() != '\n');
}

std::vector<Include> find_includes(std::string_view text) {
    static const std::regex include(R"(^\s*#\s*include\s*([<"])([^>"]+)[>"])");
    std::vector<Include> found;
    int line = 1;
    for (size_t begin = 0; begin < text.size(); line++) {
        const size_t end = std::min(text.find('\n', begin), text.size());
        const std::string one(text.substr(begin, end - begin));
        std::smatch match;
        if (one.find("include") != std::string::npos && std::regex_search(one, match, include)) {
            found.push_back({line, match[1] == "<", match[2]});
        }
        begin = end + 1;
    }
    return found;
}

std::vector<FunctionExtent> find_functions(std::string_view text) {
    const std::string code = blank_out(text);
    std::vector<FunctionExtent> found;
    std::string head;  // text since the last ; { or } outside of functions
    int line = 1, head_line = 1, depth = 0;
    bool inside = false;  // of a function
    for (char c : code) {
        if (c == '\n') {
            line++;
        }
        if (inside) {
            depth += (c == '{') - (c == '}');
            if (depth == 0) {
                found.back().lines = line - found.back().line + 1;
                inside = false;
                head.clear();
            }
        } else if (c == '{' && opens_a_function(head)) {
            found.push_back({head_line, 0, squeeze(head)});
            inside = true;
            depth = 1;
        } else if (c == '{' || c == '}' || c == ';') {
            head.clear();
        } else if (!head.empty() || !std::isspace((unsigned char)c)) {
            if (head.empty()) {
                head_line = line;
            }
            head += c;
        }
    }
    return found;
}

}  // namespace layering
