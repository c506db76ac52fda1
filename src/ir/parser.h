// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads what ir/printer.h writes: parse_stmt(to_string(s)) equals s, but for text that was cut
// short ("#3"). Errors are CompileErrors with line, column and what was expected.
#pragma once

#include <string>

#include "ir/stmt_nodes.h"

namespace calotype::internal {

/// Free names are Variables; their types come from annotations in the text ("x:float32"), int32
/// where there is none.
Expr parse_expr(const std::string &text);
Stmt parse_stmt(const std::string &text);

}  // namespace calotype::internal
