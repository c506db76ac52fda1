// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What one split, fuse or rename means: the old variable in terms of the new ones, the new loops'
// ranges, and the tail.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/schedule.h"

namespace calotype {

using NamedValue = std::pair<std::string, Expr>;

/// All names are loop names (names::loop) of the stage.
struct SplitEffect {
    std::vector<NamedValue>
        loop_ranges;  ///< loop_min, loop_max, loop_extent of the new loops; go outside of all loops
    std::vector<NamedValue> lets;  ///< the old variables' values; go inside the loops they use
    Expr guard;                    ///< if defined: the body runs only where it holds
    Expr blend;  ///< if defined: elsewhere the stored value is the one already there
};

/// `x` -> `xo`, `xi` with factor 8 and GuardWithIf:
///     for x in [x.min, x.max]: body    ->    for xo in [0, (extent + 7) / 8): for xi in [0, 8):
///                                              let x = xo * 8 + xi + x.min
///                                              if (likely(x <= x.max)) body
/// `extents` maps plain variable names to their extent where the schedule fixes it; the split adds
/// its new variables. It decides whether a tail is needed at all. `fused` holds the variables that
/// come from a fuse, however indirectly; the split adds its own. Their tails are guarded whatever
/// was asked for: past the end of a fused loop there is no pixel to compute instead, and the range
/// of the loops it was made of can be promised.
SplitEffect split_loops(const std::string &func, int stage, const Split &split,
                        std::map<std::string, Expr> *extents, std::set<std::string> *fused);

/// Auto resolved: reductions are guarded, pure definitions shift inwards, pure variables of updates
/// round up.
TailStrategy resolve_tail(const Split &split, int stage);

/// The extent that the loops of `var` really cover, given that `extent` is required (more, where
/// tails round up or shift).
Expr covered_extent(const std::vector<Split> &splits, int stage, const std::string &var,
                    Expr extent);

}  // namespace calotype
