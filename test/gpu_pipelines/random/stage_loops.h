// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The loops of one stage, mapped to the host, to blocks and to threads at random.
#pragma once

#include <vector>

#include "gpu_pipelines/random/draw.h"

namespace calotype::test {

/// Where a loop stands.
enum class Where {
    Host,    ///< around kernels
    Block,   ///< at the blocks, outside of all threads
    Row,     ///< inside of some threads, outside of others
    Thread,  ///< inside of all
};

/// A loop that something can be computed at.
struct GpuLevel {
    int func = 0, stage = 0;
    VarOrRVar var;
    Where where = Where::Block;
    bool is_serial = false;
    bool has_lanes = false;  ///< inside of it
};
using GpuLevels = std::vector<GpuLevel>;

/// The levels that a stage's loops give, outermost first; of which Func the caller says.
GpuLevel level(const StageDraw &stage, const VarOrRVar &v, Where where, bool is_serial = false);

/// As a kernel of its own, or loops on the host.
GpuLevels loops_outside(StageDraw &stage);
/// As a kernel whose loops are split, ordered and mapped one by one.
GpuLevels loops_by_hand(StageDraw &stage);
/// In the kernel of another, at such a level.
GpuLevels loops_in_kernel(StageDraw &stage, const GpuLevel &at);

}  // namespace calotype::test
