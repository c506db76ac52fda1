// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>

#include "gpu_pipelines/random/stage_loops.h"

namespace calotype::test {

GpuLevel level(const StageDraw &stage, const VarOrRVar &v, Where where, bool is_serial) {
    return {-1, stage.index(), v, where, is_serial};
}

namespace {

GpuLevels on_the_host(StageDraw &d) {
    GpuLevels levels;
    const StageDraw::Loops &pure = d.s.pure;
    if (pure.size() > 1) {
        const VarOrRVar v = pure.back();
        if (d.dice().chance(40)) {
            d.apply("parallel", "parallel(" + v.name() + ")", [&] { d.s.stage.parallel(v); });
        }
        levels.push_back(level(d, v, Where::Host, true));
    }
    if (!pure.empty() && d.dice().chance(30)) {
        d.unrolled(pure[0]);
    }
    return levels;
}

GpuLevels tile(StageDraw &d) {
    Dice &dice = d.dice();
    const int n = std::min(1 + dice(3), int(d.s.pure.size()));
    const StageDraw::Loops o(d.s.pure.begin(), std::next(d.s.pure.begin(), n));
    const NamedTail &t = d.tail(false);
    StageDraw::Loops in;
    std::vector<int> size;
    std::string names, inner, sizes;
    for (int i = 0; i < n; i++) {
        in.push_back(d.fresh(o[size_t(i)], "i"));
        size.push_back(i == 0 ? dice.pick<int>({2, 4, 5, 8, 16, 32})
                              : dice.pick<int>({1, 2, 3, 4, 8}));
        names += o[size_t(i)].name() + ", ";
        inner += in.back().name() + ", ";
        sizes += std::to_string(size.back()) + ", ";
    }
    const std::string text = "gpu_tile(" + names + inner + sizes + "TailStrategy::" + t.name + ")";
    Stage &s = d.s.stage;
    const bool made = d.apply("gpu_tile" + std::to_string(n), text, [&] {
        if (n == 1) {
            s.gpu_tile(o[0], in[0], size[0], t.strategy);
        } else if (n == 2) {
            s.gpu_tile(o[0], o[1], in[0], in[1], size[0], size[1], t.strategy);
        } else {
            s.gpu_tile(o[0], o[1], o[2], in[0], in[1], in[2], size[0], size[1], size[2],
                       t.strategy);
        }
    });
    if (!made) {
        return {};
    }
    if (dice.chance(40)) {
        d.unrolled(in[0]);
    }
    GpuLevels levels = {level(d, o[0], Where::Block)};
    for (int i = n - 1; i >= 0; i--) {
        levels.push_back(level(d, in[size_t(i)], i > 0 ? Where::Row : Where::Thread));
    }
    for (auto r = d.s.impure.rbegin(); r != d.s.impure.rend(); ++r) {
        levels.push_back(level(d, *r, Where::Thread, true));
    }
    return levels;
}

GpuLevels lanes(StageDraw &d) {
    Dice &dice = d.dice();
    const StageDraw::Loops &pure = d.s.pure;
    const bool rows = pure.size() > 1;
    const int vector = dice.chance(25) ? dice.pick<int>({2, 4}) : 1;
    const auto parts = d.split(pure[0], vector * dice.pick<int>({8, 16, 32, 32}));
    const auto vectors = parts && vector > 1 ? d.split(parts->second, vector, "v") : std::nullopt;
    const auto row_parts = rows ? d.split(pure[1], dice.pick<int>({1, 2, 4})) : std::nullopt;
    if (!parts || (rows && !row_parts)) {
        return {};
    }
    const VarOrRVar block = parts->first, lane = vectors ? vectors->first : parts->second;
    StageDraw::Loops order;
    if (vectors) {
        order.push_back(vectors->second);
    }
    order.insert(order.end(), d.s.impure.begin(), d.s.impure.end());
    order.push_back(lane);
    if (rows) {
        order.push_back(row_parts->second);
    }
    order.push_back(block);
    if (rows) {
        order.push_back(row_parts->first);
    }
    d.reorder(order);
    if (!d.gpu_blocks("",
                      rows ? StageDraw::Loops{block, row_parts->first} : StageDraw::Loops{block})) {
        return {};
    }
    GpuLevels levels = {level(d, block, Where::Block)};
    if (rows) {
        d.gpu_threads("", {row_parts->second});
        levels.push_back(level(d, row_parts->second, Where::Row));
    }
    d.apply("lanes", "gpu_lanes(" + lane.name() + ")", [&] { d.s.stage.gpu_lanes(lane); });
    levels.push_back(level(d, lane, Where::Thread));
    if (vectors) {
        d.apply("vectorize", "vectorize(" + vectors->second.name() + ")",
                [&] { d.s.stage.vectorize(vectors->second); });
    }
    for (GpuLevel &l : levels) {
        l.has_lanes = true;
    }
    return levels;
}

GpuLevels in_kernels(StageDraw &d) {
    const int kind = d.dice()(100);
    return kind < 30 ? tile(d) : kind < 50 ? lanes(d) : loops_by_hand(d);
}

}  // namespace

GpuLevels loops_outside(StageDraw &d) {
    Dice &dice = d.dice();
    if (dice.chance(4)) {
        d.apply("never_partition", "never_partition_all()",
                [&] { d.s.stage.never_partition_all(); });
    }
    if (d.s.pure.empty() || dice.chance(8)) {
        return on_the_host(d);
    }
    if (dice.chance(3)) {
        d.apply("gpu_single_thread", "gpu_single_thread()", [&] { d.s.stage.gpu_single_thread(); });
        return {};
    }
    if (dice.chance(7)) {
        if (std::optional<StageDraw> special = d.specialized()) {
            in_kernels(*special);
            dice.chance(40) ? on_the_host(d) : in_kernels(d);
            return {};
        }
    }
    return in_kernels(d);
}

}  // namespace calotype::test
