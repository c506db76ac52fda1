// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/text/syntax.h"

#include <charconv>
#include <cmath>
#include <unordered_set>

namespace calotype::internal {

namespace {

const InfixOperator infix_operators[] = {
    {NodeKind::Or, "||", Precedence::Or},         {NodeKind::And, "&&", Precedence::And},
    {NodeKind::EQ, "==", Precedence::Comparison}, {NodeKind::NE, "!=", Precedence::Comparison},
    {NodeKind::LT, "<", Precedence::Comparison},  {NodeKind::LE, "<=", Precedence::Comparison},
    {NodeKind::GT, ">", Precedence::Comparison},  {NodeKind::GE, ">=", Precedence::Comparison},
    {NodeKind::Add, "+", Precedence::Sum},        {NodeKind::Sub, "-", Precedence::Sum},
    {NodeKind::Mul, "*", Precedence::Product},    {NodeKind::Div, "/", Precedence::Product},
    {NodeKind::Mod, "%", Precedence::Product},
};

const std::unordered_set<std::string> &keywords() {
    static const std::unordered_set<std::string> words = {
        // Expressions.
        "let", "in", "true", "false", "inf", "nan", "if", "align", "select", "min", "max", "ramp",
        "broadcast", "reinterpret", "shuffle", "interleave", "concat", "slice", "vector_reduce",
        "image", "extern", "pure_extern", "extern_cpp",
        // Statements.
        "assert", "produce", "consume", "for", "parallel", "vectorized", "unrolled", "gpu_block",
        "gpu_thread", "gpu_lane", "matrix", "partition", "acquire", "allocate", "when", "memory",
        "deleter", "padding", "free", "realize", "hoist", "fork", "else", "evaluate", "prefetch",
        "streaming", "at", "from", "offset", "bound", "atomic", "mutex"};
    return words;
}

bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
}

bool is_plain(const std::string &name) {
    if (name.empty() || !is_letter(name[0]) || name.back() == '.') {
        return false;
    }
    for (char c : name) {
        if (!is_letter(c) && c != '.' && !(c >= '0' && c <= '9')) {
            return false;
        }
    }
    return true;
}

}  // namespace

const InfixOperator *infix_operator(NodeKind kind) {
    for (const InfixOperator &op : infix_operators) {
        if (op.kind == kind) {
            return &op;
        }
    }
    return nullptr;
}

const InfixOperator *infix_operator(const std::string &symbol) {
    for (const InfixOperator &op : infix_operators) {
        if (symbol == op.symbol) {
            return &op;
        }
    }
    return nullptr;
}

bool is_reserved_word(const std::string &word) {
    Type ignored;
    return keywords().count(word) != 0 || parse_type(word, &ignored);
}

std::string name_to_text(const std::string &name, bool called) {
    const bool plain = is_plain(name) && !is_reserved_word(name) &&
                       !(called && intrinsic_from_name(name) != Intrinsic::none);
    return plain ? name : quote(name, '`');
}

std::string quote(const std::string &s, char quote) {
    static const char digits[] = "0123456789abcdef";
    std::string text(1, quote);
    for (char c : s) {
        if (c == quote || c == '\\') {
            text += '\\';
            text += c;
        } else if (c == '\n') {
            text += "\\n";
        } else if (c == '\t') {
            text += "\\t";
        } else if (static_cast<unsigned char>(c) < 32 || c == 127) {
            text += "\\x";
            text += digits[(c >> 4) & 15];
            text += digits[c & 15];
        } else {
            text += c;
        }
    }
    return text + quote;
}

std::string constant_to_text(const IntImm *op) {
    const std::string digits = std::to_string(op->value);
    return op->type == Int(32) ? digits : "(" + to_string(op->type) + ")" + digits;
}

std::string constant_to_text(const UIntImm *op) {
    if (op->type.is_bool()) {
        return op->value ? "true" : "false";
    }
    return "(" + to_string(op->type) + ")" + std::to_string(op->value);
}

std::string constant_to_text(const FloatImm *op) {
    const std::string type = "(" + to_string(op->type) + ")";
    if (std::isnan(op->value)) {
        return type + "nan";
    }
    if (std::isinf(op->value)) {
        return type + (op->value < 0 ? "-inf" : "inf");
    }
    // The fewest digits that give the value again.
    char buffer[64];
    const auto end = op->type.bits() == 64
                         ? std::to_chars(buffer, buffer + sizeof(buffer), op->value)
                         : std::to_chars(buffer, buffer + sizeof(buffer), float(op->value));
    std::string digits(buffer, end.ptr);
    if (digits.find_first_of(".e") == std::string::npos) {
        digits += ".0";
    }
    return op->type == Float(32) ? digits + "f" : type + digits;
}

Type default_call_type(const std::vector<Expr> &args) {
    return args.empty() ? Int(32) : args[0].type();
}

}  // namespace calotype::internal
