// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An index is a sum of three: the place of a row of threads (a constant for each step in y and z),
// what is the same for all accesses (it cancels against the first store), and an offset in terms of
// the lane and of loops inside of the allocation, which the stripes are about.
#include "lower/gpu/lanes/lane_accesses.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "arith/monotonic.h"
#include "ir/constants.h"
#include "ir/operators.h"
#include "ir/queries.h"
#include "lower/effects.h"
#include "lower/gpu/uniform.h"

namespace calotype::internal {

namespace {

constexpr int64_t too_large = std::numeric_limits<int>::max() / warp_size;

void widen(ConstRange &range, const ConstRange &by) {
    range.min = std::min(range.min.value_or(*by.min), *by.min);
    range.max = std::max(range.max.value_or(*by.max), *by.max);
}

}  // namespace

Warps::Warps(const KernelNest &nest) {
    for (const KernelLoop &loop : nest.threads) {
        const auto size = as_const_int(loop.extent);
        if (!size || *size < 1) {
            return;
        }
        known.bound(loop.name, 0, *size - 1);
        if (&loop != &nest.threads[0] && *size > 1) {
            rows.emplace_back(loop.name, *size);
        }
    }
    if (nest.threads.empty()) {
        return;
    }
    x = nest.threads[0].name;
    own.insert(x);
    const int size = int(*known.bounds[x].max) + 1;
    if (rows.empty() || size % warp_size == 0) {
        lanes = std::min(size, warp_size);
    } else if (size < warp_size && (size & (size - 1)) == 0) {
        lanes = width = size;
        for (const auto &row : rows) {
            own.insert(row.first);
        }
    }
}

bool is_uniform_in(const Expr &e, const std::set<std::string> &own) {
    return is_uniform(e, [&](const std::string &name) { return own.count(name) > 0; });
}

LaneAccesses::LaneAccesses(const Allocate *op, const Warps &warps, int lanes, int64_t first_slot)
    : op_(op), warps_(warps), first_slot_(first_slot), own_(warps.own), known_(warps.known) {
    stripes_.lanes = lanes;
    for (const auto &[name, range] : known_.bounds) {
        here_.given(name, range);
    }
}

void LaneAccesses::Inside::bind(bool is_own) {
    if (!name_.empty()) {
        hides_inside_ = !accesses_.inside_.insert(name_).second;
        hides_own_ = accesses_.own_.erase(name_) > 0;
        accesses_.known_.bounds[name_] = {};
        if (is_own) {
            accesses_.own_.insert(name_);
        }
    }
    for (auto &[name, range] : accesses_.known_.bounds) {
        range = accesses_.here_.range(Variable::make(Int(32), name));
    }
}

LaneAccesses::Inside::~Inside() {
    accesses_.known_.bounds = around_;
    if (name_.empty()) {
        return;
    }
    if (!hides_inside_) {
        accesses_.inside_.erase(name_);
    }
    accesses_.own_.erase(name_);
    if (hides_own_) {
        accesses_.own_.insert(name_);
    }
}

void LaneAccesses::bind_own(const std::string &name, const ConstRange &range) {
    here_.given(name, range);
    known_.bounds[name] = range;
    inside_.insert(name);
    own_.insert(name);
}

ConstRange LaneAccesses::range_of(const Expr &e) const {
    if (!e.type().is_int_or_uint() || e.type().is_vector()) {
        return ConstRange();
    }
    return here_.range(e);
}

bool LaneAccesses::is_inside(const Expr &e) const {
    return !any_free_variable(
        e, [&](const std::string &name) { return name != warps_.x && !inside_.count(name); });
}

Expr LaneAccesses::at_origin(Expr e) const {
    e = substitute(warps_.x, Expr(0), e);
    for (const std::string &name : inside_) {
        e = substitute(name, Expr(0), e);
    }
    return simplify(e);
}

/// The index without the place of the row; undefined if rows are not at constant distances.
Expr LaneAccesses::in_row(Expr e) {
    for (const auto &row : warps_.rows) {
        const auto step = constant_step_of(e, row.first, known_);
        const ConstRange &range = known_.bounds[row.first];
        const bool is_one_row = *range.min == 0 && *range.max == 0;
        if (!step || (*step == 0 && !is_one_row)) {
            return Expr();
        }
        if (row_steps_.emplace(row.first, *step).first->second != *step) {
            return Expr();
        }
        e = substitute(row.first, Expr(0), e);
    }
    return simplify(e, known_);
}

Expr LaneAccesses::offset_of(const Expr &index) {
    if (!is_speculatable(index) || *lanes_here().max >= warps_.lanes) {
        return Expr();
    }
    Expr e = in_row(index);
    if (!e.defined()) {
        return Expr();
    }
    if (!has_begun_ && !is_inside(e)) {
        origin_ = at_origin(e);
    }
    e = origin_.defined() ? simplify(e - origin_, known_) : e;
    if (!is_inside(e)) {
        return Expr();
    }
    const ConstRange range = constant_range(e, known_);
    is_bounded_ = is_bounded_ && range.is_bounded();
    if (range.is_bounded()) {
        widen(reach_, range);
    }
    return e;
}

/// The scalars of an index; none if they are not known.
std::vector<Expr> LaneAccesses::elements(const Expr &index) const {
    const Expr e = simplify(index, known_);
    if (e.type().is_scalar()) {
        return {e};
    }
    const Ramp *ramp = e.as<Ramp>();
    const Broadcast *broadcast = e.as<Broadcast>();
    const Expr first = ramp ? ramp->base : broadcast ? broadcast->value : e;
    std::vector<Expr> result;
    for (int i = 0; i < e.type().lanes() && first.type().is_scalar(); i++) {
        result.push_back(ramp ? simplify(first + ramp->stride * i, known_) : first);
    }
    return result;
}

/// The first store says what is whose.
bool LaneAccesses::begin(const Expr &offset) {
    const ConstRange lanes = lanes_here();
    has_begun_ = true;
    stored_lanes_ = int(*lanes.max) + 1;
    if (lanes.is_single()) {
        stripes_.owner = int(*lanes.min);
        return true;
    }
    const int64_t chunk = constant_step_of(offset, warps_.x, known_).value_or(0);
    if (chunk < 1 || chunk > too_large) {
        return false;
    }
    stripes_.chunk = int(chunk);
    int64_t row = 1;
    for (size_t i = 0; i + 1 < op_->extents.size() && !origin_.defined(); i++) {
        row *= as_const_int(op_->extents[i]).value_or(0);
        if (row == 0 || row > chunk) {
            stripes_.row = row > too_large ? 0 : int(row);
            break;
        }
    }
    return true;
}

Expr LaneAccesses::stored(const Expr &index) {
    std::vector<Expr> slots;
    for (const Expr &e : elements(index)) {
        const Expr offset = offset_of(e);
        if (!offset.defined() || !(has_begun_ || begin(offset)) ||
            !can_prove(stripes_.lane(offset) == Variable::make(Int(32), warps_.x), known_)) {
            return Expr();
        }
        slots.push_back(simplify(stripes_.slot(offset), known_));
    }
    const Expr result = as_ramp(slots);
    return result.defined() ? place(result) : result;
}

std::vector<LaneSource> LaneAccesses::loaded(const Expr &index) {
    std::vector<LaneSource> sources;
    for (const Expr &e : elements(index)) {
        const Expr offset = has_begun_ ? offset_of(e) : Expr();
        auto source = offset.defined() ? find_source(stripes_, offset, warps_.x,
                                                     {own_.begin(), own_.end()}, known_)
                                       : std::nullopt;
        if (!source) {
            return {};
        }
        sources.push_back(std::move(*source));
    }
    return sources;
}

Expr LaneAccesses::place(const Expr &slot) {
    const ConstRange range = constant_range(slot, known_);
    if (!range.is_bounded()) {
        return Expr();
    }
    widen(slots_, range);
    has_constant_places_ = has_constant_places_ && free_variables(slot).empty();
    return simplify(slot - make_const(slot.type(), first_slot_), known_);
}

/// Of different rows of threads, that is: within a row each has a slot of a lane.
bool LaneAccesses::are_apart() const {
    std::vector<std::pair<int64_t, int64_t>> steps;
    for (const auto &row : warps_.rows) {
        const auto step = row_steps_.find(row.first);
        if (step != row_steps_.end() && step->second != 0) {
            steps.emplace_back(std::abs(step->second), row.second);
        }
    }
    if (steps.empty()) {
        return true;
    }
    std::sort(steps.begin(), steps.end());
    int64_t reach = is_bounded_ ? *reach_.max - *reach_.min + 1 : too_large;
    for (const auto &step : steps) {
        if (step.first < reach) {
            return false;
        }
        reach += step.first * (step.second - 1);
    }
    return is_bounded_;
}

Expr as_ramp(const std::vector<Expr> &slots) {
    if (slots.size() < 2) {
        return slots.empty() ? Expr() : slots[0];
    }
    const auto step = as_const_int(simplify(slots[1] - slots[0]));
    for (size_t i = 2; step && i < slots.size(); i++) {
        if (as_const_int(simplify(slots[i] - slots[i - 1])) != step) {
            return Expr();
        }
    }
    return step ? Ramp::make(slots[0], Expr(int(*step)), int(slots.size())) : Expr();
}

}  // namespace calotype::internal
