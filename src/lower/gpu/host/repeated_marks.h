// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// without_repeated_marks: marks of what the host has written, once where stages follow one another.
#pragma once

#include "ir/stmt_nodes.h"

namespace calotype::internal {

/// Leaves out a mark buffer_set_host_dirty(f.buffer) if the same mark follows, and nothing before that
/// may look at it or end the pipeline:
///
///     f[i] = 1                               f[i] = 1
///     buffer_set_host_dirty(f.buffer)   ->   f[i + 1] = 2
///     f[i + 1] = 2                           buffer_set_host_dirty(f.buffer)
///     buffer_set_host_dirty(f.buffer)
///
/// Stores that follow one another can then become one.
Stmt without_repeated_marks(const Stmt &s);

}  // namespace calotype::internal
