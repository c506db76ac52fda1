// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// add_parameter_checks: checks scalar parameters and the pipeline's requirements when it starts.
#pragma once

#include "lower/context.h"

namespace calotype::internal {

///     s   ->   assert(p >= 1, calotype_error_param_too_small_i64("p", p, 1)); s
///
/// Requires: ctx.used, ctx.requirements.
/// Establishes: scalar parameters lie in their declared range, requirements hold, wherever the
///     statement runs.
/// Order: before add_buffer_checks, so that a bounds query is answered without them; after
///     infer_bounds, so that a parameter is refused before explicit bounds that it makes too small.
Stmt add_parameter_checks(const Stmt &s, LowerContext &ctx);

}  // namespace calotype::internal
