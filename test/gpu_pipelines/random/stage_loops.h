// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The loops of one stage, mapped to blocks and threads at random.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "pipelines/random/random_pipeline.h"
#include "pipelines/random/random_schedule.h"

namespace calotype::test {

/// Where a loop stands in a kernel.
enum class Where {
    Block,   ///< at the blocks, outside of all threads
    Row,     ///< inside of some threads, outside of others
    Thread,  ///< inside of all
};

/// A loop that something can be computed at.
struct GpuLevel {
    std::string func;
    int stage;
    VarOrRVar var;
    Where where;
    bool is_serial = false;
    bool has_lanes = false;  ///< inside of it
};

/// The features that the schedules have drawn.
using Features = std::set<std::string>;
/// All of them.
const Features &all_gpu_features();

/// Draws directives, and keeps of which features they are.
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

class StageLoops {
public:
    /// `text`: the stage in C++. `prefix`: of the names of its new loops.
    StageLoops(Draw &draw, Stage stage, std::string text, const std::string &prefix, int index);

    std::vector<VarOrRVar> pure;    ///< the loops over Vars, innermost first: one to three
    std::vector<VarOrRVar> impure;  ///< those over RVars, inside of them
    bool is_output = false;
    bool may_be_atomic = false;
    Expr wide;  ///< a condition to specialize for

    /// As a kernel of its own, or loops on the host. Gives what can be computed in it, outermost
    /// first.
    std::vector<GpuLevel> at_root();
    /// In the kernel of another, at such a level.
    std::vector<GpuLevel> in_kernel(const GpuLevel &level);

private:
    using Levels = std::vector<GpuLevel>;

    bool apply(const std::string &feature, const std::string &text, const std::function<void()> &f);
    GpuLevel level(const VarOrRVar &v, Where where) const;
    VarOrRVar inner(const VarOrRVar &v, const std::string &suffix) const;
    TailStrategy tail(std::string *name, bool of_rvar = false);

    Levels tile();
    Levels line();
    Levels serial_rows();
    Levels lanes();
    Levels fused_blocks();
    Levels atomic_blocks();
    void decorate(const VarOrRVar &v);
    void specialize(const VarOrRVar &v);

    Levels at_block(bool has_lanes);
    Levels at_row(bool has_lanes);
    Levels in_thread();
    Levels impure_outermost(const VarOrRVar &r);
    VarOrRVar vectors();

    Draw &draw_;
    Dice &dice_;
    Stage stage_;
    std::string text_, prefix_;
    std::string func_;
    int index_;
};

}  // namespace calotype::test
