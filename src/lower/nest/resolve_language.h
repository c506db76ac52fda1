// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Resolves calls of the language that later passes need not know.
#pragma once

#include "lower/context.h"

namespace calotype::internal {

/// Rewrites the Funcs of ctx.env and the requirements in place:
///   target_has_feature("avx2"), target_bits(), ...  ->  constants
///   random_float(seed) in f(x, y)                   ->  a hash of f, the call's place in f, x, y
///   and the seed
void resolve_language(LowerContext &ctx);
/// The same of a constraint of a parameter, which belongs to no Func.
Expr resolve_language(const Expr &e, const Target &target);

}  // namespace calotype::internal
