// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Strided vectors: a base and the step from lane to lane.
#pragma once

#include <optional>

#include "ir/expr.h"

namespace calotype::internal {

/// A vector as base + lane * stride, both scalars.
struct AffineLanes {
    Expr base, stride;
};

/// e as an affine vector, if its structure shows it (ramps, broadcasts, their sums and products
/// with constants). A scalar has stride zero. Wrapping integer types are handled (the sums wrap
/// alike).
std::optional<AffineLanes> affine_lanes_of(const Expr &e);

/// The stride alone, simplified; undefined if e is not known to be affine.
Expr lane_stride_of(const Expr &e);

}  // namespace calotype::internal
