// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ramps that leave gaps. Helper of rewrite_interleaving and load_densely.
#pragma once

#include <cstdint>
#include <optional>

#include "ir/expr.h"

namespace calotype::internal {

/// A plain ramp of constant stride greater than one, its base as a sum with a constant.
struct StridedIndex {
    Expr base;
    int64_t offset, stride;
    int lanes;
};

/// Undefined if the index is none, its stride is larger than that, or some lanes may be off.
std::optional<StridedIndex> strided_index(const Expr &index, const Expr &predicate,
                                          int64_t largest);

/// So many lanes from base + offset on.
Expr dense_index(const Expr &base, int64_t offset, int64_t lanes);

/// True if all lanes are on.
bool is_always(const Expr &predicate);

}  // namespace calotype::internal
