// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// clamp_unsafe_accesses: values of Funcs that serve as coordinates are kept within the range that
// bounds inference relied on.
#pragma once

#include "lower/context.h"

namespace calotype::internal {

/// Where a stage computes more than is needed (tails of splits, explicit bounds), it may read
/// another Func beyond what that one computed: allocated, but never written. Such a value is not
/// used for anything that matters, unless it is a coordinate: then the access is out of bounds.
///
///     g(x) = input(h(x))    ->    g(x) = input(max(min(h(x), 100), 0))
///
/// where h is known to give values of [0, 100]. Values whose range is that of their type stay as
/// they are, and so do coordinates that stay in bounds whatever the value is.
///
/// Requires:    ctx.func_bounds.
/// Establishes: no coordinate depends on what storage holds that was not written.
/// Order:       after the passes that infer regions from coordinates (infer_bounds,
///              bound_allocations, add_buffer_checks), for which the clamps would be in the way.
Stmt clamp_unsafe_accesses(const Stmt &s, LowerContext &ctx);

}  // namespace calotype::internal
