// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Group: Funcs that are computed together, tile by tile of one of them; and what that costs.
#pragma once

#include <vector>

#include "autoschedule/machine.h"
#include "autoschedule/model.h"

namespace calotype::internal {

struct Group {
    int host = 0;              ///< computed at root; the others are computed in its tiles
    int host_stage = 0;        ///< the one whose tiles these are
    std::vector<int> members;  ///< ascending, the host is the last
    /// Of each dimension of the host; 0: it is not tiled.
    std::vector<int> tile;
    double cost = 0;

    bool is_tiled() const;
    bool contains(int func) const;
};

/// Costs are times, in the time of an addition of one lane.
class GroupCost {
public:
    GroupCost(const Model &model, const Machine &machine) : model_(model), machine_(machine) {
    }
    /// A group of one, which is not tiled.
    Group alone(int func) const;
    /// The best tiles of a group of these members (host and members are set, the rest is found); false: there are
    /// none for which they can be computed together.
    bool find_tiles(Group &group) const;
    /// The regions of the members for one tile, by Func; none of those that are no members.
    std::vector<std::optional<ConcreteRegion>> regions_of_tile(const Group &group) const;

private:
    bool find_host_stage(Group &group) const;
    void try_tiles(Group &group, size_t dimension, Group &best) const;
    std::vector<int> candidates(const Group &group, size_t dimension) const;
    double cost(const Group &group) const;
    double cost_of_stage(const Group &group, const FuncModel &func, const StageModel &stage,
                         const ConcreteRegion &region, bool in_tile) const;
    double cost_of_bytes(double bytes, double of_all) const;
    bool fits_gpu(const Group &group) const;

    const Model &model_;
    const Machine &machine_;
};

/// Lanes of the vectors in which a Func is computed.
int lanes_of(const FuncModel &func, const Machine &machine);

}  // namespace calotype::internal
