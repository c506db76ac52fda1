// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Recognises loops that copy a rectangle of a matrix into shared memory. Helper of
// select_matrix_instructions.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/stmt_nodes.h"
#include "lower/context.h"
#include "lower/gpu/kernel_nest.h"
#include "lower/gpu/matrix/panel_layout.h"

namespace calotype::internal {

/// Storage of `layout.width` by `layout.rows` elements is filled with those of the input `from` that
/// begin at these coordinates, counted from its mins. Its rows follow one another in `dimension` of
/// the input.
struct TileCopy {
    std::string from;
    Type type;
    int dimension = 1;
    std::vector<Expr> coordinates;
};

/// What `fill`, which the threads of a block carry out together, does to the storage `to`: nothing
/// found if it is not such a copy, if the tensor memory unit cannot make it, or if it is not known
/// that rows of the input begin at multiples of 16 bytes. `lets` are those around.
std::optional<TileCopy> match_tile_copy(const Stmt &fill, const std::string &to,
                                        const PanelLayout &layout,
                                        const std::vector<KernelLoop> &threads,
                                        const std::map<std::string, Expr> &lets,
                                        const LowerContext &ctx);

}  // namespace calotype::internal
