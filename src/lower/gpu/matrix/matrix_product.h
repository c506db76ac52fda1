// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Recognises the matrix product that a nest of Matrix loops computes. Helper of
// select_matrix_instructions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/stmt_nodes.h"
#include "lower/gpu/kernel_nest.h"

namespace calotype::internal {

/// A loop of a constant number of iterations that counts from 0.
struct MatrixLoop {
    std::string name;
    int extent = 0;
};

/// The kinds of instructions.
enum class MatrixKind { Float16, BFloat16, TF32, Int8 };

/// The elements of the operands that one 32-bit register holds.
int elements_a_register(MatrixKind kind);

/// c[index] += a * b for all iterations. a depends on the row, b on the column.
struct MatrixProduct {
    MatrixLoop depth, column, row;  ///< the innermost three; column and row have 2 iterations
    std::vector<MatrixLoop> tiles;  ///< around them, the outermost first
    Stmt statement;                 ///< holds the store
    const Store *store = nullptr;
    MatrixKind kind = MatrixKind::Float16;
    Expr a, b;  ///< one element, of 16 bits, of 8 bits, or floats of TF32 with what makes them

    /// What one instruction adds up.
    int step() const {
        return 8 * elements_a_register(kind);
    }
};

/// The sums at these indices, as a vector.
Expr load_sums(const MatrixProduct &product, const std::vector<Expr> &index);
/// The lanes of `sums` back to where they came from.
Stmt store_sums(const MatrixProduct &product, const std::vector<Expr> &index, const Expr &sums);

/// What a nest says, or, where it is not such a product, why.
struct MatrixMatch {
    MatrixProduct product;
    std::string why_not;
};

/// `threads` are those of the kernel: x has the 4 columns, y the 8 rows.
MatrixMatch match_matrix_product(const For *outermost, const std::vector<KernelLoop> &threads);

}  // namespace calotype::internal
