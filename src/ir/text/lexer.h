// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Splits IR text into tokens.
#pragma once

#include <string>
#include <vector>

namespace calotype::internal {

struct Token {
    enum Kind {
        Name,        ///< a plain name or a word of the syntax
        QuotedName,  ///< a name in backquotes; `text` is what they hold
        Integer,     ///< digits
        Real,        ///< digits with a point, an exponent or a final f
        String,      ///< `text` is what the quotes hold
        Symbol,      ///< one of the operators and brackets
        End,
    };
    Kind kind = End;
    std::string text;
    int line = 1, column = 1;

    bool is(const char *symbol_or_word) const {
        return (kind == Symbol || kind == Name) && text == symbol_or_word;
    }
    /// As errors show it: 'text', or end of text.
    std::string shown() const;
};

/// All tokens, the last of which is End. Comments reach from // to the end of the line.
std::vector<Token> tokenize(const std::string &text);

/// Throws a CompileError about the place of a token.
[[noreturn]] void syntax_error(const Token &at, const std::string &message);

}  // namespace calotype::internal
