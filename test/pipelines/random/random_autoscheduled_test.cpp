// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random pipelines under the schedules of Mullapudi2016 give what a plain evaluator gives, at sizes
// that are not those of the estimates, either.
#include <gtest/gtest.h>

#include <iostream>

#include "pipelines/guarded_malloc.h"
#include "random_run.h"
#include "random_seeds.h"

namespace calotype::test {
namespace {

/// False: outputs of this size do not hold what the updates write.
bool run_autoscheduled(const RandomPipeline &p, uint64_t seed) {
    RandomRun run(p);
    // Small, as it is run, or so large that there are tiles.
    const bool as_run = seed % 3 == 0;
    for (auto f = run.built.funcs.end() - p.outputs; f != run.built.funcs.end(); ++f) {
        f->set_estimates({{p.min_x, as_run ? std::max(p.width, 1) : 700},
                          {p.min_y, as_run ? std::max(p.height, 1) : 500}});
    }
    run.built.choice.set_estimate(p.choice);
    const Target target = get_jit_target_from_environment();
    Pipeline pipeline = run.pipeline();
    AutoschedulerParams params("Mullapudi2016");
    if (seed % 2 == 0) {
        params.extra = {{"last_level_cache_size", "65536"}, {"parallelism", "4"}};
    }
    const std::string schedule = pipeline.apply_autoscheduler(target, params).schedule_source;
    pipeline.jit_handlers().custom_malloc = guarded_malloc;
    pipeline.jit_handlers().custom_free = guarded_free;
    run.set_choice(p.choice);
    std::vector<Buffer<void>> outputs = run.outputs(target);
    run.set_inputs(outputs, target);
    try {
        pipeline.realize(Realization(outputs));
    } catch (const RuntimeError &) {
        return false;
    }
    EXPECT_EQ(run.difference(outputs), "") << "seed " << seed << "\n" << run.text() << schedule;
    return true;
}

void compare(uint64_t seeds, RandomPipeline (*make)(uint64_t)) {
    const SeedRange range = seeds_searched().value_or(SeedRange{0, seeds});
    uint64_t compared = 0;
    for (uint64_t i = 0; i < range.count; i++) {
        const uint64_t seed = seed_looked_at().value_or(range.first + i);
        compared += run_autoscheduled(make(seed), seed);
        if (seed_looked_at() || testing::Test::HasFailure()) {
            return;
        }
    }
    EXPECT_GE(3 * compared, 2 * range.count);
}

TEST(RandomAutoscheduled, stencils) {
    compare(20, random_pipeline);
}

TEST(RandomAutoscheduled, all_kinds) {
    compare(20, full_random_pipeline);
}

}  // namespace
}  // namespace calotype::test
