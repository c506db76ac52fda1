// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Updates of a Tuple in which no value looks at another one. Helper of add_atomic_mutex and
// split_tuples.
#pragma once

#include "ir/stmt_nodes.h"

namespace calotype::internal {

/// Whether value i of what is stored reads the Func at most as the element it replaces, or where
/// nothing is stored.
///     f(x) = {f(x)[0] + 1, f(x)[0] + f(x)[1]}         0: true, 1: false
bool reads_own_element(const Provide *op, size_t i);

/// Whether that is true of all values, and coordinates and predicate do not read the Func: then the
/// stores are updates of their own, in any order.
bool has_independent_values(const Provide *op);

/// Whether value i is the element itself, so that nothing need be stored.
bool keeps_element(const Provide *op, size_t i);

}  // namespace calotype::internal
