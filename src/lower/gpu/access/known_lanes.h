// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Vectors whose lanes are constants apart. Helper of flatten_ramps.
#pragma once

#include <optional>
#include <vector>

#include "ir/alignment.h"
#include "ir/expr.h"
#include "support/scope.h"

namespace calotype::internal {

/// Lane i is base + offsets[i].
struct KnownLanes {
    Expr base;
    std::vector<int64_t> offsets;
};

/// An index of type int32 with lanes as in
///
///     ramp(x * 16, 1, 8) / broadcast(4, 8)       x * 4, and 0 0 0 0 1 1 1 1
///     ramp(x * 16, 1, 8) % broadcast(4, 8) + 1   0, and 1 2 3 4 1 2 3 4
///
/// Variables are known by their alignment in `vars`, those that stand for vectors not at all.
std::optional<KnownLanes> known_lanes(const Expr &index, const Scope<Alignment> &vars);

/// Lanes that have a base in common.
struct LaneGroup {
    Expr base;
    std::vector<int> lanes;
    std::vector<int64_t> offsets;  ///< one for each of the lanes
};

/// The same where a quotient's remainder is not known: the lanes of each remainder go together.
///
///     ramp(x, 1, 8) / broadcast(2, 8)            x / 2: lanes 0 2 4 6, and (x + 1) / 2: lanes 1 3 5 7
///
/// Empty if it is none of these.
std::vector<LaneGroup> lane_groups(const Expr &index, const Scope<Alignment> &vars);

}  // namespace calotype::internal
