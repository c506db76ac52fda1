// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A thread that goes along a row, or reads neighbours, reads several elements at once. Helper of assume_alignment.
#pragma once

#include "ir/stmt_nodes.h"
#include "lower/context.h"
#include "lower/gpu/access/polynomial.h"

namespace calotype::internal {

/// A kernel in which a loop of one thread that reads neighbours one after the other takes them as vectors, and does as
/// many iterations at once:
///
///     for r in [0, n) {                                 for r in [0, n/4) {
///       sum[0] = sum[0] + f[t*stride + r]       ->        let row = f[ramp(t*stride + r*4, 1, 4)]
///     }                                                   sum[0] = sum[0] + row[0]
///                                                         ... row[3]
///                                                       }
///                                                       for r in [n/4*4, n) { as before }
///
/// An iteration may read several neighbours (those of 2*r and 2*r + 1, or what unrolling put side by side), if nothing is
/// missing between them and those of the next. Neighbours that a thread reads without a loop are vectors as well.
///
/// The threads of a warp then touch a quarter as often what are as many lines of the cache as there are threads. Only where the
/// vectors can be aligned, by strides and addresses that assume_alignment asks for: vectors that are not are single loads
/// again, and loops with a remainder of their own. Threads that read neighbours of each other are served by one access
/// already. The order of the iterations stays.
///
/// `known` are the names around the kernel that stand for sums of products.
Stmt load_rows(const For *kernel, const Polynomials &known, LowerContext &ctx);

}  // namespace calotype::internal
