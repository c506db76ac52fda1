// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// split_tuples: splits the storage of a Func of several values into one buffer for each.
#pragma once

#include "ir/stmt_nodes.h"
#include "lower/context.h"

namespace calotype::internal {

/// One buffer, one store and one name for each value of a Tuple-valued Func.
///
///     realize f[0, 10] of int32, float32 {              realize f.0[0, 10] of int32 {
///       f(x) = {f(x)[1] + 1, f(x)[0]}           ->        realize f.1[0, 10] of float32 {
///     }                                                     let f.1.value = f.0(x)
///                                                           f.0(x) = f.1(x) + 1
///                                                           f.1(x) = f.1.value
///                                                         }
///                                                       }
///
/// All values and coordinates are evaluated before the first store, as one step.
///
/// Requires: Funcs are multi-dimensional (Realize, Provide, Call of CallKind::Func).
/// Establishes: every Realize, Provide, Prefetch and HoistedStorage is about one value, named by
///     Function::buffer_name; calls of Funcs have value_index 0.
/// Order: after all passes that see a Func as a whole (sliding, folding, async), before storage is
///     made flat.
Stmt split_tuples(const Stmt &s, LowerContext &ctx);

}  // namespace calotype::internal
