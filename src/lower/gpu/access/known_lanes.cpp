// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/gpu/access/known_lanes.h"

#include <map>

#include "arith/alignment_analysis.h"
#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/expr_nodes.h"
#include "ir/operators.h"
#include "lower/vectors/lane_grid.h"

namespace calotype::internal {

namespace {

using Known = std::optional<KnownLanes>;

int64_t floor_div(int64_t a, int64_t b) {
    const int64_t q = a / b;
    return a % b < 0 ? q - 1 : q;
}

/// The constant that all lanes are.
std::optional<int64_t> same_constant(const Expr &e) {
    const Broadcast *b = e.as<Broadcast>();
    return as_const_int(b ? b->value : e);
}

Known sum(Known a, const Known &b, int sign) {
    if (!a || !b) {
        return std::nullopt;
    }
    a->base = sign > 0 ? a->base + b->base : a->base - b->base;
    for (size_t i = 0; i < a->offsets.size(); i++) {
        a->offsets[i] += sign * b->offsets[i];
    }
    return a;
}

Known product(Known a, const Expr &factor) {
    const auto c = same_constant(factor);
    if (!a || !c || *c > 1 << 16 || *c < -(1 << 16)) {
        return std::nullopt;
    }
    a->base = a->base * int(*c);
    for (int64_t &offset : a->offsets) {
        offset *= *c;
    }
    return a;
}

/// Quotient or remainder, where the base is known modulo the divisor.
Known divided(Known a, const Expr &divisor, bool remainder, const Scope<Alignment> &vars) {
    const auto c = same_constant(divisor);
    int64_t rest = 0;
    if (!a || !c || *c <= 0 || *c > 1 << 16 || !reduce_modulo(a->base, *c, &rest, vars)) {
        return std::nullopt;
    }
    a->base = remainder ? Expr(0) : (a->base - int(rest)) / int(*c);
    for (int64_t &offset : a->offsets) {
        const int64_t quotient = floor_div(offset + rest, *c);
        offset = remainder ? offset + rest - quotient * *c : quotient;
    }
    return a;
}

Known lanes_of_ramp(const Ramp *op) {
    const std::optional<LaneGrid> grid = lane_grid(op);
    if (!grid) {
        return std::nullopt;
    }
    KnownLanes result{grid->base, {0}};
    for (const LaneGrid::Dim &dim : grid->dims) {
        const auto stride = as_const_int(dim.stride);
        if (!stride || *stride > 1 << 16 || *stride < -(1 << 16)) {
            return std::nullopt;
        }
        const std::vector<int64_t> before = result.offsets;
        for (int i = 1; i < dim.lanes; i++) {
            for (const int64_t offset : before) {
                result.offsets.push_back(offset + i * *stride);
            }
        }
    }
    return result;
}

Known lanes_of(const Expr &e, const Scope<Alignment> &vars) {
    if (const Ramp *op = e.as<Ramp>()) {
        return lanes_of_ramp(op);
    } else if (const Broadcast *op = e.as<Broadcast>(); op && op->value.type().is_scalar()) {
        return KnownLanes{op->value, std::vector<int64_t>(size_t(op->lanes))};
    } else if (const Add *op = e.as<Add>()) {
        return sum(lanes_of(op->a, vars), lanes_of(op->b, vars), 1);
    } else if (const Sub *op = e.as<Sub>()) {
        return sum(lanes_of(op->a, vars), lanes_of(op->b, vars), -1);
    } else if (const Mul *op = e.as<Mul>()) {
        return product(lanes_of(op->a, vars), op->b);
    } else if (const Div *op = e.as<Div>()) {
        return divided(lanes_of(op->a, vars), op->b, false, vars);
    } else if (const Mod *op = e.as<Mod>()) {
        return divided(lanes_of(op->a, vars), op->b, true, vars);
    }
    return std::nullopt;
}

using Groups = std::vector<LaneGroup>;

constexpr size_t max_groups = 4;
/// Of groups of one value each, of which a lane is loaded.
constexpr size_t max_single_groups = 8;

bool are_few_values(const Groups &groups, size_t lanes) {
    return groups.size() <= max_single_groups && groups.size() * 2 <= lanes;
}

/// By remainder: with offset + c * q in place of an offset, the quotient is larger by q, and the
/// remainder the same.
Groups divided_groups(const KnownLanes &a, int64_t c, bool remainder) {
    std::map<int64_t, LaneGroup> groups;
    for (size_t i = 0; i < a.offsets.size(); i++) {
        const int64_t q = floor_div(a.offsets[i], c), rest = a.offsets[i] - q * c;
        LaneGroup &group = groups[rest];
        if (!group.base.defined()) {
            const Expr first = a.base + int(rest);
            group.base = remainder ? first % int(c) : first / int(c);
        }
        group.lanes.push_back(int(i));
        group.offsets.push_back(remainder ? 0 : q);
    }
    Groups result;
    for (auto &[rest, group] : groups) {
        result.push_back(group);
    }
    return (remainder && are_few_values(result, a.offsets.size())) || result.size() <= max_groups
               ? result
               : Groups();
}

/// Each value of a group as a group of its own.
Groups by_value(const Groups &groups) {
    Groups result;
    size_t lanes = 0;
    for (const LaneGroup &group : groups) {
        lanes += group.lanes.size();
        std::map<int64_t, LaneGroup> values;
        for (size_t i = 0; i < group.lanes.size(); i++) {
            LaneGroup &same = values[group.offsets[i]];
            same.base = group.base + int(group.offsets[i]);
            same.lanes.push_back(group.lanes[i]);
            same.offsets.push_back(0);
        }
        for (const auto &[value, same] : values) {
            result.push_back(same);
        }
    }
    return are_few_values(result, lanes) ? result : Groups();
}

Groups moved(Groups groups, const Known &by, int sign) {
    for (LaneGroup &group : groups) {
        group.base = sign > 0 ? group.base + by->base : group.base - by->base;
        for (size_t i = 0; i < group.lanes.size(); i++) {
            group.offsets[i] += sign * by->offsets[size_t(group.lanes[i])];
        }
    }
    return groups;
}

/// By what is not known, such as the stride of a table, each value by itself.
Groups multiplied(Groups groups, const Expr &factor) {
    const auto c = same_constant(factor);
    const Broadcast *all = factor.as<Broadcast>();
    if (!c && all && all->value.type().is_scalar()) {
        groups = by_value(groups);
        for (LaneGroup &group : groups) {
            group.base = group.base * all->value;
        }
        return groups;
    }
    if (!c || *c > 1 << 16 || *c < -(1 << 16)) {
        return {};
    }
    for (LaneGroup &group : groups) {
        group.base = group.base * int(*c);
        for (int64_t &offset : group.offsets) {
            offset *= *c;
        }
    }
    return groups;
}

Groups groups_of(const Expr &e, const Scope<Alignment> &vars) {
    const Div *quotient = e.as<Div>();
    const Mod *remainder = e.as<Mod>();
    const Mul *product = e.as<Mul>();
    const Add *add = e.as<Add>();
    const Sub *sub = e.as<Sub>();
    if (quotient || remainder) {
        const Known a = lanes_of(quotient ? quotient->a : remainder->a, vars);
        const auto c = same_constant(quotient ? quotient->b : remainder->b);
        return a && c && *c > 1 && *c <= 1 << 16 ? divided_groups(*a, *c, remainder) : Groups();
    } else if (product) {
        return multiplied(groups_of(product->a, vars), product->b);
    } else if (add || sub) {
        const Expr a = add ? add->a : sub->a, b = add ? add->b : sub->b;
        if (const Known known = lanes_of(b, vars)) {
            return moved(groups_of(a, vars), known, add ? 1 : -1);
        }
        const Known known = add ? lanes_of(a, vars) : std::nullopt;
        return known ? moved(groups_of(b, vars), known, 1) : Groups();
    }
    return {};
}

}  // namespace

std::vector<LaneGroup> lane_groups(const Expr &index, const Scope<Alignment> &vars) {
    const Known all = known_lanes(index, vars);
    Groups groups;
    if (all) {
        LaneGroup group{all->base, {}, all->offsets};
        for (size_t i = 0; i < all->offsets.size(); i++) {
            group.lanes.push_back(int(i));
        }
        groups.push_back(group);
    } else if (index.type().element_of() == Int(32) && index.type().is_vector()) {
        groups = groups_of(index, vars);
    }
    for (LaneGroup &group : groups) {
        group.base = simplify(group.base);
    }
    return groups;
}

std::optional<KnownLanes> known_lanes(const Expr &index, const Scope<Alignment> &vars) {
    Known result = index.type().element_of() == Int(32) && index.type().is_vector()
                       ? lanes_of(index, vars)
                       : std::nullopt;
    if (result) {
        result->base = simplify(result->base);
    }
    return result;
}

}  // namespace calotype::internal
