// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Definitions that the printer and the parser of IR text share: precedences, names, constants. The
// grammar is in docs/ir.md.
#pragma once

#include <string>

#include "ir/expr_nodes.h"

namespace calotype::internal {

/// How tightly operators bind, loosest first. Operators of one level group to the left; comparisons
/// do not chain.
enum class Precedence { Let, Or, And, Comparison, Sum, Product, Primary };

inline Precedence next(Precedence p) {
    return Precedence(int(p) + 1);
}

/// An infix operator of the text.
struct InfixOperator {
    NodeKind kind;
    const char *symbol;
    Precedence precedence;
};
/// The infix operator of a node kind, or by its symbol; null if there is none.
const InfixOperator *infix_operator(NodeKind kind);
const InfixOperator *infix_operator(const std::string &symbol);

/// Words that cannot be plain names: keywords, functions of the syntax, names of types.
bool is_reserved_word(const std::string &word);
/// The name as the text has it: plain if it is made of letters, digits, _, $ and inner dots, does
/// not begin with a digit and is not reserved; else in backquotes. `called`: names of intrinsics
/// are reserved as well.
std::string name_to_text(const std::string &name, bool called = false);
/// In double quotes (or the given quote), with escapes for what is not printable.
std::string quote(const std::string &s, char quote = '"');
/// A constant: 3, (uint8)3, true, 1.5f, (float64)inf.
std::string constant_to_text(const IntImm *op);
std::string constant_to_text(const UIntImm *op);
std::string constant_to_text(const FloatImm *op);

/// The type that a call has unless the text says otherwise: that of the first argument, int32
/// without arguments.
Type default_call_type(const std::vector<Expr> &args);

}  // namespace calotype::internal
