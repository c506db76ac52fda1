// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/text/lexer.h"

#include "ir/text/syntax.h"
#include "support/error.h"

namespace calotype::internal {

std::string Token::shown() const {
    switch (kind) {
    case End:
        return "end of text";
    case String:
        return quote(text);
    case QuotedName:
        return quote(text, '`');
    default:
        return "'" + text + "'";
    }
}

void syntax_error(const Token &at, const std::string &message) {
    user_error << "line " << at.line << ", column " << at.column << ": " << message;
    throw;  // not reached: user_error throws
}

namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
}
int hex_digit(char c) {
    return is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

class Lexer {
public:
    explicit Lexer(const std::string &text) : text_(text) {
    }

    std::vector<Token> run() {
        std::vector<Token> tokens;
        do {
            skip_space();
            tokens.push_back(next());
        } while (tokens.back().kind != Token::End);
        return tokens;
    }

private:
    char peek(size_t ahead = 0) const {
        return pos_ + ahead < text_.size() ? text_[pos_ + ahead] : '\0';
    }

    void advance() {
        if (text_[pos_++] == '\n') {
            line_++;
            column_ = 1;
        } else {
            column_++;
        }
    }

    void skip_space() {
        while (pos_ < text_.size()) {
            if (peek() == '/' && peek(1) == '/') {
                while (pos_ < text_.size() && peek() != '\n') {
                    advance();
                }
            } else if (peek() == ' ' || peek() == '\n' || peek() == '\t' || peek() == '\r') {
                advance();
            } else {
                return;
            }
        }
    }

    Token next() {
        Token token;
        token.line = line_;
        token.column = column_;
        if (pos_ == text_.size()) {
            return token;
        }
        const char c = peek();
        if (is_letter(c)) {
            token.kind = Token::Name;
            // A dot belongs to the name if the name goes on behind it.
            while (is_letter(peek()) || is_digit(peek()) ||
                   (peek() == '.' && (is_letter(peek(1)) || is_digit(peek(1)) || peek(1) == '.'))) {
                take(token);
            }
        } else if (is_digit(c)) {
            read_number(token);
        } else if (c == '"' || c == '`') {
            token.kind = c == '"' ? Token::String : Token::QuotedName;
            read_quoted(token, c);
        } else {
            read_symbol(token);
        }
        return token;
    }

    void take(Token &token) {
        token.text += peek();
        advance();
    }

    void take_digits(Token &token) {
        while (is_digit(peek())) {
            take(token);
        }
    }

    void read_number(Token &token) {
        token.kind = Token::Integer;
        take_digits(token);
        if (peek() == '.' && is_digit(peek(1))) {
            token.kind = Token::Real;
            take(token);
            take_digits(token);
        }
        const bool signed_exponent = (peek(1) == '+' || peek(1) == '-') && is_digit(peek(2));
        if (peek() == 'e' && (is_digit(peek(1)) || signed_exponent)) {
            token.kind = Token::Real;
            take(token);
            take(token);
            take_digits(token);
        }
        if (peek() == 'f') {
            token.kind = Token::Real;
            take(token);
        }
    }

    void read_quoted(Token &token, char quote) {
        advance();
        while (peek() != quote) {
            if (pos_ == text_.size() || peek() == '\n') {
                syntax_error(token, std::string("the ") + (quote == '"' ? "string" : "name") +
                                        " has no closing " + quote);
            }
            if (peek() == '\\') {
                advance();
                token.text += read_escape(token);
            } else {
                take(token);
            }
        }
        advance();
    }

    char read_escape(const Token &token) {
        const char c = peek();
        if (c == 'x' && hex_digit(peek(1)) >= 0 && hex_digit(peek(2)) >= 0) {
            const int value = hex_digit(peek(1)) * 16 + hex_digit(peek(2));
            advance();
            advance();
            advance();
            return char(value);
        }
        if (c != 'n' && c != 't' && c != '\\' && c != '"' && c != '`') {
            syntax_error(token, "unknown escape in quotes, must be \\n, \\t, \\\\, \\\", \\` or "
                                "\\x and two digits");
        }
        advance();
        return c == 'n' ? '\n' : c == 't' ? '\t' : c;
    }

    void read_symbol(Token &token) {
        token.kind = Token::Symbol;
        static const char *const pairs[] = {"&&", "||", "==", "!=", "<=", ">="};
        for (const char *pair : pairs) {
            if (peek() == pair[0] && peek(1) == pair[1]) {
                take(token);
                take(token);
                return;
            }
        }
        take(token);
        if (std::string("()[]{},:.<>=+-*/%!").find(token.text) == std::string::npos) {
            syntax_error(token, "unexpected character " + token.shown());
        }
    }

    const std::string &text_;
    size_t pos_ = 0;
    int line_ = 1, column_ = 1;
};

}  // namespace

std::vector<Token> tokenize(const std::string &text) {
    return Lexer(text).run();
}

}  // namespace calotype::internal
