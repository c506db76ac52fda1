// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The meaning of one split, fuse or rename: the old variable in terms of the new ones, the new
// loops' ranges, and the tail.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "pipeline/function.h"
#include "pipeline/loop_graph.h"

namespace calotype::internal {

using NamedValue = std::pair<std::string, Expr>;

/// All names are loop names (names::loop) of the stage.
struct SplitEffect {
    std::vector<NamedValue>
        loop_ranges;  ///< loop_min, loop_max, loop_extent of the new loops; go outside of all loops
    std::vector<NamedValue> lets;  ///< the old variables' values; go inside the loops they use
    Expr guard;                    ///< if defined: the body runs only where it holds
    Expr guard_of_loads;           ///< if defined: elsewhere nothing is loaded
    Expr guard_of_stores;          ///< if defined: elsewhere nothing is stored
    Expr blend;  ///< if defined: elsewhere the stored value is the one already there
};

/// `x` -> `xo`, `xi` with factor 8 and GuardWithIf:
///     for x in [x.min, x.max]: body    ->    for xo in [0, (extent + 7) / 8): for xi in [0, 8):
///                                              let x = xo * 8 + xi + x.min
///                                              if (likely(x <= x.max)) body
/// `may_be_negative`: extents may, as those of regions that a condition leaves less than nothing of.
SplitEffect split_loops(const std::string &func, int stage, const LoopGraph &graph,
                        const LoopStep &step, bool may_be_negative);

/// The extent of a loop, given that `extent` is required: more, where tails round up or shift. What
/// inner loops do beyond the last block is not in it.
Expr covered_extent(const LoopGraph &graph, int loop, Expr extent);

/// Whether a stage's loops may cover more than is required of the Func.
bool fills_blocks(const Function &f);

/// What of it is due to a tail that is shifted: at least one block.
Expr shifted_extent(const LoopGraph &graph, int loop, const Expr &extent);

}  // namespace calotype::internal
