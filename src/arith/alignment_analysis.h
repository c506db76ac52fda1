// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Alignment analysis: the remainder of an integer expression modulo a constant, where it is known.
#pragma once

#include "arith/constant_interval.h"
#include "ir/expr.h"
#include "support/scope.h"

namespace calotype::internal {

/// A fact that holds for every value (and lane) of integer e; of other types {1, 0}. Of variables,
/// those in `vars` are known by their alignment. Where a type wraps, the modulus divides 2^bits
/// unless the value is constant. The remainder is in [0, modulus) when modulus > 0.
Alignment alignment_of(const Expr &e, const Scope<Alignment> &vars = Scope<Alignment>());

/// e % modulus if it is known, into *remainder.
bool reduce_modulo(const Expr &e, int64_t modulus, int64_t *remainder,
                   const Scope<Alignment> &vars = Scope<Alignment>());

}  // namespace calotype::internal
