// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Expressions that a declaration holds refer to it without its symbol, or it would own itself.
#pragma once

#include <functional>
#include <string>

#include "ir/expr.h"
#include "ir/symbol.h"

namespace calotype::internal {

/// True for a name of the declaration's own, where it has that symbol.
using IsOwn = std::function<bool(const std::string &name, const SymbolPtr &symbol)>;

/// e, in which whatever has the symbol has none.
Expr without_symbol(const Expr &e, const SymbolPtr &symbol);
/// e, in which Variables and images that are the declaration's own have the given symbol, or none.
Expr with_own_symbol(const Expr &e, const SymbolPtr &symbol, const IsOwn &is_own);

}  // namespace calotype::internal
