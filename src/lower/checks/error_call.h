// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls of the runtime's error functions, as expressions for AssertStmt.
#pragma once

#include <string>
#include <vector>

#include "ir/expr.h"

namespace calotype::internal {

struct Call;

/// `calotype_error_<what>(user_context, args...)`: reports, and yields the error code.
Expr error_call(const std::string &what, std::vector<Expr> args);
/// Whether the call is one that error_call(what, ...) made.
bool is_error_call(const Call *call, const std::string &what);
/// The pipeline's user context: a handle.
Expr user_context();
/// A string constant that holds the expression as the user would write it.
Expr to_text(const Expr &e);
/// Assert that reports with calotype_error_<what>.
Stmt check(const Expr &condition, const std::string &what, std::vector<Expr> args);

}  // namespace calotype::internal
