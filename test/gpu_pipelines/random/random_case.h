// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A random pipeline under a random GPU schedule, with its inputs and what it is to give.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "gpu_pipelines/random/gpu_schedule.h"

namespace calotype::test {

struct RandomCase {
    /// Directives of such numbers are left out. What is drawn cannot always be scheduled: then a
    /// CompileError comes out of here.
    explicit RandomCase(uint64_t seed, const std::set<int> &skipped = {});

    Pipeline pipeline();
    /// The algorithm, and the directives.
    std::string text() const;
    /// Of the outputs, with the region that the pipeline is for.
    std::vector<Buffer<void>> outputs() const;
    /// Fill the images for such outputs.
    void set_inputs(const std::vector<Buffer<void>> &outputs, const Target &target);
    /// Where the outputs differ from what the evaluator gives; empty if nowhere.
    std::string difference(const std::vector<Buffer<void>> &outputs) const;

    RandomPipeline p;
    BuiltPipeline built;
    Directives directives;
    Features features;
};

}  // namespace calotype::test
