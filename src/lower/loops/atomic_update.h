// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Recognises stores that combine one more value into an element: `f[i] = f[i] + e`. Helper of
// vectorize_loops and others that reduce.
#pragma once

#include <functional>
#include <optional>

#include "ir/stmt_nodes.h"

namespace calotype::internal {

/// An update by an operation that may be applied in any order.
struct AtomicUpdate {
    VectorReduce::Operator op;
    Expr operand;  ///< what is combined into the element
    Expr old;      ///< the element as it was
    /// The value to store for another old value and operand, which may be vectors.
    std::function<Expr(const Expr &old, const Expr &operand)> rebuild;
};

/// The update that the store is, if it is one.
std::optional<AtomicUpdate> match_atomic_update(const Store *store);

/// a combined with b.
Expr combine(VectorReduce::Operator op, const Expr &a, const Expr &b);

/// The value that changes nothing when combined; t may be a vector.
Expr reduction_identity(VectorReduce::Operator op, const Type &t);

}  // namespace calotype::internal
