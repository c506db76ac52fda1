// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The width of one memory access on a GPU. Helper of the passes on kernels.
#pragma once

#include "ir/constants.h"
#include "ir/stmt_nodes.h"

namespace calotype::internal {

constexpr int max_access_bytes = 16;

/// True for the index of a vector of neighbours, all of whose lanes are accessed.
inline bool is_dense(const Expr &index, const Expr &predicate) {
    const Ramp *ramp = index.as<Ramp>();
    const Broadcast *alive = predicate.as<Broadcast>();
    return ramp && ramp->base.type().is_scalar() && is_const_one(ramp->stride) &&
           is_const_one(alive ? alive->value : predicate);
}

/// The index of the first of neighbours, or of the only element; undefined of other vectors.
inline Expr first_of_neighbours(const Expr &index) {
    if (const Ramp *ramp = index.as<Ramp>()) {
        return ramp->base.type().is_scalar() && is_const_one(ramp->stride) ? ramp->base : Expr();
    }
    return index.type().is_scalar() ? index : Expr();
}

}  // namespace calotype::internal
