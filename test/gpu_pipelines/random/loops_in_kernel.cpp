// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>

#include "gpu_pipelines/random/stage_loops.h"

namespace calotype::test {

namespace {

class InKernel {
public:
    InKernel(StageDraw &stage, const GpuLevel &at) : d_(stage), dice_(stage.dice()), at_(at) {
    }

    GpuLevels run() {
        GpuLevels levels = at_.where == Where::Thread ? in_thread()
                           : at_.where == Where::Row  ? in_row()
                                                      : in_block();
        for (GpuLevel &l : levels) {
            l.has_lanes = at_.has_lanes;
        }
        return levels;
    }

private:
    GpuLevels in_thread() {
        GpuLevels levels;
        for (const StageDraw::Loops *loops : {&d_.s.pure, &d_.s.impure}) {
            for (auto v = loops->rbegin(); v != loops->rend(); ++v) {
                levels.push_back(level(d_, *v, Where::Thread, true));
            }
        }
        if (!d_.s.pure.empty() && dice_.chance(35)) {
            d_.unrolled(d_.s.pure[0]);
        }
        return levels;
    }

    GpuLevels in_row() {
        if (d_.s.pure.empty() || dice_.chance(40)) {
            return {};
        }
        if (at_.has_lanes && lanes()) {
            return {};
        }
        const VarOrRVar v = vectors();
        return d_.gpu_threads("threads_in_row", {v}) ? GpuLevels{level(d_, v, Where::Thread)}
                                                     : GpuLevels();
    }

    GpuLevels in_block() {
        if (d_.s.may_be_atomic && !d_.s.impure.empty() && dice_.chance(60) && atomic()) {
            return {};
        }
        if (d_.s.pure.empty() || dice_.chance(10) ||
            (at_.has_lanes && dice_.chance(75) && lanes())) {
            return {};  // by one thread for all
        }
        StageDraw::Loops around;
        if (!d_.s.impure.empty() && dice_.chance(40)) {
            around = slices();
        } else if (dice_.chance(25)) {
            around = rows_of_threads();
        }
        return threads(around);
    }

    /// The innermost loop over Vars, of which vectors or copies may have been split off.
    VarOrRVar vectors() {
        const VarOrRVar v = d_.s.pure[0];
        const auto parts =
            dice_.chance(30) ? d_.split(v, dice_.pick<int>({2, 3, 4, 4, 8}), "v") : std::nullopt;
        if (!parts) {
            return v;
        }
        if (dice_.chance(70)) {
            d_.apply("vectors_in_kernel", "vectorize(" + parts->second.name() + ")",
                     [&] { d_.s.stage.vectorize(parts->second); });
        } else {
            d_.apply("unroll", "unroll(" + parts->second.name() + ")",
                     [&] { d_.s.stage.unroll(parts->second); });
        }
        return parts->first;
    }

    /// Threads of the reduction, and perhaps of what it is done for.
    bool atomic() {
        if (!d_.apply("atomic_in_block", "atomic()", [&] { d_.s.stage.atomic(); })) {
            return false;
        }
        StageDraw::Loops loops = {dice_.pick(d_.s.impure)};
        if (!d_.s.pure.empty() && dice_.chance(50)) {
            loops.push_back(dice_.pick(d_.s.pure));
        }
        if (!d_.s.pure.empty() && dice_.chance(25)) {
            d_.unrolled(d_.s.pure[0]);
        }
        return d_.gpu_threads("", loops);
    }

    bool lanes() {
        const auto parts = d_.split(d_.s.pure[0], 32);
        if (!parts) {
            return false;
        }
        d_.apply("lanes_in_block", "gpu_lanes(" + parts->second.name() + ")",
                 [&] { d_.s.stage.gpu_lanes(parts->second); });
        if (dice_.chance(40)) {
            d_.apply("", "unroll(" + parts->first.name() + ")",
                     [&] { d_.s.stage.unroll(parts->first); });
        }
        return true;
    }

    /// The last loop of the reduction, or a part of it, comes around the threads.
    StageDraw::Loops slices() {
        const auto parts = d_.split(d_.s.impure.back(), dice_.pick<int>({1, 2, 4, 8}));
        if (!parts) {
            return {};
        }
        StageDraw::Loops order(d_.s.impure.begin(), std::prev(d_.s.impure.end()));
        order.push_back(parts->second);
        order.insert(order.end(), d_.s.pure.begin(), d_.s.pure.end());
        order.push_back(parts->first);
        d_.reorder(order);
        return {parts->first};
    }

    /// The threads do some elements, and then the next.
    StageDraw::Loops rows_of_threads() {
        const auto parts = d_.split(d_.s.pure[0], dice_.pick<int>({2, 3, 4, 8, 16}));
        if (!parts) {
            return {};
        }
        d_.s.pure[0] = parts->second;
        StageDraw::Loops order = d_.s.pure;
        order.push_back(parts->first);
        d_.reorder(order);
        return {parts->first};
    }

    GpuLevels threads(const StageDraw::Loops &around) {
        StageDraw::Loops loops = d_.s.pure;
        if (around.empty()) {
            loops[0] = vectors();
        }
        const int most = std::min(3, int(loops.size()));
        loops.erase(loops.begin() + 1 + dice_(most), loops.end());
        if (dice_.chance(15) && d_.s.pure.size() > 1) {
            loops = {d_.s.pure[1]};
        }
        if (!d_.gpu_threads("threads", loops) || loops.size() < d_.s.pure.size()) {
            return {};
        }
        GpuLevels levels;
        for (const VarOrRVar &v : around) {
            levels.push_back(level(d_, v, Where::Block, true));
        }
        for (size_t i = loops.size(); i-- > 0;) {
            levels.push_back(level(d_, loops[i], i > 0 ? Where::Row : Where::Thread));
        }
        return levels;
    }

    StageDraw &d_;
    Dice &dice_;
    const GpuLevel &at_;
};

}  // namespace

GpuLevels loops_in_kernel(StageDraw &stage, const GpuLevel &at) {
    return InKernel(stage, at).run();
}

}  // namespace calotype::test
