// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ExprParser: recursive descent over tokens for the expressions of IR text; the statements build on
// it.
#pragma once

#include <string>
#include <vector>

#include "ir/expr_nodes.h"
#include "ir/text/lexer.h"
#include "ir/text/syntax.h"
#include "support/error.h"

namespace calotype::internal {

class ExprParser {
public:
    explicit ExprParser(const std::string &text) : tokens_(tokenize(text)) {
    }

    /// One expression and nothing behind it.
    Expr parse_whole_expr();

protected:
    // The token stream.
    const Token &peek(size_t ahead = 0) const {
        const size_t i = pos_ + ahead;
        return i < tokens_.size() ? tokens_[i] : tokens_.back();
    }
    Token take();
    /// Takes the symbol or word if it is next.
    bool accept(const char *text);
    void expect(const char *text);
    [[noreturn]] void fail(const std::string &expected) const;
    void expect_end();
    std::string name();
    int small_integer();
    Type type();
    /// ":type", or the default without it.
    Type type_or(Type otherwise);

    // Expressions.
    Expr expr(Precedence at_least = Precedence::Let);
    /// Expressions up to the closing symbol, which is taken.
    std::vector<Expr> list_until(const char *close);
    /// [index if predicate align(m, r)]: what Load and Store share.
    struct Place {
        Expr index, predicate;
        Alignment alignment;
        bool is_streaming = false;
    };
    Place place();

    /// f(), with the errors of `make` about the place `at`.
    template<typename F>
    auto well_formed(const Token &at, F &&f) {
        try {
            return f();
        } catch (const InternalError &e) {
            syntax_error(at, "ill-typed: " + without_position(e.what()));
        }
    }

    static std::string without_position(const std::string &message);

private:
    Expr let_expr();
    Expr primary();
    /// A number without a type in front: an int32, or a float32 if it ends in f.
    Expr untyped_number(bool negative, const Token &at);
    Expr number(bool negative, Type t, const Token &at);
    Expr typed_constant();
    bool at_typed_constant() const;
    Expr word();
    Expr name_use();
    Expr cast_to_type();
    Expr call(CallKind kind);
    Expr intrinsic_call(Intrinsic id);
    Expr builtin(const Token &word);
    Expr shuffle(const Token &at);
    Expr vector_reduce(const Token &at);
    std::vector<Expr> arguments(const Token &function, size_t count);
    std::vector<int> integers_until(const char *close);
    int64_t signed_integer();

    std::vector<Token> tokens_;
    size_t pos_ = 0;
    int depth_ = 0;
};

}  // namespace calotype::internal
