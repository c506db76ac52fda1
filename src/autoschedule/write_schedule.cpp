// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The loops of the host of a group, outermost first:
//
//     outer loops of the tiles, as many of them parallel as tasks are wanted
//       the members, each in its own loops
//       loops within a tile
//         a vector
//
// Of an update that adds up (whose RVars are not in what it stores) the RVars are within the loops
// over tiles and just outside of the vector: what is added up stays in a register. RVars that say
// where something is stored are outside of the loops over dimensions: memory is written row by row.
#include "autoschedule/write_schedule.h"

#include <algorithm>
#include <cmath>

#include "ir/expr_nodes.h"
#include "ir/queries.h"

namespace calotype::internal {

namespace {

constexpr double least_parallel_work = 40000;
constexpr double least_sum = 4;  ///< terms, for several sums to be in registers at a time

class WriteStage {
public:
    WriteStage(const Model &model, const Group &group, int func, int stage, const Machine &machine,
               ScheduleText &text)
        : group_(group), func_(model.funcs[size_t(func)]), stage_(stage), machine_(machine),
          loops_(loops_of(func_, stage)), is_host_(func == group.host),
          writer_(func_.original, stage, text) {
    }

    /// The loop in which members are computed is then `place`.
    void write(const ConcreteRegion &region) {
        const bool tiled = is_host_ && stage_ == group_.host_stage && group_.is_tiled();
        for (const int d : loops_.dimensions) {
            const int tile = tiled ? group_.tile[size_t(d)] : 0;
            add_dimension(d, region[size_t(d)].extent(), tile ? tile : task_of(d, region));
        }
        order();
        if (is_host_) {
            make_parallel(region);
        }
    }
    const std::optional<Var> &place() const {
        return place_;
    }

private:
    struct Loop {
        VarOrRVar var;
        double extent;
    };

    /// Where the other loops are too few tasks, or their order matters, rows are cut into tasks.
    int task_of(int d, const ConcreteRegion &region) const {
        if (!is_host_ || d != func_.vector_dimension() || !is_worth_tasks(region)) {
            return 0;
        }
        double others = 1;
        for (const int other : loops_.dimensions) {
            others *= other == d ? 1 : region[size_t(other)].extent();
        }
        const int least = 2 * lanes_of(func_, machine_);
        const double extent = region[size_t(d)].extent();
        const double task = std::ceil(extent / machine_.parallelism / least) * least;
        return others < machine_.parallelism && task < extent ? int(task) : 0;
    }

    bool is_worth_tasks(const ConcreteRegion &region) const {
        const StageModel &stage = func_.stages[size_t(stage_)];
        double reads = 0;
        for (const Read &read : stage.reads) {
            reads += read.cost;
        }
        return iterations(stage, region) * (stage.operations + reads + 1) >= least_parallel_work;
    }

    void add_dimension(int d, double extent, int tile) {
        const std::string &name = func_.original.args()[size_t(d)];
        VarOrRVar inner = Var(name);
        if (tile) {
            const Var outer = made_of(name, "_o", stage_), in_tile = made_of(name, "_i", stage_);
            writer_.split(Var(name), outer, in_tile, tile, TailStrategy::GuardWithIf);
            outer_.push_back({outer, std::ceil(extent / tile)});
            inner = in_tile;
            extent = tile;
            if (!place_) {
                place_ = outer;
            }
        }
        if (d == func_.vector_dimension()) {
            const int lanes = lanes_that_fit(extent);
            if (lanes > 1) {
                writer_.vectorize(split_off(d, "_vo", "_v", lanes, inner, extent, vector_));
            }
        }
        add_inner(d, inner, extent);
    }

    /// The innermost `factor` iterations as a loop of their own, which joins `parts`; `loop`, of `extent` iterations, is
    /// what is left.
    Var split_off(int d, const char *outer_name, const char *part_name, int factor, VarOrRVar &loop,
                  double &extent, std::vector<Loop> &parts) {
        const std::string &name = func_.original.args()[size_t(d)];
        const Var outer = made_of(name, outer_name, stage_),
                  part = made_of(name, part_name, stage_);
        writer_.split(loop, outer, part, factor, TailStrategy::GuardWithIf);
        parts.push_back({part, double(factor)});
        loop = outer;
        extent = std::ceil(extent / factor);
        return part;
    }

