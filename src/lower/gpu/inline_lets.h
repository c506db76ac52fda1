// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lets of whole numbers put into their places, so that what cancels can be seen. Helper of
// fuse_thread_loops.
#pragma once

#include "arith/simplify.h"
#include "ir/stmt_nodes.h"

namespace calotype::internal {

/// LetStmts of pure scalar integers and bools that read no memory are gone, unless their values
/// repeat a large part of themselves, and so are marks of what is likely; then simplified, with
/// what is known of free variables. Shared nodes stay shared.
Stmt inline_integer_lets(const Stmt &s, const SimplifyContext &context);

}  // namespace calotype::internal
