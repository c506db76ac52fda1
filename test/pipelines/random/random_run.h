// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A random pipeline with a schedule, its inputs and what it is to give.
#pragma once

#include <string>
#include <vector>

#include "random_schedule.h"

namespace calotype::test {

struct RandomRun {
    explicit RandomRun(const RandomPipeline &pipeline) : p(pipeline), built(build(p)) {
    }

    Pipeline pipeline();
    /// The algorithm, and the directives.
    std::string text() const;
    /// Of the outputs, with the region that the pipeline is for.
    std::vector<Buffer<void>> outputs() const;
    /// The same, larger where a bounds query says that tail strategies need it.
    std::vector<Buffer<void>> rounded_outputs(const Target &target);
    /// From now on, for the parameter and for the evaluator.
    void set_choice(int choice);
    /// Make and fill the images for such outputs.
    void set_inputs(const std::vector<Buffer<void>> &outputs, const Target &target);
    /// Where the outputs differ from what the evaluator gives; empty if nowhere.
    std::string difference(const std::vector<Buffer<void>> &outputs) const;

    RandomPipeline p;
    BuiltPipeline built;
    Directives directives;
};

}  // namespace calotype::test
