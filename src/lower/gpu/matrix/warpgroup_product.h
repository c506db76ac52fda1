// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products that four warps make together, of operands in shared memory. Helper of
// select_matrix_instructions.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "lower/context.h"
#include "lower/gpu/matrix/matrix_product.h"
#include "lower/gpu/matrix/panel_layout.h"

namespace calotype::internal {

/// An operand as one instruction reads it.
struct WarpgroupOperand {
    const Load *load = nullptr;
    PanelLayout layout;
    bool by_depth = true;  ///< neighbours are next in depth; else in rows of a or columns of b
};

/// A product in which each four warps, one below the other, have 64 rows, and each warp has all
/// columns: wgmma of compute capability 9.0a.
struct WarpgroupProduct {
    WarpgroupOperand a, b;
    MatrixLoop columns;            ///< over tiles of 8 columns; one iteration if there is none
    std::vector<MatrixLoop> rows;  ///< over further tiles of rows
};

/// False if it does not have that form. `shared` has the allocations in shared memory, `kernel` is
/// the body of the kernel.
bool match_warpgroup_product(const MatrixProduct &product, const std::vector<KernelLoop> &threads,
                             const std::map<std::string, const Allocate *> &shared,
                             const Stmt &kernel, WarpgroupProduct *result);

Stmt write_warpgroup_product(const MatrixProduct &product, const WarpgroupProduct &form,
                             const std::vector<KernelLoop> &threads, LowerContext &ctx);

/// What is known of the threads' numbers.
SimplifyContext ranges_of_threads(const std::vector<KernelLoop> &threads);

}  // namespace calotype::internal
