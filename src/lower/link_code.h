// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// link_code: modules get the linkables that their code calls.
#pragma once

#include "ir/module.h"
#include "lower/context.h"

namespace calotype::internal {

/// Fills in `linked` of the module, for what its functions of the host call, and of each of its
/// device modules, for what kernels call and for what is pinned. A linkable that comes to be in
/// none is a warning.
void link_code(LoweredModule &module, const LowerContext &ctx);

}  // namespace calotype::internal
