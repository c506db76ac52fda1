// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Instructions of the tile registers (AMX).
#pragma once

#include "codegen/llvm/emitter.h"

namespace calotype::internal {

/// The instruction for a tile_... intrinsic; null for any other call.
llvm::Value *emit_x86_tiles(FunctionEmitter &f, const Call *op);

}  // namespace calotype::internal
