// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The threads of a warp have numbers x + 4*y. In the loops of the product thread (x, y) has rows y
// and y + 8, and columns 2*x and 2*x + 1. That it holds column y of b, too, is said by putting
// column % 2 = y % 2 and x = y / 2 in place of what b knows.
#include "lower/gpu/matrix/matrix_fragments.h"

#include "arith/alignment_analysis.h"
#include "arith/monotonic.h"
#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "lower/loops/widen_expr.h"

namespace calotype::internal {

namespace {

constexpr int row_bytes = 16;  ///< of a matrix that gpu_load_matrix loads; it has 8 rows

}  // namespace

MatrixFragments::MatrixFragments(const MatrixProduct &product,
                                 const std::vector<KernelLoop> &threads,
                                 const std::set<std::string> &shared, LowerContext &ctx)
    : product_(product), x_name_(threads[0].name), y_name_(threads[1].name),
      x_(Variable::make(Int(32), x_name_)), y_(Variable::make(Int(32), y_name_)), shared_(shared),
      ctx_(ctx) {
}

/// Without the rounding, which is done when it is in registers.
Expr MatrixFragments::element(const Expr &operand) const {
    return product_.kind == MatrixKind::TF32 ? operand.as<Call>()->args[0] : operand;
}

Expr MatrixFragments::rounded(const Expr &operand, const Expr &fragment) const {
    return product_.kind == MatrixKind::TF32
               ? Call::make(fragment.type(), operand.as<Call>()->intrinsic, {fragment})
               : fragment;
}

Expr MatrixFragments::at(const Expr &e, const Expr &row, const Expr &y, const Expr &column,
                         const Expr &x, const Expr &depth) const {
    return simplify(substitute({{product_.row.name, row},
                                {y_name_, y},
                                {product_.column.name, column},
                                {x_name_, x},
                                {product_.depth.name, depth}},
                               e));
}

Expr MatrixFragments::a(const TilePlace &tiles, int depth) const {
    constexpr int registers = 4;
    const Expr e = substitute(tiles, element(product_.a));
    const Expr loaded = by_matrices(e, registers, true, depth);
    return rounded(product_.a, loaded.defined() ? loaded : by_registers(e, registers, true, depth));
}

Expr MatrixFragments::b(const TilePlace &tiles, int depth) const {
    constexpr int registers = 2;
    const Expr e = substitute(tiles, element(product_.b));
    const Expr loaded = by_matrices(e, registers, false, depth);
    return rounded(product_.b,
                   loaded.defined() ? loaded : by_registers(e, registers, false, depth));
}

Expr MatrixFragments::two_of_b(const TilePlace &tiles, int depth) const {
    const Expr e = substitute(tiles, element(product_.b));
    const Expr loaded = by_matrices(e, 4, false, depth);
    return loaded.defined() ? rounded(product_.b, loaded) : Expr();
}

/// Each register for itself.
Expr MatrixFragments::by_registers(const Expr &e, int registers, bool is_a, int depth) const {
    const int n = elements_a_register(product_.kind);
    const std::string name = ctx_.names.unique("element");
    std::vector<Expr> parts;
    for (int i = 0; i < registers; i++) {
        const int group = is_a ? i / 2 : i;
        const Expr k = depth + 4 * n * group + x_ * n + Variable::make(Int(32), name);
        const Expr one = is_a ? at(e, i % 2, y_, 0, x_, k) : at(e, 0, y_, y_ % 2, y_ / 2, k);
        if (n == 1) {
            parts.push_back(simplify(substitute(name, Expr(0), one)));
            continue;
        }
        const Expr wide = simplify(ExprWidener(ctx_, name, 0, n).mutate(one));
        parts.push_back(wide.type().is_scalar() ? Broadcast::make(wide, n) : wide);
    }
    return Shuffle::make_concat(parts);
}

/// Matrices of 8 rows of 16 bytes, one a register: thread 8*i + r gives the address of row r of
/// matrix i. Undefined unless e lies like that in shared memory.
Expr MatrixFragments::by_matrices(const Expr &e, int registers, bool is_a, int depth) const {
    const Load *load = e.as<Load>();
    if (!load || !shared_.count(load->name) || !is_trivially_true(load->predicate) ||
        !load->index.type().is_scalar()) {
        return Expr();
    }
    const int n = elements_a_register(product_.kind), per_row = row_bytes / load->type.bytes();
    const Expr in_matrix = (y_ % 2) * 4 + x_;  // thread % 8
    const Expr matrix = y_ / 2;                // thread / 8
    const Expr k = Variable::make(Int(32), product_.depth.name);
    const Expr flat = at(load->index, Expr(0), y_, y_ % 2, y_ / 2, k);
    const bool by_depth = constant_step_of(flat, product_.depth.name) == 1;
    const bool transposed = !by_depth && n == 2 && constant_step_of(flat, y_name_) == 1;
    if (!by_depth && !transposed) {
        return Expr();
    }
    // Matrices follow each other in depth; those of a are two, one below the other, each time.
    const Expr first = (is_a ? matrix / 2 : matrix) * (4 * n) + depth;
    const Expr row = is_a ? matrix % 2 : Expr(0);
    const Expr y = transposed ? Expr(0) : in_matrix;
    const Expr depth_of_row = transposed ? first + in_matrix : first;
    const Expr index = is_a ? at(load->index, row, y, 0, x_, depth_of_row)
                            : at(load->index, 0, y, y % 2, y / 2, depth_of_row);
    const Alignment known = alignment_of(index);
    if (known.modulus % per_row != 0 || known.remainder % per_row != 0) {
        return Expr();
    }
    return Call::make(load->type.with_lanes(registers * n), Intrinsic::gpu_load_matrix,
                      {Variable::make(Handle(), load->name), index, make_bool(transposed)});
}

}  // namespace calotype::internal
