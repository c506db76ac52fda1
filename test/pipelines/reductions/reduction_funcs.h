// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The Funcs of a ReductionProgram, and runs of them on inputs that are as large as a bounds query says, with nothing
// that may be read around them.
#pragma once

#include <string>

#include "guarded_image.h"
#include "pipelines/random/random_schedule.h"
#include "reduction_program.h"

namespace calotype::test {

struct ReductionFuncs {
    explicit ReductionFuncs(const ReductionProgram &p);

    /// What schedules name.
    struct Stage {
        Func func;
        std::vector<Var> vars;
        std::vector<RDom> domains;  ///< of each update
    };
    std::vector<Stage> stages;
    std::vector<ImageParam> images;
    std::vector<Param<int>> params;
    Param<int> min{"min"}, extent{"extent"};  ///< of the output's first dimension, for bound()

    /// As C++.
    std::string text() const;
};

/// What of the pipeline's results differs from the evaluator's, or is not as it should be otherwise; empty if nothing.
std::string run_reductions(const ReductionProgram &p, ReductionFuncs &funcs, Pipeline &pipeline,
                           const ReductionProgram::Inputs &inputs, bool at_end,
                           const Target &target = get_jit_target_from_environment());

}  // namespace calotype::test
