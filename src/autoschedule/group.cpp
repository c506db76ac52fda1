// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The cost of a group, for tiles of one size:
//
//     tiles * (arithmetic and loads of all members in one tile, as far as the tile needs them
//              + bytes that come from memory, by how far away their Func or input is kept
//              + what loops cost that are begun anew)
//     / tasks that run at once
//
// Work that overlapping tiles do again is counted by the regions: the larger the tiles, the less of
// it; the smaller the tiles, the more of what they hold stays in the cache.
#include "autoschedule/group.h"

#include <algorithm>
#include <cmath>

namespace calotype::internal {

namespace {

constexpr double scalar_penalty = 4;  ///< of a stage that is not computed in vectors
constexpr double cost_of_nest = 200;  ///< of a loop nest that begins
constexpr double cost_of_row = 60;    ///< of an innermost loop that begins
constexpr double far_factor = 0.3;    ///< of memory's cost: of what is in a farther cache
constexpr double near_factor = 0.02;  ///< of what is in the nearest
/// Of storage so large that the system gives it out anew for each run, against what is there.
constexpr double cost_of_fresh_memory = 2;
constexpr int most_gpu_threads = 512;
constexpr double most_shared_bytes = 32768;

double tiles_of(double extent, int tile) {
    return tile ? std::ceil(extent / tile) : 1;
}

}  // namespace

bool Group::is_tiled() const {
    return std::any_of(tile.begin(), tile.end(), [](int t) { return t > 0; });
}

bool Group::contains(int func) const {
    return std::binary_search(members.begin(), members.end(), func);
}

int lanes_of(const FuncModel &func, const Machine &machine) {
    int narrowest = 64;
    for (const Type &t : func.original.output_types()) {
        narrowest = std::min(narrowest, std::max(8, t.bits()));
    }
    int lanes = machine.vector_bits / narrowest;
    while (lanes * func.stages[0].widest_bits > 4 * machine.vector_bits && lanes > 4) {
        lanes /= 2;
    }
    return lanes;
}

double GroupCost::cost_of_bytes(double bytes, double of_all) const {
    const double share = of_all / double(machine_.last_level_cache_size);
    const double least = of_all > machine_.near_cache() ? far_factor : near_factor;
    return bytes * machine_.balance / 8 * std::clamp(share, least, 1.0);
}

double GroupCost::cost_of_stage(const Group &group, const FuncModel &func, const StageModel &stage,
                                const ConcreteRegion &region, bool in_tile) const {
    const double count = iterations(stage, region);
    double each = stage.operations + 1, bytes = 0;
    for (const Read &read : stage.reads) {
        each += read.cost;
        const bool is_member = !model_.is_input(read.source) && group.contains(read.source);
        if (!is_member || !in_tile) {
            const bool input = model_.is_input(read.source);
            const ConcreteRegion &all =
                input ? model_.input(read.source).region : model_.funcs[size_t(read.source)].region;
            const double size =
                input ? model_.input(read.source).bytes : model_.funcs[size_t(read.source)].bytes;
            const double touched = std::min(volume(region_read(read, region, all)), volume(all));
            bytes += cost_of_bytes(size * touched, size * volume(all));
        }
    }
    const size_t v = size_t(func.vector_dimension());
    double rows = count;
    if (v < region.size() && stage.pure[v] && region[v].extent() > 0) {
        const double extent = region[v].extent();
        const int lanes = lanes_of(func, machine_);
        rows = count / extent;
        each *= extent < lanes ? scalar_penalty : std::ceil(extent / lanes) * lanes / extent;
    } else {
        each *= scalar_penalty;
    }
    return count * each + bytes + rows * cost_of_row + cost_of_nest;
}

std::vector<std::optional<ConcreteRegion>> GroupCost::regions_of_tile(const Group &group) const {
    std::vector<std::optional<ConcreteRegion>> regions(model_.funcs.size());
    const FuncModel &host = model_.funcs[size_t(group.host)];
    ConcreteRegion tile = host.region;
    for (size_t d = 0; d < tile.size(); d++) {
        if (group.tile[d]) {
            tile[d].min += std::floor((tile[d].extent() - group.tile[d]) / 2);
            tile[d].max = tile[d].min + group.tile[d] - 1;
        }
    }
    regions[size_t(group.host)] = tile;
    for (size_t m = group.members.size(); m-- > 0;) {
        const int i = group.members[m];
        const FuncModel &func = model_.funcs[size_t(i)];
        for (size_t s = func.stages.size(); regions[size_t(i)] && s-- > 0;) {
            if (i == group.host && int(s) != group.host_stage) {
                continue;
            }
            for (const Read &read : func.stages[s].reads) {
                if (!model_.is_input(read.source) && group.contains(read.source) &&
                    (read.source != group.host)) {
                    include(regions[size_t(read.source)],
                            region_read(read, *regions[size_t(i)],
                                        model_.funcs[size_t(read.source)].region));
                }
            }
        }
    }
    return regions;
}

double GroupCost::cost(const Group &group) const {
    const auto regions = regions_of_tile(group);
    const FuncModel &host = model_.funcs[size_t(group.host)];
    double tiles = 1, in_tile = 0, outside = 0, bytes = 0;
    for (size_t d = 0; d < group.tile.size(); d++) {
        tiles *= tiles_of(host.region[d].extent(), group.tile[d]);
    }
    for (const int i : group.members) {
        const FuncModel &func = model_.funcs[size_t(i)];
        for (size_t s = 0; regions[size_t(i)] && s < func.stages.size(); s++) {
            const bool tiled = i != group.host || int(s) == group.host_stage;
            (tiled ? in_tile : outside) += cost_of_stage(
                group, func, func.stages[s], tiled ? *regions[size_t(i)] : func.region, tiled);
        }
        if (i != group.host && regions[size_t(i)]) {
            bytes += func.bytes * volume(*regions[size_t(i)]);
        }
    }
    in_tile += cost_of_bytes(2 * bytes, bytes);
    double loops = tiles;
    if (!group.is_tiled()) {
        const ConcreteRegion &all = host.region;
        loops = all.empty() ? 1 : all.back().extent();
        loops *= all.size() > 2 ? all[all.size() - 2].extent() : 1;
        tiles = 1;
    }
    double stored = cost_of_bytes(host.bytes_of_all(), host.bytes_of_all());
    if (!host.is_output && host.bytes_of_all() > double(machine_.last_level_cache_size)) {
        stored *= cost_of_fresh_memory;
    }
    const double tasks = std::clamp(loops, 1.0, double(machine_.parallelism));
    return (tiles * in_tile + outside + stored) / tasks;
}

Group GroupCost::alone(int func) const {
    Group group;
    group.host = func;
    group.members = {func};
    group.tile.assign(model_.funcs[size_t(func)].region.size(), 0);
    group.cost = cost(group);
    return group;
}

bool GroupCost::find_host_stage(Group &group) const {
    const FuncModel &host = model_.funcs[size_t(group.host)];
    int found = -1;
    for (size_t s = 0; s < host.stages.size(); s++) {
        for (const Read &read : host.stages[s].reads) {
            if (read.source == group.host || model_.is_input(read.source) ||
                !group.contains(read.source)) {
                continue;
            }
            if (found >= 0 && found != int(s)) {
                return false;
            }
            found = int(s);
        }
    }
    group.host_stage = std::max(found, 0);
    return found >= 0;
}

std::vector<int> GroupCost::candidates(const Group &group, size_t d) const {
    const FuncModel &host = model_.funcs[size_t(group.host)];
    const double extent = host.region[d].extent();
    std::vector<int> result = {0};
    if (!host.stages[size_t(group.host_stage)].pure[d]) {
        return result;
    }
    const bool is_vector = int(d) == host.vector_dimension();
    const int lanes = lanes_of(host, machine_);
    if (machine_.gpu) {
        result = is_vector ? std::vector<int>{16, 32, 64} : std::vector<int>{1, 4, 8, 16};
    } else if (is_vector && extent >= lanes) {
        for (int t = 2 * lanes; t <= 512 && t < extent; t *= 2) {
            result.push_back(t);
        }
    } else {
        for (int t = 1; t <= 256 && t < extent; t *= 2) {
            result.push_back(t);
        }
    }
    return result;
}

/// As many loops of a kernel are threads, and its memory is shared.
bool GroupCost::fits_gpu(const Group &group) const {
    double bytes = 0;
    const auto regions = regions_of_tile(group);
    for (const int i : group.members) {
        const FuncModel &func = model_.funcs[size_t(i)];
        const ConcreteRegion &region = *regions[size_t(i)];
        double threads = 1;
        for (size_t d = 0; d < region.size() && d < 2; d++) {
            threads *= region[d].extent();
        }
        if (threads > most_gpu_threads) {
            return false;
        }
        if (i != group.host) {
            bytes += func.bytes * volume(region);
            for (const StageModel &stage : func.stages) {
                if (region.empty() || !stage.pure[0]) {
                    return false;
                }
            }
        }
    }
    return bytes <= most_shared_bytes;
}

void GroupCost::try_tiles(Group &group, size_t d, Group &best) const {
    if (d < group.tile.size()) {
        for (const int t : candidates(group, d)) {
            group.tile[d] = t;
            try_tiles(group, d + 1, best);
        }
        group.tile[d] = 0;
        return;
    }
    if (group.is_tiled() && (!machine_.gpu || fits_gpu(group))) {
        group.cost = cost(group);
        if (!best.is_tiled() || group.cost < best.cost) {
            best = group;
        }
    }
}

bool GroupCost::find_tiles(Group &group) const {
    group.tile.assign(model_.funcs[size_t(group.host)].region.size(), 0);
    if (!find_host_stage(group)) {
        return false;
    }
    Group best = group;
    try_tiles(group, 0, best);
    group = best;
    return group.is_tiled();
}

}  // namespace calotype::internal
