// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// load_rows: a thread that goes along a row reads several elements at once.
#pragma once

#include "ir/stmt_nodes.h"
#include "lower/context.h"

namespace calotype::internal {

/// In a kernel, a loop of one thread that reads neighbours one after the other takes them as vectors, and does as many
/// iterations at once:
///
///     for r in [0, n) {                                 for r in [0, n/4) {
///       sum[0] = sum[0] + f[t*stride + r]       ->        let row = f[ramp(t*stride + r*4, 1, 4)]
///     }                                                   sum[0] = sum[0] + row[0]
///                                                         ... row[3]
///                                                       }
///                                                       for r in [n/4*4, n) { as before }
///
/// The threads of a warp then touch a quarter as often what are as many lines of the cache as there are threads. Only where the
/// vectors can be aligned, by strides and addresses that assume_alignment asks for; threads that read
/// neighbours of each other are served by one access already. The order of the iterations stays.
///
/// Only for CUDA.
///
/// Requires: flat storage, kernels in the form of kernel_nest.h.
/// Establishes: nothing that other passes rely on.
/// Order: after simplify_late, before assume_alignment.
Stmt load_rows(const Stmt &s, LowerContext &ctx);

}  // namespace calotype::internal
