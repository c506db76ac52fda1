// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Small questions and substitutions that every pass asks of the IR.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "ir/stmt_nodes.h"

namespace calotype::internal {

/// True if a Variable of that name occurs free.
bool uses_var(const Expr &e, const std::string &name);
bool uses_var(const Stmt &s, const std::string &name);
/// True if a Variable occurs free for whose name `matches` holds.
bool any_free_variable(const Expr &e, const std::function<bool(const std::string &)> &matches);
/// True if any name of the list occurs free.
bool uses_any_var(const Expr &e, const std::vector<std::string> &names);
/// The same of a Scope or a set.
template<typename Names>
auto uses_any_var(const Expr &e, const Names &names) -> decltype(names.contains(std::string())) {
    return any_free_variable(e, [&](const std::string &name) { return names.contains(name); });
}
/// Names of free Variables, sorted.
std::vector<std::string> free_variables(const Expr &e);
std::vector<std::string> free_variables(const Stmt &s);
/// Names that Lets, LetStmts and loops bind, once for each time.
std::vector<std::string> bound_names(const Expr &e);
std::vector<std::string> bound_names(const Stmt &s);
/// Names of Variables, and of buffers and Funcs that are read or written, free or not.
std::set<std::string> names_used(const Expr &e);
std::set<std::string> names_used(const Stmt &s);
/// True if a Load, Store or Call of buffer or Func `name` occurs.
bool uses_buffer(const Expr &e, const std::string &name);
bool uses_buffer(const Stmt &s, const std::string &name);

/// Replace free Variables by name; binders that shadow a name stop the replacement, and are renamed
/// where they would capture.
Expr substitute(const std::string &name, const Expr &replacement, const Expr &e);
Stmt substitute(const std::string &name, const Expr &replacement, const Stmt &s);
Expr substitute(const std::map<std::string, Expr> &replacements, const Expr &e);
Stmt substitute(const std::map<std::string, Expr> &replacements, const Stmt &s);
inline Expr substitute(const char *name, const Expr &replacement, const Expr &e) {
    return substitute(std::string(name), replacement, e);
}
inline Stmt substitute(const char *name, const Expr &replacement, const Stmt &s) {
    return substitute(std::string(name), replacement, s);
}
/// Replace every subexpression that equals `find`.
Expr substitute(const Expr &find, const Expr &replacement, const Expr &e);
Stmt substitute(const Expr &find, const Expr &replacement, const Stmt &s);

/// Replace every Let and LetStmt variable by its value.
Expr substitute_in_all_lets(const Expr &e);
Stmt substitute_in_all_lets(const Stmt &s);

/// No effect and no dependence on mutable state: may be moved, duplicated or dropped.
bool is_pure(const Expr &e);
/// Evaluating it does something besides giving a value; reading memory is not such.
bool has_effects(const Expr &e);
/// Pure, and cheap to recompute: no loads, no calls but trivial ones.
bool is_simple(const Expr &e);
/// True for Variables, constants and broadcasts of them.
bool is_trivial(const Expr &e);
/// True if a node of kind K occurs anywhere.
bool contains_kind(const Expr &e, NodeKind kind);
bool contains_kind(const Stmt &s, NodeKind kind);
/// True if a call of the intrinsic occurs.
bool contains_intrinsic(const Expr &e, Intrinsic id);
bool contains_intrinsic(const Stmt &s, Intrinsic id);
/// True if likely or likely_if_innermost occurs.
bool contains_likely(const Expr &e);
bool contains_likely(const Stmt &s);
/// Strip likely / likely_if_innermost everywhere.
Expr remove_likelies(const Expr &e);
Stmt remove_likelies(const Stmt &s);
/// Replace promise_clamped by a real clamp, and unsafe_promise_clamped by its value.
Expr lower_promises(const Expr &e);
Stmt lower_promises(const Stmt &s);

}  // namespace calotype::internal
