// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Drawing directives, and keeping of which features of schedules they are.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gpu_pipelines/random/gpu_program.h"
#include "pipelines/random/random_schedule.h"

namespace calotype::test {

/// The features that schedules have drawn.
using Features = std::set<std::string>;
/// All of them.
const Features &all_gpu_features();

class Draw {
public:
    Draw(Dice &dice, Directives &directives, Features &features)
        : dice(dice), directives_(directives), features_(features) {
    }

    Dice &dice;

    bool apply(const std::string &feature, const std::string &text,
               const std::function<void()> &directive);
    bool sometimes(int percent, const std::string &feature, const std::string &text,
                   const std::function<void()> &directive);

private:
    Directives &directives_;
    Features &features_;
};

/// Draws directives of one stage.
class StageDraw {
public:
    using Loops = std::vector<VarOrRVar>;

    /// `prefix`: of the names of new loops.
    StageDraw(Draw &draw, const GpuProgram &program, const GpuStage &stage,
              const std::string &prefix, int index)
        : s(stage), draw_(draw), dice_(draw.dice), program_(program), prefix_(prefix),
          index_(index) {
    }

    GpuStage s;

    Dice &dice() {
        return dice_;
    }
    int index() const {
        return index_;
    }
    bool apply(const std::string &feature, const std::string &text, const std::function<void()> &f);
    /// A name for a loop that comes of v.
    VarOrRVar fresh(const VarOrRVar &v, const std::string &suffix) const;
    const NamedTail &tail(bool of_rvar);

    /// {outer, inner}, if it is split.
    std::optional<std::pair<VarOrRVar, VarOrRVar>> split(const VarOrRVar &v, int factor,
                                                         const std::string &suffix = "");
    std::optional<VarOrRVar> fuse(const VarOrRVar &inner, const VarOrRVar &outer);
    void reorder(const Loops &innermost_first);
    bool gpu_blocks(const std::string &feature, const Loops &loops);
    bool gpu_threads(const std::string &feature, const Loops &loops);
    /// Vectors of it or copies of it.
    void unrolled(const VarOrRVar &v);

    /// A stage of its own for where the condition holds.
    std::optional<StageDraw> specialized();

private:
    Draw &draw_;
    Dice &dice_;
    const GpuProgram &program_;
    std::string prefix_;
    int index_;
};

}  // namespace calotype::test
