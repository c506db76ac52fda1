// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The range of values of each Func, over all coordinates.
#pragma once

#include "lower/context.h"

namespace calotype::internal {

/// Requires ctx.env and ctx.order. Bounds depend on parameters and constants alone. Used for
/// indices that are data: `hist(clamp(im(r.x), 0, 255))`.
FuncValueBounds func_value_bounds(const LowerContext &ctx);

}  // namespace calotype::internal
