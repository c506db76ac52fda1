// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// fuzz_float_stores: shows which results depend on the last bit of a float.
#pragma once

#include "lower/context.h"

namespace calotype::internal {

/// With the target feature of that name, floats are stored without the last bit.
///
///     f[x] = v   ->   f[x] = reinterpret(reinterpret(v) & ~1)
///
/// Atomic updates stay as they are.
///
/// Requires:    addresses, not coordinates.
/// Establishes: nothing that others need.
/// Order:       after the passes that recognize what is stored: copies, products of matrices.
Stmt fuzz_float_stores(const Stmt &s, LowerContext &ctx);

}  // namespace calotype::internal
