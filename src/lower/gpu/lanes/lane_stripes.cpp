// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the offset depends on the lane alone, lane and slot of each lane are computed one by one,
// which tells all shuffles apart, however the index is written. What lanes have that do not want an
// element is free to choose.
#include "lower/gpu/lanes/lane_stripes.h"

#include <functional>
#include <set>

#include "ir/constants.h"
#include "ir/equality.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "lower/gpu/kernel_nest.h"

namespace calotype::internal {

namespace {

/// Slots that one value is chosen from.
constexpr size_t max_slots = 4;

/// Lane and slot for each value of x, from the least.
struct Table {
    int first = 0;
    std::vector<int> lane, slot;

    int x(size_t i) const {
        return first + int(i);
    }
    bool all(const std::function<bool(size_t)> &holds) const {
        for (size_t i = 0; i < lane.size(); i++) {
            if (!holds(i)) {
                return false;
            }
        }
        return true;
    }
};

std::optional<Table> tabulate(const LaneStripes &stripes, const Expr &offset, const std::string &x,
                              const ConstRange &range) {
    const std::vector<std::string> names = free_variables(offset);
    const bool is_of_x = names.empty() || (names.size() == 1 && names[0] == x);
    if (!is_of_x || !range.is_bounded() || *range.max - *range.min >= warp_size) {
        return std::nullopt;
    }
    Table table;
    table.first = int(*range.min);
    for (int v = table.first; v <= *range.max; v++) {
        const Expr at = simplify(substitute(x, Expr(v), offset));
        const auto lane = as_const_int(simplify(stripes.lane(at)));
        const auto slot = as_const_int(simplify(stripes.slot(at)));
        if (!lane || !slot) {
            return std::nullopt;
        }
        table.lane.push_back(int(*lane));
        table.slot.push_back(int(*slot));
    }
    return table;
}

/// The slots by values of x; those that are missing are as the ones before.
std::vector<std::pair<Expr, Expr>> pieces(const std::vector<std::optional<int>> &slots,
                                          const Expr &x) {
    std::vector<std::pair<Expr, Expr>> result;
    std::optional<int> last;
    for (size_t i = 0; i < slots.size(); i++) {
        if (!slots[i] || slots[i] == last) {
            continue;
        }
        if (!result.empty()) {
            result.back().first = x < Expr(int(i));
        }
        result.emplace_back(Expr(), Expr(*slots[i]));
        last = slots[i];
    }
    return result;
}

/// One slot for each value that `slot` has; none if these are too many.
std::vector<std::pair<Expr, Expr>> one_by_one(const Expr &slot, const std::set<int> &values) {
    std::vector<std::pair<Expr, Expr>> result;
    for (const int value : values) {
        result.emplace_back(slot == value, Expr(value));
    }
    result.back().first = Expr();
    return result;
}

void choose_mode(LaneSource &source, const Table &t, const Expr &lane) {
    const int shift = t.lane[0] - t.x(0), mask = t.lane[0] ^ t.x(0);
    if (t.all([&](size_t i) { return t.lane[i] == t.x(i); })) {
        source.mode = ShuffleMode::Own;
    } else if (t.all([&](size_t i) { return t.lane[i] == t.lane[0]; })) {
        source.mode = ShuffleMode::Index;
        source.lane = t.lane[0];
    } else if (t.all([&](size_t i) { return t.lane[i] - t.x(i) == shift; })) {
        source.mode = shift > 0 ? ShuffleMode::Down : ShuffleMode::Up;
        source.lane = std::abs(shift);
    } else if (t.all([&](size_t i) { return (t.lane[i] ^ t.x(i)) == mask; })) {
        source.mode = ShuffleMode::Xor;
        source.lane = mask;
    } else {
        source.mode = ShuffleMode::Index;
        source.lane = lane;
    }
}

std::optional<LaneSource> source_of(const Table &t, const LaneStripes &stripes, const Expr &lane,
                                    const Expr &slot, const std::string &x) {
    LaneSource source;
    choose_mode(source, t, lane);
    std::vector<std::optional<int>> given(size_t(stripes.lanes));
    bool is_one = true;
    for (size_t i = 0; i < t.lane.size(); i++) {
        std::optional<int> &there = given[size_t(t.lane[i])];
        is_one = is_one && (!there || *there == t.slot[i]);
        there = t.slot[i];
    }
    if (is_one) {
        source.slots = pieces(given, Variable::make(Int(32), x));
    }
    if (!is_one || source.slots.size() > max_slots) {
        const std::set<int> values(t.slot.begin(), t.slot.end());
        source.choose_after = true;
        source.slots = one_by_one(slot, values);
    }
    if (source.slots.size() <= max_slots) {
        return source;
    }
    if (source.mode != ShuffleMode::Own) {
        return std::nullopt;
    }
    source.slots = {{Expr(), slot}};
    return source;
}

}  // namespace

Expr LaneStripes::lane(const Expr &offset) const {
    if (chunk == 0) {
        return owner;
    }
    const Expr column = row > 0 ? offset % row : offset;
    return column / chunk % lanes;
}

Expr LaneStripes::slot(const Expr &offset) const {
    if (chunk == 0) {
        return offset;
    }
    const int width = chunk * lanes;
    const Expr column = row > 0 ? offset % row : offset;
    const Expr slot = column / width * chunk + column % chunk;
    return row > 0 ? slot + offset / row * ((row + width - 1) / width * chunk) : slot;
}

std::optional<LaneSource> find_source(const LaneStripes &stripes, const Expr &offset,
                                      const std::string &x, const std::vector<std::string> &own,
                                      const SimplifyContext &known) {
    const Expr lane = simplify(stripes.lane(offset), known);
    const Expr slot = simplify(stripes.slot(offset), known);
    if (const auto table = tabulate(stripes, offset, x, known.bounds.at(x))) {
        return source_of(*table, stripes, lane, slot, x);
    }
    LaneSource source;
    const Expr own_lane = Variable::make(Int(32), x);
    const auto shift = as_const_int(simplify(lane - own_lane, known));
    if (shift) {
        source.mode = *shift == 0  ? ShuffleMode::Own
                      : *shift > 0 ? ShuffleMode::Down
                                   : ShuffleMode::Up;
        source.lane = *shift == 0 ? Expr() : Expr(int(std::abs(*shift)));
    } else {
        source.mode = ShuffleMode::Index;
        source.lane = lane;
    }
    source.slots = {{Expr(), slot}};
    if (source.mode == ShuffleMode::Own || !uses_any_var(slot, own)) {
        return source;
    }
    const ConstRange range = constant_range(slot, known);
    if (!range.is_bounded() || *range.max - *range.min >= int64_t(max_slots)) {
        return std::nullopt;
    }
    std::set<int> values;
    for (int64_t v = *range.min; v <= *range.max; v++) {
        values.insert(int(v));
    }
    source.choose_after = true;
    source.slots = one_by_one(slot, values);
    return source;
}

}  // namespace calotype::internal
