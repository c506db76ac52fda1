// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/text/expr_parser.h"

#include <cerrno>
#include <cstdlib>
#include <limits>

#include "ir/constants.h"

namespace calotype::internal {

namespace {

/// Expressions nested deeper than this are refused, before the stack ends.
constexpr int max_depth = 1000;

bool is_type_name(const Token &token) {
    Type ignored;
    return token.kind == Token::Name && parse_type(token.text, &ignored);
}

}  // namespace

Expr ExprParser::parse_whole_expr() {
    Expr e = expr();
    expect_end();
    return e;
}

Token ExprParser::take() {
    Token token = peek();
    pos_++;
    return token;
}

bool ExprParser::accept(const char *text) {
    const bool found = peek().is(text);
    pos_ += found;
    return found;
}

void ExprParser::expect(const char *text) {
    if (!accept(text)) {
        fail(std::string("'") + text + "'");
    }
}

void ExprParser::fail(const std::string &expected) const {
    syntax_error(peek(), "expected " + expected + ", found " + peek().shown());
}

void ExprParser::expect_end() {
    if (peek().kind != Token::End) {
        fail("end of text");
    }
}

std::string ExprParser::name() {
    const Token &token = peek();
    const bool plain = token.kind == Token::Name && !is_reserved_word(token.text);
    if (!plain && token.kind != Token::QuotedName) {
        fail("a name");
    }
    return take().text;
}

int ExprParser::small_integer() {
    const Token at = peek();
    if (at.kind != Token::Integer) {
        fail("an integer");
    }
    take();
    errno = 0;
    const long long value = std::strtoll(at.text.c_str(), nullptr, 10);
    if (errno != 0 || value > std::numeric_limits<int32_t>::max()) {
        syntax_error(at, at.shown() + " is too large");
    }
    return int(value);
}

int64_t ExprParser::signed_integer() {
    const bool negative = accept("-");
    const Token at = peek();
    if (at.kind != Token::Integer) {
        fail("an integer");
    }
    take();
    errno = 0;
    const int64_t value = std::strtoll(((negative ? "-" : "") + at.text).c_str(), nullptr, 10);
    if (errno != 0) {
        syntax_error(at, at.shown() + " is too large");
    }
    return value;
}

Type ExprParser::type() {
    Type t;
    if (peek().kind != Token::Name || !parse_type(peek().text, &t)) {
        fail("a type");
    }
    take();
    return t;
}

Type ExprParser::type_or(Type otherwise) {
    return accept(":") ? type() : otherwise;
}

std::string ExprParser::without_position(const std::string &message) {
    // "internal error at FILE:LINE: text"
    const size_t at = message.find(": ");
    return at == std::string::npos ? message : message.substr(at + 2);
}

Expr ExprParser::expr(Precedence at_least) {
    if (++depth_ > max_depth) {
        syntax_error(peek(),
                     "expressions are nested more than " + std::to_string(max_depth) + " deep");
    }
    if (at_least == Precedence::Let && peek().is("let")) {
        Expr e = let_expr();
        depth_--;
        return e;
    }
    Expr left = primary();
    while (peek().kind == Token::Symbol) {
        const InfixOperator *op = infix_operator(peek().text);
        if (!op || op->precedence < at_least) {
            break;
        }
        const Token at = take();
        Expr right = expr(next(op->precedence));
        if (left.type() != right.type()) {
            syntax_error(at, "the operands of " + at.shown() + " have types " +
                                 to_string(left.type()) + " and " + to_string(right.type()));
        }
        left = well_formed(at, [&]() -> Expr {
            switch (op->kind) {
#define ARITH(Name, symbol)                                                                        \
    case NodeKind::Name:                                                                           \
        return Name::make(left, right);
#define COMPARE(Name, symbol) ARITH(Name, symbol)
#define LOGIC(Name, symbol) ARITH(Name, symbol)
#include "ir/nodes.def"
            default:
                internal_error << "not an infix operator: " << at.text;
            }
        });
        if (op->precedence == Precedence::Comparison) {
            // Comparisons do not chain; what follows binds looser.
            const InfixOperator *following = infix_operator(peek().text);
            if (peek().kind == Token::Symbol && following &&
                following->precedence == Precedence::Comparison) {
                fail("an end of the comparison");
            }
        }
    }
    depth_--;
    return left;
}

Expr ExprParser::let_expr() {
    expect("let");
    const std::string variable = name();
    expect("=");
    Expr value = expr(Precedence::Or);
    expect("in");
    return Let::make(variable, value, expr());
}

Expr ExprParser::primary() {
    const Token at = peek();
    switch (at.kind) {
    case Token::Integer:
    case Token::Real:
        return untyped_number(false, at);
    case Token::String:
        return StringImm::make(take().text);
    case Token::QuotedName:
        return name_use();
    case Token::Name:
        return word();
    case Token::Symbol:
        break;
    case Token::End:
        fail("an expression");
    }
    if (accept("-")) {
        if (peek().kind != Token::Integer && peek().kind != Token::Real) {
            fail("a number");
        }
        return untyped_number(true, at);
    }
    if (accept("!")) {
        Expr operand = expr(Precedence::Primary);
        return well_formed(at, [&] { return Not::make(operand); });
    }
    if (at_typed_constant()) {
        return typed_constant();
    }
    if (accept("(")) {
        Expr e = expr();
        expect(")");
        return e;
    }
    fail("an expression");
}

Expr ExprParser::untyped_number(bool negative, const Token &at) {
    const Token &digits = peek();
    if (digits.kind == Token::Real && digits.text.back() != 'f') {
        const std::string text = (negative ? "-" : "") + digits.text;
        syntax_error(at, "'" + text + "' has no type, write " + text + "f or (float64)" + text);
    }
    return number(negative, digits.kind == Token::Integer ? Int(32) : Float(32), at);
}

Expr ExprParser::number(bool negative, Type t, const Token &at) {
    const Token digits = take();
    const std::string text = (negative ? "-" : "") + digits.text;
    if (t.is_float()) {
        const double value = t.bits() == 32 ? double(std::strtof(text.c_str(), nullptr))
                                            : std::strtod(text.c_str(), nullptr);
        return FloatImm::make(t, value);
    }
    errno = 0;
    const bool is_integer = digits.kind == Token::Integer;
    const int64_t signed_value = std::strtoll(text.c_str(), nullptr, 10);
    bool fits = is_integer && errno == 0 && t.can_represent(signed_value);
    if (fits) {
        return make_const(t, signed_value);
    }
    errno = 0;
    const uint64_t unsigned_value = std::strtoull(text.c_str(), nullptr, 10);
    fits = is_integer && errno == 0 && !negative && t.can_represent(unsigned_value);
    if (!fits) {
        syntax_error(at, "'" + text + "' does not fit " + to_string(t));
    }
    return make_const(t, unsigned_value);
}

bool ExprParser::at_typed_constant() const {
    return peek().is("(") && is_type_name(peek(1)) && peek(2).is(")");
}

Expr ExprParser::typed_constant() {
    const Token at = peek();
    expect("(");
    const Type t = type();
    expect(")");
    if (!t.is_scalar() || t.is_handle()) {
        syntax_error(at, "a constant of type " + to_string(t) + ", must be a scalar number");
    }
    const bool negative = accept("-");
    if (t.is_float() && accept("inf")) {
        const double infinity = std::numeric_limits<double>::infinity();
        return FloatImm::make(t, negative ? -infinity : infinity);
    }
    if (t.is_float() && accept("nan")) {
        return FloatImm::make(t, std::numeric_limits<double>::quiet_NaN());
    }
    if (peek().kind != Token::Integer && peek().kind != Token::Real) {
        fail("a number");
    }
    return number(negative, t, peek());
}

Expr ExprParser::word() {
    const Token &token = peek();
    if (is_type_name(token)) {
        return cast_to_type();
    }
    if (token.is("true") || token.is("false")) {
        return UIntImm::make(Bool(), take().is("true"));
    }
    if (token.is("image") || token.is("extern") || token.is("pure_extern") ||
        token.is("extern_cpp")) {
        const Token kind = take();
        return call(kind.is("image")         ? CallKind::Image
                    : kind.is("extern")      ? CallKind::Extern
                    : kind.is("pure_extern") ? CallKind::PureExtern
                                             : CallKind::ExternCPlusPlus);
    }
    if (!is_reserved_word(token.text)) {
        return name_use();
    }
    if (peek(1).is("(") || peek(1).is("<")) {
        return builtin(take());
    }
    fail("an expression");
}

Expr ExprParser::name_use() {
    const Token at = peek();
    if (peek(1).is("(")) {
        const Intrinsic id =
            at.kind == Token::Name ? intrinsic_from_name(at.text) : Intrinsic::none;
        return id == Intrinsic::none ? call(CallKind::Func) : intrinsic_call(id);
    }
    const std::string n = name();
    if (peek().is("[")) {
        const Place p = place();
        const Type t = type_or(Int(32)).with_lanes(p.index.type().lanes());
        return well_formed(at, [&] {
            return Load::make(t, n, p.index, p.predicate, p.alignment, nullptr, p.is_streaming);
        });
    }
    if (n.empty()) {
        syntax_error(at, "a name is empty");
    }
    return Variable::make(type_or(Int(32)), n);
}

ExprParser::Place ExprParser::place() {
    Place p;
    expect("[");
    p.index = expr();
    p.predicate = accept("if") ? expr() : const_true(p.index.type().lanes());
    if (accept("align")) {
        expect("(");
        p.alignment.modulus = signed_integer();
        expect(",");
        p.alignment.remainder = signed_integer();
        expect(")");
    }
    p.is_streaming = accept("streaming");
    expect("]");
    return p;
}

Expr ExprParser::cast_to_type() {
    const Token at = peek();
    const Type t = type();
    expect("(");
    Expr value = expr();
    expect(")");
    return well_formed(at, [&] { return Cast::make(t, value); });
}

std::vector<Expr> ExprParser::list_until(const char *close) {
    std::vector<Expr> list;
    if (accept(close)) {
        return list;
    }
    do {
        list.push_back(expr());
    } while (accept(","));
    expect(close);
    return list;
}

Expr ExprParser::call(CallKind kind) {
    const Token at = peek();
    const std::string n = name();
    expect("(");
    std::vector<Expr> args = list_until(")");
    const int value_index = accept(".") ? small_integer() : 0;
    const Type t = type_or(default_call_type(args));
    return well_formed(at, [&] { return Call::make(t, n, args, kind, value_index); });
}

Expr ExprParser::intrinsic_call(Intrinsic id) {
    const Token at = take();
    expect("(");
    std::vector<Expr> args = list_until(")");
    const int arity = intrinsic_info(id).arity;
    if (arity >= 0 && size_t(arity) != args.size()) {
        syntax_error(at, at.shown() + " takes " + std::to_string(arity) + " arguments, not " +
                             std::to_string(args.size()));
    }
    return Call::make(type_or(default_call_type(args)), id, args);
}

std::vector<Expr> ExprParser::arguments(const Token &function, size_t count) {
    expect("(");
    std::vector<Expr> args = list_until(")");
    if (args.size() != count) {
        syntax_error(function, function.shown() + " takes " + std::to_string(count) +
                                   " arguments, not " + std::to_string(args.size()));
    }
    return args;
}

Expr ExprParser::builtin(const Token &word) {
    if (word.is("min") || word.is("max")) {
        std::vector<Expr> args = arguments(word, 2);
        return well_formed(word, [&] {
            return word.is("min") ? Min::make(args[0], args[1]) : Max::make(args[0], args[1]);
        });
    }
    if (word.is("select")) {
        std::vector<Expr> args = arguments(word, 3);
        return well_formed(word, [&] { return Select::make(args[0], args[1], args[2]); });
    }
    if (word.is("ramp")) {
        expect("(");
        Expr base = expr();
        expect(",");
        Expr stride = expr();
        expect(",");
        const int lanes = small_integer();
        expect(")");
        return well_formed(word, [&] { return Ramp::make(base, stride, lanes); });
    }
    if (word.is("broadcast")) {
        expect("(");
        Expr value = expr();
        expect(",");
        const int lanes = small_integer();
        expect(")");
        return well_formed(word, [&] { return Broadcast::make(value, lanes); });
    }
    if (word.is("reinterpret")) {
        expect("<");
        const Type t = type();
        expect(">");
        std::vector<Expr> args = arguments(word, 1);
        return well_formed(word, [&] { return Reinterpret::make(t, args[0]); });
    }
    if (word.is("vector_reduce")) {
        return vector_reduce(word);
    }
    return shuffle(word);
}

std::vector<int> ExprParser::integers_until(const char *close) {
    std::vector<int> list;
    do {
        list.push_back(int(signed_integer()));
    } while (accept(","));
    expect(close);
    return list;
}

Expr ExprParser::shuffle(const Token &word) {
    if (word.is("interleave") || word.is("concat")) {
        expect("(");
        std::vector<Expr> vectors = list_until(")");
        return well_formed(word, [&] {
            return word.is("concat") ? Shuffle::make_concat(vectors)
                                     : Shuffle::make_interleave(vectors);
        });
    }
    if (word.is("slice")) {
        expect("(");
        Expr vector = expr();
        expect(",");
        const std::vector<int> numbers = integers_until(")");
        if (numbers.size() != 3) {
            syntax_error(word, "'slice' takes a vector, a begin, a stride and a size");
        }
        return well_formed(
            word, [&] { return Shuffle::make_slice(vector, numbers[0], numbers[1], numbers[2]); });
    }
    if (word.is("shuffle")) {
        expect("(");
        expect("[");
        std::vector<Expr> vectors = list_until("]");
        expect(",");
        expect("[");
        const std::vector<int> indices = integers_until("]");
        expect(")");
        return well_formed(word, [&] { return Shuffle::make(vectors, indices); });
    }
    syntax_error(word, "expected an expression, found " + word.shown());
}

Expr ExprParser::vector_reduce(const Token &word) {
    static const VectorReduce::Operator operators[] = {
        VectorReduce::Add, VectorReduce::SaturatingAdd, VectorReduce::Mul, VectorReduce::Min,
        VectorReduce::Max, VectorReduce::And,           VectorReduce::Or};
    expect("(");
    for (VectorReduce::Operator op : operators) {
        if (accept(to_string(op))) {
            expect(",");
            Expr value = expr();
            expect(",");
            const int lanes = small_integer();
            expect(")");
            return well_formed(word, [&] { return VectorReduce::make(op, value, lanes); });
        }
    }
    fail("an operator of vector_reduce");
}

}  // namespace calotype::internal
