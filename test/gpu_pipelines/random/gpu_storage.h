// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where a Func that is computed inside of loops is stored, and how.
#pragma once

#include <functional>

#include "gpu_pipelines/random/stage_loops.h"

namespace calotype::test {

/// A level as LoopLevel, and as C++.
struct NamedLevel {
    LoopLevel level;
    std::string text;
};

class GpuStorage {
public:
    GpuStorage(Draw &draw, const std::function<NamedLevel(const GpuLevel &)> &named)
        : draw_(draw), dice_(draw.dice), named_(named) {
    }

    /// Of a Func computed at the last of the levels, which are around it.
    void inside(GpuFunc &f, const GpuLevels &around);
    /// The order of its dimensions, and what its bounds are rounded to.
    void shape(GpuFunc &f);

private:
    int around_serial_loops(const GpuLevels &around, int at);
    int keep(GpuFunc &f, const GpuLevels &around);
    void hoist(GpuFunc &f, const GpuLevels &around, int store);
    void memory(GpuFunc &f, const GpuLevel &at);

    Draw &draw_;
    Dice &dice_;
    const std::function<NamedLevel(const GpuLevel &)> &named_;
};

}  // namespace calotype::test
