// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/vectors/lane_grid.h"

#include <algorithm>

#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/expr_nodes.h"
#include "ir/operators.h"

namespace calotype::internal {

namespace {

using Grid = std::optional<LaneGrid>;
using Dims = std::vector<LaneGrid::Dim>;

/// The scalar that all lanes are, or undefined.
Expr same_in_all(const Expr &e) {
    const Broadcast *b = e.as<Broadcast>();
    return b ? same_in_all(b->value) : e.type().is_scalar() ? e : Expr();
}

Expr times(const Expr &e, int n) {
    return simplify(e * make_const(e.type(), n));
}

/// With neighbours that step alike as one dimension.
Dims joined(const Dims &dims) {
    Dims result;
    for (const LaneGrid::Dim &dim : dims) {
        const bool goes_on = !result.empty() && is_const(dim.stride) &&
                             is_const(result.back().stride) &&
                             as_const_int(dim.stride) ==
                                 as_const_int(times(result.back().stride, result.back().lanes));
        if (goes_on) {
            result.back().lanes *= dim.lanes;
        } else if (dim.lanes > 1) {
            result.push_back(dim);
        }
    }
    return result;
}

/// Lane by lane; undefined if there are no dimensions that both have.
Grid sum(const Grid &a, const Grid &b, bool subtract) {
    if (!a || !b) {
        return std::nullopt;
    }
    const auto combine = [&](const Expr &x, const Expr &y) {
        return simplify(subtract ? x - y : x + y);
    };
    LaneGrid result{combine(a->base, b->base), {}};
    Dims left(a->dims.rbegin(), a->dims.rend()), right(b->dims.rbegin(), b->dims.rend());
    while (!left.empty() && !right.empty()) {
        Dims &longer = left.back().lanes >= right.back().lanes ? left : right;
        const int lanes = std::min(left.back().lanes, right.back().lanes);
        const LaneGrid::Dim whole = longer.back();
        if (whole.lanes % lanes != 0) {
            return std::nullopt;
        }
        result.dims.push_back({combine(left.back().stride, right.back().stride), lanes});
        left.pop_back();
        right.pop_back();
        if (whole.lanes > lanes) {
            longer.push_back({times(whole.stride, lanes), whole.lanes / lanes});
        }
    }
    result.dims = joined(result.dims);
    return result;
}

Grid product(Grid grid, const Expr &factor) {
    const Expr scalar = same_in_all(factor);
    if (!grid || !scalar.defined()) {
        return std::nullopt;
    }
    grid->base = simplify(grid->base * scalar);
    for (LaneGrid::Dim &dim : grid->dims) {
        dim.stride = simplify(dim.stride * scalar);
    }
    return grid;
}

Grid grid_of_ramp(const Ramp *op) {
    const Expr stride = same_in_all(op->stride);
    Grid grid = stride.defined() ? lane_grid(op->base) : std::nullopt;
    if (grid) {
        grid->dims.push_back({stride, op->lanes});
        grid->dims = joined(grid->dims);
    }
    return grid;
}

Grid grid_of_broadcast(const Broadcast *op) {
    Grid grid = lane_grid(op->value);
    if (grid) {
        grid->dims.push_back({make_zero(op->type.element_of()), op->lanes});
        grid->dims = joined(grid->dims);
    }
    return grid;
}

/// Each lane so many times.
Grid grid_of_shuffle(const Shuffle *op) {
    const int lanes = op->vectors[0].type().lanes(), all = op->type.lanes();
    if (op->vectors.size() != 1 || all % lanes != 0) {
        return std::nullopt;
    }
    const int times = all / lanes;
    for (int i = 0; i < all; i++) {
        if (op->indices[size_t(i)] != i / times) {
            return std::nullopt;
        }
    }
    Grid grid = lane_grid(op->vectors[0]);
    if (grid) {
        grid->dims.insert(grid->dims.begin(), {make_zero(op->type.element_of()), times});
        grid->dims = joined(grid->dims);
    }
    return grid;
}

}  // namespace

int LaneGrid::lanes() const {
    int product = 1;
    for (const Dim &d : dims) {
        product *= d.lanes;
    }
    return product;
}

LaneGrid LaneGrid::inner(int i) const {
    const Expr step = dims.back().stride;
    return {simplify(base + times(step, i)), {dims.begin(), dims.end() - 1}};
}

bool LaneGrid::ends_dense() const {
    return dims.size() > 1 && is_const_one(dims.back().stride) &&
           std::none_of(dims.begin(), dims.end() - 1,
                        [](const Dim &d) { return is_const_one(d.stride); });
}

bool LaneGrid::has_rows() const {
    return dims.size() > 1 && std::any_of(dims.begin(), dims.end(), [](const Dim &d) {
               return is_const_one(d.stride) || is_const_zero(d.stride);
           });
}

std::vector<Expr> LaneGrid::row_bases() const {
    std::vector<Expr> bases = {base};
    for (size_t d = 0; d + 1 < dims.size(); d++) {
        const std::vector<Expr> before = bases;
        for (int i = 1; i < dims[d].lanes; i++) {
            for (const Expr &b : before) {
                bases.push_back(simplify(b + times(dims[d].stride, i)));
            }
        }
    }
    return bases;
}

std::optional<LaneGrid> lane_grid(const Expr &index) {
    if (index.type().is_scalar()) {
        return LaneGrid{index, {}};
    } else if (const Ramp *op = index.as<Ramp>()) {
        return grid_of_ramp(op);
    } else if (const Broadcast *op = index.as<Broadcast>()) {
        return grid_of_broadcast(op);
    } else if (const Shuffle *op = index.as<Shuffle>()) {
        return grid_of_shuffle(op);
    } else if (const Add *op = index.as<Add>()) {
        return sum(lane_grid(op->a), lane_grid(op->b), false);
    } else if (const Sub *op = index.as<Sub>()) {
        return sum(lane_grid(op->a), lane_grid(op->b), true);
    } else if (const Mul *op = index.as<Mul>()) {
        return product(lane_grid(op->a), op->b);
    }
    return std::nullopt;
}

}  // namespace calotype::internal
