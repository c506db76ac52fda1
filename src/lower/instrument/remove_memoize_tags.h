// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// remove_memoize_tags: replaces memoize_tag(value, ...) by its value.
#pragma once

#include "lower/context.h"

namespace calotype::internal {

///     memoize_expr(e, key values...)             ->     e
///
/// Requires:    nothing.
/// Establishes: no memoize_expr. The definitions in ctx.env keep theirs: keys are made of them
///     (lower/instrument/look_up_memoized.h).
/// Order:       before infer_bounds, which is to see e alone.
Stmt remove_memoize_tags(const Stmt &s, LowerContext &ctx);

}  // namespace calotype::internal
