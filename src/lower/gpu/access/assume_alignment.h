// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// assume_alignment: adds versions of kernels for buffers whose rows are aligned to vectors.
#pragma once

#include "ir/stmt_nodes.h"
#include "lower/context.h"

namespace calotype::internal {

/// A vector is one access of memory where its address is a multiple of its size. Where that hangs
/// on strides, mins and addresses that only the caller knows, a kernel is made twice:
///
///     gpu_block (b, 0, n) {                   if (f.stride.1 % 4 == 0 && f's address % 16 == 0) {
///       gpu_thread (t, 0, 64) {                 gpu_block (b, 0, n) {
///         f[ramp(b*f.stride.1               ->    gpu_thread (t, 0, 64) {
///                + t*4, 1, 4)] = 1                  f[ramp(b*f.stride.1 + t*4, 1, 4)
///       }                                              align(4, 0)] = 1
///     }                                           }
///                                               }
///                                             } else {
///                                               as before
///                                             }
///
/// An index is taken as a sum of products. Products with the kernel's own variables are multiples
/// if something in them that is the same for the whole launch is one; of what is the same for the
/// whole launch, the sum has to be a multiple. Indices that are anything else (the minimum of two,
/// say) stay as they are: block loops that are partitioned have few of them.
///
/// In the version of which more is known rows are read as vectors (load_rows.h), and stores of neighbours are joined
/// (join_stores.h) where that makes them one access.
///
/// A kernel that computes hundreds of operations for each access that this would save stays one: its code is large,
/// and compiled twice.
///
/// Only for CUDA, where addresses are numbers.
///
/// Requires: flat storage, kernels in the form of kernel_nest.h.
/// Establishes:    -
/// Order: after simplify_late and align_accesses, which finds what is known without; before offload_kernels, which
///     looks at conditions on addresses.
Stmt assume_alignment(const Stmt &s, LowerContext &ctx);

}  // namespace calotype::internal
