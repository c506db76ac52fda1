// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// legalize: lowered code in terms of what a back end can do.
#pragma once

#include <functional>

#include "ir/stmt_nodes.h"

namespace calotype::internal {

/// A 16-bit float, of either kind.
inline bool is_small_float(Type t) {
    return t.is_float() && t.bits() == 16;
}

/// What a back end can do.
struct Capabilities {
    /// Whether it has that operation (an operator, a comparison, Ramp, VectorReduce) on 16-bit
    /// floats of that type. Not asked about other types.
    std::function<bool(NodeKind, Type)> has_small_float_operation;
    /// Whether it has code for the call of an intrinsic as it is.
    std::function<bool(const Call *)> has_intrinsic;
};

///     float16 a + b          ->   float16(float32(a) + float32(b))       without such arithmetic
///     halving_add(f(x), y)   ->   let t = f(x) in (t & y) + ((t ^ y) >> 1)   without that
///     intrinsic
///
/// What can be done neither way is left for the back end to refuse by name.
Stmt legalize(const Stmt &s, const Capabilities &can);
Expr legalize(const Expr &e, const Capabilities &can);

/// True if part of the code asks for float arithmetic exactly as it is written (strict_add, ...),
/// which languages that contract products and sums have to be told.
bool contains_strict_float(const Stmt &s);

}  // namespace calotype::internal
