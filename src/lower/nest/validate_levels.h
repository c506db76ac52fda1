// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Are a Func's compute and store levels legal?
#pragma once

#include "lower/context.h"

namespace calotype::internal {

/// Throws CompileError if, in the nest s, some use of f stands outside of its production, or its
/// storage does not enclose its computation, or iterations that run in no order would share it. The
/// message names the levels that would be legal.
void validate_levels(const Stmt &s, const Function &f, const LowerContext &ctx);

}  // namespace calotype::internal
