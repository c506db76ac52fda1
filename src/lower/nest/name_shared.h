// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// name_shared: turns shared subexpressions into lets where the tree would be much larger than the
// graph.
#pragma once

#include "lower/context.h"

namespace calotype::internal {

///     g(x) = (a * a + 1) * (a * a + 1) with a = ...      ->     let t0 = ...
///                                                               let t1 = t0 * t0 + 1
///                                                               g(x) = t1 * t1
///
/// Requires:    nothing.
/// Establishes: no expression of more than 2048 nodes that is 8 times as large when what is shared
///     is written out. Smaller ones are left alone: they are named after simplification.
/// Order:       after build_nest, which keeps what definitions and inlining share; the passes that
///     follow walk trees.
Stmt name_shared(const Stmt &s, LowerContext &ctx);

}  // namespace calotype::internal
