// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Storage in the registers of lanes: where an element is, and how another lane gets it. Helper of
// stripe_lane_storage.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arith/simplify.h"
#include "ir/expr.h"

namespace calotype::internal {

/// Rows of `row` elements (0: one row without end). `chunk` neighbours in a row are of one lane,
/// the next ones of the next lane, and after `lanes` lanes of the first again:
///
///     element of the row    0  1  2  3  4  5 ... 62 63 64 65         chunk 2, 32 lanes
///     lane                  0  0  1  1  2  2 ... 31 31  0  0
///     slot                  0  1  0  1  0  1 ...  0  1  2  3
struct LaneStripes {
    int lanes = 0;
    int chunk = 0;  ///< 0: all elements are of lane `owner`
    int row = 0;
    int owner = 0;

    /// Of the element at an offset: the lane that has it, and where it stands in that lane's part.
    Expr lane(const Expr &offset) const;
    Expr slot(const Expr &offset) const;
};

/// The second argument of warp_shuffle, and its third.
enum class ShuffleMode { Index, Up, Down, Xor, Own };

/// How lanes get an element each.
struct LaneSource {
    ShuffleMode mode = ShuffleMode::Own;
    Expr lane;  ///< what the mode counts with; undefined where each lane has its own element
    /// Slots, each but the last with a condition: the first that holds counts.
    std::vector<std::pair<Expr, Expr>> slots;
    bool choose_after = false;  ///< the lane that gets it chooses the slot, not the one that gives
};

/// For the element at `offset`, a function of lane `x` (whose range `known` has) and of variables
/// that are the same in all lanes but for those in `own`. None where slots of lanes differ in more
/// ways than can be told apart.
std::optional<LaneSource> find_source(const LaneStripes &stripes, const Expr &offset,
                                      const std::string &x, const std::vector<std::string> &own,
                                      const SimplifyContext &known);

}  // namespace calotype::internal
