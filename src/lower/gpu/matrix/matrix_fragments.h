// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The parts of two matrices that a thread of a warp holds. Helper of select_matrix_instructions.
#pragma once

#include <map>
#include <set>
#include <string>

#include "lower/context.h"
#include "lower/gpu/matrix/matrix_product.h"

namespace calotype::internal {

/// Values of the loops over tiles.
using TilePlace = std::map<std::string, Expr>;

/// Of the 16 rows and `step()` columns of a, and the `step()` rows and 8 columns of b, that one
/// instruction multiplies, thread (x, y) of 4 by 8 holds, with n elements in a register:
///
///     a: register i, element j:  a[y + 8*(i % 2), n*x + 4*n*(i / 2) + j]      4 registers
///     b: register i, element j:  b[n*x + 4*n*i + j, y]                        2 registers
class MatrixFragments {
public:
    /// `shared` names the allocations in shared memory.
    MatrixFragments(const MatrixProduct &product, const std::vector<KernelLoop> &threads,
                    const std::set<std::string> &shared, LowerContext &ctx);

    /// A vector of the elements of all registers; `depth` is the first of the products added up.
    Expr a(const TilePlace &tiles, int depth) const;
    Expr b(const TilePlace &tiles, int depth) const;
    /// Those of b for two instructions, one after the other in depth, if they can be loaded at once;
    /// else undefined.
    Expr two_of_b(const TilePlace &tiles, int depth) const;

private:
    Expr element(const Expr &operand) const;
    Expr rounded(const Expr &operand, const Expr &fragment) const;
    Expr at(const Expr &e, const Expr &row, const Expr &y, const Expr &column, const Expr &x,
            const Expr &depth) const;
    Expr by_registers(const Expr &e, int registers, bool is_a, int depth) const;
    Expr by_matrices(const Expr &e, int registers, bool is_a, int depth) const;

    const MatrixProduct &product_;
    const std::string x_name_, y_name_;
    const Expr x_, y_;
    const std::set<std::string> &shared_;
    LowerContext &ctx_;
};

}  // namespace calotype::internal
