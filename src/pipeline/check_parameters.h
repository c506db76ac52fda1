// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks of expressions that must be known before a pipeline's loops run: those of parameters alone.
#pragma once

#include <string>

#include "ir/expr.h"

namespace calotype::internal {

/// What of memory an expression may read that is evaluated before the loops.
enum class Reads { Nothing, KnownBuffers, Anything };

/// CompileError unless e has one value before any loop runs: its variables are parameters, it reads no
/// other memory, and is neither random nor undefined. `what` names it.
void check_is_of_parameters(const Expr &e, const std::string &what,
                            Reads reads = Reads::KnownBuffers);
/// The same, and unless e fits in int32.
void check_int32_of_parameters(const Expr &e, const std::string &what,
                               Reads reads = Reads::KnownBuffers);

}  // namespace calotype::internal
