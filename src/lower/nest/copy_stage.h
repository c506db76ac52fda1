// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// copy_to_device() and copy_to_host(): Funcs that are carried out by the runtime's buffer copy.
// Helper of prepare.
#pragma once

#include "lower/context.h"

namespace calotype::internal {

/// Every Func of the pipeline with such a directive becomes an extern stage:
///
///     g.copy_to_device():  g(x, y) = f(x, y)
///     ->
///     calotype_buffer_copy(__user_context, f.buffer, calotype_cuda_device_interface(), g.crop)
void make_copy_stages(LowerContext &ctx);

/// True if f has been made such a stage: it needs of its source what is required of itself.
bool is_copy_stage(const Function &f);

}  // namespace calotype::internal
