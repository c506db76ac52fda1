// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// multiply_in_sums: makes products of divisions by constants that are only added and multiplied.
#pragma once

#include "ir/stmt_nodes.h"
#include "lower/context.h"

namespace calotype::internal {

/// A quotient of floats that is only added, subtracted and multiplied is a product with the
/// reciprocal; where it also occurs elsewhere (rounded, compared, stored) it stays as it is in
/// sums, too:
///
///     f[x] = g[x]/9.0f + h[x]              ->   f[x] = g[x]*(1/9.0f) + h[x]
///     f[x] = g[x]/9.0f - floor(g[x]/9.0f)
///
/// Back ends for LLVM would do so by themselves (codegen/llvm/passes/constant_divisors.h), those
/// that write C would not; and passes of the user see what is computed.
///
/// Requires: no likely(); not for strict_float.
/// Establishes: nothing that other passes rely on.
/// Order: late, as the simplifier knows more about quotients than about products.
Stmt multiply_in_sums(const Stmt &s, LowerContext &ctx);

}  // namespace calotype::internal
