// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/gpu/host/guarded_tails.h"

#include <algorithm>

#include "pipeline/tails.h"

namespace calotype::internal {

std::string hint_at_guarded_tail(const Function *f, const LowerContext &ctx) {
    while (f) {
        const LoopLevel &level = f->schedule().compute_level;
        const auto it =
            level.is_root() || level.is_inlined() ? ctx.env.end() : ctx.env.find(level.func_name());
        f = it == ctx.env.end() ? nullptr : &it->second;
        for (int stage = 0; f && stage < f->stages(); stage++) {
            if (!f->stage(stage)) {
                continue;
            }
            const auto &splits = f->stage(stage)->schedule.splits;
            const auto guarded = std::find_if(splits.begin(), splits.end(), [](const Split &s) {
                return s.is_split() && is_guarded(s.tail);
            });
            if (guarded != splits.end()) {
                return "; the split of " + f->name() + "." + guarded->old_var + " with " +
                       to_string(guarded->tail) + " makes the last tile smaller, with " +
                       to_string(TailStrategy::ShiftInwards) + " or " +
                       to_string(TailStrategy::RoundUp) + " all are of one size";
            }
        }
    }
    return "";
}

}  // namespace calotype::internal
