// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The dimension of storage that vectors lie along. Helper of flatten_storage.
#pragma once

#include <string>
#include <unordered_map>

#include "ir/stmt_nodes.h"

namespace calotype::internal {

/// Of the buffers that are realized in s those whose stores and loads by vectors all have lanes in one and the same
/// dimension, and that one. What is also loaded element by element is left out: such loads may follow another one.
///
///     realize f[0, 3], [x0, w] of float32 {
///         vectorized x { unrolled c { f(c, x) = ... } }
///         vectorized x { g(x) = f(0, x) + f(2, x) } }        -> f: 1
///
/// Requires: one value a Func (split_tuples); names are unique.
std::unordered_map<std::string, int> lane_dimensions(const Stmt &s);

}  // namespace calotype::internal
