// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// widen: the body of one vectorised loop as vector code. Helper of vectorize_loops.
#pragma once

#include "ir/stmt_nodes.h"
#include "lower/context.h"

namespace calotype::internal {

/// The effect of all `lanes` iterations of `loop`. Vectorised loops inside of it stay loops.
Stmt widen(const For *loop, int lanes, LowerContext &ctx);

}  // namespace calotype::internal
