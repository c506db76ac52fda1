// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the evaluation of an expression does besides giving a value, and what takes long.
#pragma once

#include "ir/queries.h"
#include "ir/walk/search.h"

namespace calotype::internal {

/// True if it may be evaluated where its value is not needed: it has no effect and no load, which
/// could be out of bounds there.
inline bool is_speculatable(const Expr &e) {
    return is_pure(e) && !contains_kind(e, NodeKind::Load);
}

/// True if a linkable supplies what is called: it may be there on a device alone.
inline bool is_linked(const Call *op) {
    return op->symbol && op->symbol->kind == SymbolKind::Linkable;
}

/// True if such a call occurs. It must stay in the kernel, or the host's code, that it stands in.
inline bool calls_linkable(const Expr &e) {
    return contains<Call>(e, is_linked);
}

/// What takes the back end more than a few operations in a row, and mostly becomes a branch there, which no other
/// compiler behind it moves or finds again.
inline bool is_long_function(const Call *op) {
    return op && op->is_intrinsic({Intrinsic::sin, Intrinsic::cos, Intrinsic::tan, Intrinsic::asin,
                                   Intrinsic::acos, Intrinsic::atan, Intrinsic::atan2,
                                   Intrinsic::sinh, Intrinsic::cosh, Intrinsic::tanh,
                                   Intrinsic::asinh, Intrinsic::acosh, Intrinsic::atanh,
                                   Intrinsic::exp, Intrinsic::log, Intrinsic::pow, Intrinsic::erf});
}

}  // namespace calotype::internal
