// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "autoschedule/check.h"

#include <algorithm>

#include "support/error.h"

namespace calotype::internal {

namespace {

/// Whether the loops are in another order than that in which they are made: RVars, then dimensions.
bool is_reordered(const Function &f, const StageSchedule &s) {
    std::vector<std::string> order;
    for (const ReductionVariable &rv : s.rvars) {
        order.push_back(rv.var);
    }
    order.insert(order.end(), f.args().begin(), f.args().end());
    auto at = order.begin();
    for (const Dim &dim : s.dims) {
        const auto place = std::find(order.begin(), order.end(), dim.var);
        if (place < at) {
            return true;
        }
        at = place;
    }
    return false;
}

/// What the schedule of a stage says, or nothing.
std::string said_of_stage(const Function &f, const Definition &def) {
    const StageSchedule &s = def.schedule;
    if (!def.specializations.empty()) {
        return "a specialization";
    }
    if (!s.fuse_level.level.is_inlined()) {
        return "compute_with";
    }
    if (!s.splits.empty()) {
        return "loops that are split, fused or renamed";
    }
    if (is_reordered(f, s)) {
        return "loops that are reordered";
    }
    if (!s.prefetches.empty()) {
        return "a prefetch";
    }
    if (s.atomic || s.allow_race_conditions) {
        return "atomic or allow_race_conditions";
    }
    for (const Dim &dim : s.dims) {
        if (dim.for_type != ForType::Serial && dim.for_type != ForType::Extern) {
            return "a loop over " + dim.var + " that is not serial";
        }
    }
    return "";
}

std::string said_of_func(const Function &f) {
    const FuncSchedule &s = f.schedule();
    if (!s.compute_level.is_inlined() || !s.store_level.is_inlined() ||
        !s.hoist_storage_level.is_inlined()) {
        return "a place where it is computed or stored";
    }
    if (s.async || s.ring_buffer.defined()) {
        return "async or ring_buffer";
    }
    return s.wrappers.empty() ? "" : "a wrapper (in or clone_in)";
}

}  // namespace

void check_is_not_scheduled(const Function &f) {
    std::string said = said_of_func(f);
    for (int stage = 0; said.empty() && stage < f.stages(); stage++) {
        if (f.stage(stage)) {
            said = said_of_stage(f, *f.stage(stage));
        }
    }
    user_assert(said.empty()) << "func " << f.name() << " has " << said
                              << ", and an autoscheduler writes the whole schedule of a pipeline";
}

}  // namespace calotype::internal
