// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks of schedules that need all Funcs of a pipeline, but no loops yet.
#pragma once

#include "lower/context.h"

namespace calotype::internal {

/// CompileErrors for directives that contradict each other: storage or loops of a Func that is
/// inlined, storage inside of where its Func is computed, rings of storage that no loop turns,
/// wrappers that nobody calls, memory that no code is made for, names of parameters that Funcs
/// have.
///
/// Requires: ctx.outputs, ctx.env, with levels locked and before wrappers are applied.
void validate_schedules(const LowerContext &ctx);

/// The same for Funcs that share loops: none is memoized, as what one lacks would be computed with
/// what the other has.
///
/// Requires: ctx.fused_groups.
void validate_groups(const LowerContext &ctx);

/// The same for what is known once the parameters are: names that Funcs and parameters share.
///
/// Requires: ctx.used.
void validate_names(const LowerContext &ctx);

}  // namespace calotype::internal
