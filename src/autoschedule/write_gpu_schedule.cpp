// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each stage of the host of a group is a kernel whose blocks are tiles of its first dimensions; the
// members are computed by the threads of a block, in memory that these share.

#include "autoschedule/write_schedule.h"

namespace calotype::internal {

namespace {

constexpr int most_dimensions = 2;  ///< that are tiled; others are blocks, as far as there are

/// The loop in which members are computed, or none.
std::optional<Var> write_kernel(const FuncModel &func, int stage, const Group &group,
                                ScheduleText &text) {
    const StageLoops loops = loops_of(func, stage);
    StageWriter writer(func.original, stage, text);
    if (loops.dimensions.empty()) {
        writer.gpu_single_thread();
        return std::nullopt;
    }
    const bool tiled = stage == group.host_stage && group.is_tiled();
    std::vector<VarOrRVar> threads, blocks, serial;
    for (const int d : loops.dimensions) {
        const std::string &name = func.original.args()[size_t(d)];
        if (threads.size() < most_dimensions) {
            const Var block = made_of(name, "_o", stage), thread = made_of(name, "_i", stage);
            const int size = tiled && group.tile[size_t(d)] ? group.tile[size_t(d)]
                             : threads.empty()              ? 32
                                                            : 8;
            writer.split(Var(name), block, thread, size, TailStrategy::GuardWithIf);
            threads.push_back(thread);
            blocks.push_back(block);
        } else if (blocks.size() < 3) {
            blocks.push_back(Var(name));
        } else {
            serial.push_back(Var(name));
        }
    }
    std::vector<VarOrRVar> all = loops.rvars;
    all.insert(all.end(), serial.begin(), serial.end());
    all.insert(all.end(), threads.begin(), threads.end());
    all.insert(all.end(), blocks.begin(), blocks.end());
    writer.reorder(all);
    writer.gpu_blocks(blocks);
    writer.gpu_threads(threads);
    return blocks[0].var;
}

void write_member(const FuncModel &func, ScheduleText &text) {
    for (int stage = 0; stage < func.original.stages(); stage++) {
        const StageLoops loops = loops_of(func, stage);
        StageWriter writer(func.original, stage, text);
        std::vector<VarOrRVar> threads, serial = loops.rvars;
        for (const int d : loops.dimensions) {
            (threads.size() < most_dimensions ? threads : serial)
                .push_back(Var(func.original.args()[size_t(d)]));
        }
        std::vector<VarOrRVar> all = serial;
        all.insert(all.end(), threads.begin(), threads.end());
        writer.reorder(all);
        writer.gpu_threads(threads);
    }
}

}  // namespace

void write_gpu_group(const Model &model, const Group &group, ScheduleText &text) {
    const FuncModel &host = model.funcs[size_t(group.host)];
    std::optional<Var> place;
    for (int stage = 0; stage < host.original.stages(); stage++) {
        const std::optional<Var> block = write_kernel(host, stage, group, text);
        if (stage == group.host_stage) {
            place = block;
        }
    }
    for (const int m : group.members) {
        if (m != group.host) {
            compute_at(model.funcs[size_t(m)].original, host.original, *place, group.host_stage,
                       text);
            write_member(model.funcs[size_t(m)], text);
        }
    }
}

}  // namespace calotype::internal
