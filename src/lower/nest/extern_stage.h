// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stages computed by a C function (define_extern).
#pragma once

#include "lower/context.h"

namespace calotype {

/// The call of f's C function over the region required of f: inputs and outputs as buffers, an error code back.
Stmt make_extern_stage(const Function &f, LowerContext &ctx);

}  // namespace calotype
