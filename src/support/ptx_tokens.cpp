// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/ptx_tokens.h"

#include <algorithm>
#include <cctype>

#include "support/text.h"

namespace calotype::internal {

namespace {

bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '%';
}

}  // namespace

std::string PtxTokens::next() {
    skip_space_and_comments();
    const size_t begin = at_;
    if (at_ < text_.size() && text_[at_] == '"') {
        at_ = std::min(text_.find('"', at_ + 1), text_.size() - 1) + 1;
        return std::string(text_.substr(begin, at_ - begin));
    }
    at_ += at_ < text_.size() ? 1 : 0;
    const bool is_mark = at_ > begin && text_[begin] != '.' && !is_word(text_[begin]);
    while (!is_mark && at_ < text_.size() && is_word(text_[at_])) {
        at_++;
    }
    return std::string(text_.substr(begin, at_ - begin));
}

void PtxTokens::skip_body() {
    int depth = 1;
    for (std::string token = next(); !token.empty() && depth > 0;) {
        depth += token == "{" ? 1 : token == "}" ? -1 : 0;
        token = depth > 0 ? next() : "";
    }
}

void PtxTokens::skip_space_and_comments() {
    while (at_ < text_.size()) {
        if (std::isspace(static_cast<unsigned char>(text_[at_]))) {
            at_++;
        } else if (text_.compare(at_, 2, "//") == 0) {
            at_ = std::min(text_.find('\n', at_), text_.size());
        } else if (text_.compare(at_, 2, "/*") == 0) {
            const size_t end = text_.find("*/", at_ + 2);
            at_ = end == std::string_view::npos ? text_.size() : end + 2;
        } else {
            return;
        }
    }
}

std::string ptx_target(std::string_view ptx) {
    PtxTokens tokens(ptx);
    std::string token = tokens.next();
    while (!token.empty() && token != ".target") {
        token = tokens.next();
    }
    do {
        token = tokens.next();
    } while (!token.empty() && token[0] != '.' && !starts_with(token, "sm_"));
    return starts_with(token, "sm_") ? token.substr(3) : "";
}

}  // namespace calotype::internal
