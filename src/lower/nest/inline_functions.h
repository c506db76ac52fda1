// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Replacing calls to a Func by its values.
#pragma once

#include "pipeline/function.h"

namespace calotype::internal {

///     f(x) = x * 2;   g(x) = f(x + 1)   ->   g(x) = (x + 1) * 2
///
/// f must be pure. Arguments that are costly are named by a Let, so that the result is no larger
/// than it must be.
Stmt inline_function(const Stmt &s, const Function &f);
Expr inline_function(const Expr &e, const Function &f);

}  // namespace calotype::internal
