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

}  // namespace calotype::internal
