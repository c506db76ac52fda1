// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a GPU schedule has to know of a random program.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "pipelines/random/random_pipeline.h"
#include "pipelines/random/random_updates.h"
#include "pipelines/reductions/reduction_funcs.h"

namespace calotype::test {

struct GpuStage {
    Stage stage;
    std::string text;               ///< the stage in C++
    std::vector<VarOrRVar> pure;    ///< the loops over Vars, innermost first; may be none
    std::vector<VarOrRVar> impure;  ///< those over RVars, inside of them
    bool may_be_atomic = false;     ///< if the compiler takes it for a reduction
    std::set<int> reads, images;    ///< numbers of Funcs and of images
};

struct GpuFunc {
    std::string name;
    Func func;
    std::vector<Var> vars;
    std::vector<GpuStage> stages;  ///< the definition and the updates
    bool is_output = false;
    bool may_be_texture = false;
};

struct GpuProgram {
    std::vector<GpuFunc> funcs;  ///< those that read come after those that are read
    std::vector<ImageParam> images;
    Expr condition;         ///< to specialize for
    bool is_exact = false;  ///< no tail may read or write elements that nobody asked for

    bool depends(int reader, int func) const;
    /// Whether an output depends on it.
    bool is_used(int func) const;
};

GpuProgram gpu_program(const RandomPipeline &p, BuiltPipeline &built);
GpuProgram gpu_program(const RandomUpdates &p, BuiltUpdates &built);
GpuProgram gpu_program(const ReductionProgram &p, ReductionFuncs &built);

}  // namespace calotype::test
