// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A random pipeline with a schedule, its inputs and what it is to give.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "memory_layout.h"
#include "random_schedule.h"

namespace calotype::test {

struct OutputElement {
    const Buffer<void> &buffer;
    int stage, value, x, y;
};

struct RandomRun {
    explicit RandomRun(const RandomPipeline &pipeline) : p(pipeline), built(build(p)) {
    }

    Pipeline pipeline();
    /// The algorithm, and the directives.
    std::string text() const;
    /// Of the region that the pipeline is for, larger where a bounds query says that tail strategies
    /// need it.
    std::vector<Buffer<void>> outputs(const Target &target);
    /// Lets inputs and outputs lie in memory as is drawn. They are dense without that.
    void draw_layouts(uint64_t seed);
    /// Memory for the outputs, of that size; those become the images in it.
    std::vector<LaidOutImage> lay_out(std::vector<Buffer<void>> &outputs) const;
    /// From now on, for the parameter and for the evaluator.
    void set_choice(int choice);
    /// Make and fill the images for such outputs.
    void set_inputs(const std::vector<Buffer<void>> &outputs, const Target &target);
    /// All of theirs, with what the evaluator gives for each.
    void for_each_element(const std::vector<Buffer<void>> &outputs,
                          const std::function<void(const OutputElement &, int64_t)> &visit) const;
    /// Where the outputs differ from what the evaluator gives in the region that the pipeline is for;
    /// empty if nowhere.
    std::string difference(const std::vector<Buffer<void>> &outputs) const;

    RandomPipeline p;
    BuiltPipeline built;
    Directives directives;

private:
    std::vector<Func> output_funcs() const;

    std::vector<MemoryLayout> input_layouts_, output_layouts_;
    std::vector<LaidOutImage> inputs_;
};

}  // namespace calotype::test
