// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// align_accesses: finds the alignment of vectors in memory, and of all accesses in kernels.
#pragma once

#include "ir/stmt_nodes.h"
#include "lower/context.h"

namespace calotype::internal {

/// Each load and store in a kernel, and of vectors on the host, is told what its index (of vectors:
/// the first lane's) is modulo something, so that neighbours can be accessed at once:
///
///     if (stride % 4 == 0) {                          if (stride % 4 == 0) {
///       gpu_block (b, 0, n) {                           gpu_block (b, 0, n) {
///         gpu_thread (t, 0, 64) {                         gpu_thread (t, 0, 64) {
///           f[b*stride + t*4] = 1               ->          f[b*stride + t*4 align(4, 0)] = 1
///           f[b*stride + t*4 + 1] = 1                       f[b*stride + t*4 + 1 align(4, 1)] = 1
///         }                                               }
///       }                                               }
///     }                                               }
///
/// What is known comes from lets, and from conditions and assertions around: remainders of names,
/// and names that equal something. Asynchronous copies are cut where addresses are not known to
/// be at multiples of their size.
///
/// Requires: flat storage.
/// Establishes: asynchronous copies are of 4, 8 or 16 bytes, at multiples of that.
/// Order: after the last pass that changes indices, where lets are few; before offload_kernels,
///     which takes kernels away from what is known around them.
Stmt align_accesses(const Stmt &s, LowerContext &ctx);

}  // namespace calotype::internal
