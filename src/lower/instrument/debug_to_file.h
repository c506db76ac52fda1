// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// debug_to_file: writes the values of a Func to a file after they are computed.
#pragma once

#include "lower/context.h"

namespace calotype::internal {

/// What `f.debug_to_file(name)` asks for: when all of the storage of f has been computed and used,
/// it is written to the file.
///
///     realize f {                                       realize f {
///       ...                                      ->       ...
///     }                                                   calotype_debug_to_file("name", f.buffer)
///                                                       }
///
/// Of an output, at the end of its production. Values of a tuple go to files with a number before
/// the extension.
///
/// Requires:    Func-level storage.
/// Establishes: storage that is written is used as a whole, as by an extern stage.
/// Order:       before fold_storage, which leaves such storage alone.
Stmt debug_to_file(const Stmt &s, LowerContext &ctx);

}  // namespace calotype::internal
