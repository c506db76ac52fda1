// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Helper of passes that bound an expression whatever its Selects choose.
#pragma once

#include "ir/expr.h"

namespace calotype::internal {

/// A comparison that a Select in e asks, by itself or beside others; undefined if there is none.
/// Put in the place of all that are equal to it, an answer decides all Selects that ask the same.
Expr select_question(const Expr &e);

}  // namespace calotype::internal
