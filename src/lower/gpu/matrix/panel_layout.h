// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The layout in shared memory that warpgroups read operands in. Helper of
// select_matrix_instructions.
#pragma once

#include <optional>
#include <string>

#include "arith/simplify.h"
#include "ir/stmt_nodes.h"

namespace calotype::internal {

/// A matrix in panels of 128 bytes a row, one panel after the other. In row r of a panel, the i-th
/// piece of 16 bytes stands at i ^ (r % 8), so that 8 pieces below each other are in different banks
/// (PTX ISA, "Shared Memory Matrix Layout", 128-byte swizzling). It begins at a multiple of 1024 bytes.
struct PanelLayout {
    int element_bytes = 2;
    int width = 0, rows = 0;  ///< elements of a row as the pipeline stores it, and rows

    static constexpr int row_bytes = 128, piece_bytes = 16, row_cycle = 8;
    int panel_width() const {
        return row_bytes / element_bytes;
    }
    int panel_bytes() const {
        return rows * row_bytes;
    }
    /// Where the element at `index` of the pipeline's storage is; of a dense vector within a piece,
    /// its first one.
    Expr place(const Expr &index, const SimplifyContext &context) const;
    /// The same before pieces change places: where the panel's row is, and how far into it.
    Expr unswizzled_place(const Expr &index, const SimplifyContext &context) const;
};

/// The layout of an allocation, if it can have one.
std::optional<PanelLayout> panel_layout_of(const Allocate *op);
/// True if all that loads and stores in `s` touch of the buffer are elements and vectors within
/// pieces.
bool can_be_in_panels(const Stmt &s, const std::string &buffer, const PanelLayout &layout);
/// Loads and stores of the buffer go where the layout has what they mean.
Stmt move_to_panels(const Stmt &s, const std::string &buffer, const PanelLayout &layout,
                    const SimplifyContext &context);

}  // namespace calotype::internal
