// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ramps of ramps, as nested loops that are vectorised make them. Helper of flatten_ramps.
#pragma once

#include <optional>
#include <vector>

#include "ir/expr.h"

namespace calotype::internal {

/// A vector of integers whose lanes step through several dimensions, the first fastest:
///
///     ramp(ramp(x, s, 8), x8(1), 16)     x, in dimensions of 8 lanes that are s apart, and 16 that are 1
struct LaneGrid {
    struct Dim {
        Expr stride;  ///< scalar
        int lanes;
    };
    Expr base;  ///< scalar
    std::vector<Dim> dims;

    int lanes() const;
    /// Without the slowest dimension, at its lane i.
    LaneGrid inner(int i) const;
    /// Whether it is made of vectors that are dense, or the same several times.
    bool has_rows() const;
    /// Whether elements that are next to each other in memory are not so in the vector, but the
    /// vector's slowest dimension steps through them.
    bool ends_dense() const;
    /// Where each row of the slowest dimension begins, in order of the lanes of the others.
    std::vector<Expr> row_bases() const;
};

/// Sums of such vectors and multiples of them are such vectors, too:
///
///     broadcast(ramp(x, 1, 8), 16) + shuffle(ramp(y, 1, 16) * x16(s), each lane 8 times)
///
/// Undefined if it is anything else.
std::optional<LaneGrid> lane_grid(const Expr &index);

}  // namespace calotype::internal
