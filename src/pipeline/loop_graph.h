// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LoopGraph: the loops of one stage, where each comes from and what became of it. All who ask what
// a schedule's splits make of a loop ask here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/schedule.h"

namespace calotype::internal {

/// A loop that a stage begins with (a dimension, an RVar, the dummy outermost one), or that a
/// split, fuse or rename made of others.
struct StageLoop {
    std::string var;          ///< what directives call it; a loop made later may have the name too
    std::string name;         ///< unique in the stage
    int made_by = -1;         ///< the step; -1: the stage begins with it
    int replaced_by = -1;     ///< the step that made others of it; -1: it is in the nest
    bool is_rvar = false;     ///< an RVar, or made of one
    bool is_fused = false;    ///< made by a fuse, or of a loop that was
    bool is_shifted = false;  ///< over blocks of which the last is shifted inwards
    /// The inner loop of a split, or made of one: its iterations are exactly those that the split
    /// gave it. One more would belong to the next iteration of the outer loop, or to nobody.
    bool is_inner = false;
    std::optional<int64_t> iterations;  ///< of an inner loop, where the factors are constants
};

/// A split, fuse or rename; its loops by index into LoopGraph::loops.
struct LoopStep {
    Split::Kind kind;
    Expr factor;  ///< as in Split, int32
    TailStrategy tail;
    bool divides;           ///< Split::divides
    int old, outer, inner;  ///< as in Split; of a rename inner is -1
};

/// How a factor goes with the iterations of a loop.
enum class FactorFit : uint8_t {
    NotInner,  ///< the loop may get more iterations
    Divides,
    Fits,  ///< is not larger, and leaves a rest
    Unknown,
};

class LoopGraph {
public:
    /// The loops of a stage over the dimensions `args` and the schedule's RVars.
    LoopGraph(const std::vector<std::string> &args, const StageSchedule &schedule);

    const std::vector<StageLoop> &loops() const {
        return loops_;
    }
    const StageLoop &loop(int i) const {
        return loops_[size_t(i)];
    }
    /// As many as the schedule has splits, in that order.
    const std::vector<LoopStep> &steps() const {
        return steps_;
    }
    /// The loops of the nest, innermost first: as many as the schedule has dims, in that order.
    const std::vector<int> &nest() const {
        return nest_;
    }
    /// The loop that has this name now; -1: there is none.
    int find(const std::string &var) const;
    /// The step that replaced the loop, or null.
    const LoopStep *replaced_by(int loop) const;
    /// The split of the loop, whatever it has been renamed to, or null.
    const LoopStep *split_of(int loop) const;
    /// True if `loop` is `origin` or was made of it, in part at least.
    bool is_made_of(int loop, int origin) const;

    FactorFit fit(int loop, const Expr &factor) const;
    /// What Auto means for a split of the loop.
    TailStrategy default_tail(int loop, const Expr &factor, bool is_update) const;

private:
    int add(StageLoop loop);
    void apply(const Split &s);
    void split(const LoopStep &step);

    std::vector<StageLoop> loops_;
    std::vector<LoopStep> steps_;
    std::vector<int> nest_;
};

}  // namespace calotype::internal
