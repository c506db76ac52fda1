// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Takes the chosen value for a choice that a constant decides.
#pragma once

#include "lower/context.h"

namespace calotype::internal {

/// Rewrites the definitions of ctx.env in place:
///
///     f(x) = select(true, g(x), h(x))    ->    f(x) = g(x)
///
/// Choices by generator parameters and by the loops of the program that builds a pipeline are such. To be
/// inlined, both sides would be expanded, and both sides of what these call: n stages with one such choice
/// each became 2^n values. Funcs that nothing calls then are gone. Where one of them is not inlined, all stays
/// as it is: schedules may name it.
void fold_choices(LowerContext &ctx);

}  // namespace calotype::internal