    /// Several neighbours of what an update adds up are added up at once, each in a register.
    void add_inner(int d, VarOrRVar inner, double extent) {
        const bool sums = !loops_.rvars.empty() && !loops_.scatters &&
                          func_.stages[size_t(stage_)].iterations_of_rdom >= least_sum;
        const int factor = d == func_.vector_dimension() ? 2 : 4;
        if (sums && block_.size() < 2 && extent >= factor) {
            writer_.unroll(split_off(d, "_uo", "_u", factor, inner, extent, block_));
        }
        inner_.push_back({inner, extent});
    }

    int lanes_that_fit(double extent) const {
        int lanes = lanes_of(func_, machine_);
        while (lanes > 4 && lanes > extent) {
            lanes /= 2;
        }
        return lanes > extent ? 1 : lanes;
    }

    void order() {
        std::vector<VarOrRVar> all;
        const auto add = [&](const std::vector<Loop> &loops) {
            for (const Loop &loop : loops) {
                all.push_back(loop.var);
            }
        };
        add(vector_);
        add(block_);
        const bool row_first = loops_.scatters && !vector_.empty();
        const size_t first = row_first ? 1 : 0;
        if (row_first) {
            all.push_back(inner_[0].var);
        }
        all.insert(all.end(), loops_.rvars.begin(), loops_.rvars.end());
        add({inner_.begin() + long(first), inner_.end()});
        add(outer_);
        writer_.reorder(all);
    }

    /// From the outermost loop inwards, until there are enough tasks.
    void make_parallel(const ConcreteRegion &region) {
        std::vector<Loop> candidates = outer_;
        if (outer_.empty()) {
            candidates = inner_;
            if (loops_.scatters && !vector_.empty()) {
                candidates.erase(candidates.begin());
            }
        }
        if (!is_worth_tasks(region)) {
            return;
        }
        double tasks = 1;
        for (size_t i = candidates.size(); i-- > 0 && tasks < machine_.parallelism;) {
            if (candidates[i].extent > 1) {
                writer_.parallel(candidates[i].var);
                tasks *= candidates[i].extent;
            }
        }
    }

    const Group &group_;
    const FuncModel &func_;
    const int stage_;
    const Machine &machine_;
    const StageLoops loops_;
    const bool is_host_;
    StageWriter writer_;
    std::vector<Loop> vector_, block_, inner_, outer_;  ///< innermost first
    std::optional<Var> place_;
};

void write_group(const Model &model, const Group &group, const Machine &machine,
                 ScheduleText &text) {
    const auto regions = GroupCost(model, machine).regions_of_tile(group);
    const FuncModel &host = model.funcs[size_t(group.host)];
    std::optional<Var> place;
    for (int stage = 0; stage < host.original.stages(); stage++) {
        WriteStage write(model, group, group.host, stage, machine, text);
        write.write(host.region);
        if (stage == group.host_stage) {
            place = write.place();
        }
    }
    for (const int m : group.members) {
        const FuncModel &member = model.funcs[size_t(m)];
        for (int stage = 0; m != group.host && stage < member.original.stages(); stage++) {
            if (stage == 0) {
                compute_at(member.original, host.original, *place, group.host_stage, text);
            }
            WriteStage(model, group, m, stage, machine, text)
                .write(regions[size_t(m)].value_or(member.region));
        }
    }
}

}  // namespace

Var made_of(const std::string &dimension, const char *part, int stage) {
    return Var(dimension + part + (stage ? std::to_string(stage) : ""));
}

StageLoops loops_of(const FuncModel &func, int stage) {
    StageLoops loops;
    const Function &f = func.original;
    for (int d = 0; d < f.dimensions(); d++) {
        if (func.stages[size_t(stage)].pure[size_t(d)]) {
            loops.dimensions.push_back(d);
        }
    }
    const int v = func.vector_dimension();
    std::stable_partition(loops.dimensions.begin(), loops.dimensions.end(),
                          [&](int d) { return d == v; });
    if (stage == 0) {
        return loops;
    }
    for (const Dim &dim : f.stage(stage)->schedule.dims) {
        if (dim.is_rvar()) {
            loops.rvars.emplace_back(dim.var, true);
            for (const Expr &arg : f.stage(stage)->args) {
                loops.scatters |= uses_var(arg, dim.var);
            }
        }
    }
    return loops;
}

void write_schedule(const Model &model, const std::vector<Group> &groups, const Machine &machine,
                    ScheduleText &text) {
    for (const Group &group : groups) {
        const FuncModel &host = model.funcs[size_t(group.host)];
        if (!host.is_output) {
            compute_root(host.original, text);
        }
        if (host.f.has_extern_definition()) {
            continue;
        }
        if (machine.gpu) {
            write_gpu_group(model, group, text);
        } else {
            write_group(model, group, machine, text);
        }
    }
}

}  // namespace calotype::internal
