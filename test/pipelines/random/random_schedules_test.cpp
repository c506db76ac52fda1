// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random pipelines under random schedules give what a plain evaluator gives. To look at one seed
// alone:
//     test_pipelines --gtest_filter='*RandomSchedules*' with CT_TEST_SEED=<seed>
// and as random_seeds.h says.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <set>

#include "pipelines/guarded_malloc.h"
#include "random_externs.h"
#include "random_run.h"
#include "random_seeds.h"

namespace calotype::test {
namespace {

int32_t ignore_event(JITUserContext *, const calotype_trace_event_t *) {
    return 1;
}

/// Runs with its choice, with another, and elsewhere: what is kept from one is not for the next.
void run_thrice(RandomRun &run) {
    const Target target = get_jit_target_from_environment();
    Pipeline pipeline = run.pipeline();
    pipeline.jit_handlers().custom_malloc = guarded_malloc;
    pipeline.jit_handlers().custom_free = guarded_free;
    pipeline.jit_handlers().custom_trace = ignore_event;
    const int other_choice = (run.p.choice + 3) % 4 - 1;
    const int offset = run.p.min_x % 2 == 0 ? 5 : -4;
    for (const auto &[choice, moved] :
         {std::pair(run.p.choice, 0), {other_choice, 0}, {other_choice, offset}}) {
        run.set_choice(choice);
        run.p.min_x += moved;
        run.p.min_y -= moved;
        std::vector<Buffer<void>> outputs = run.outputs(target);
        std::vector<LaidOutImage> memory = run.lay_out(outputs);
        run.set_inputs(outputs, target);
        external_misses = 0;
        pipeline.realize(Realization(outputs));
        EXPECT_EQ(external_misses, 0) << run.text();
        EXPECT_EQ(run.difference(outputs), "") << "choice " << choice << "\n" << run.text();
        for (LaidOutImage &image : memory) {
            EXPECT_TRUE(image.others_untouched()) << run.text();
        }
    }
}

struct Case {
    RandomPipeline pipeline;
    uint64_t seed = 0;
    bool draws_layouts = false;
};

/// Whether the schedule drawn, without such directives, was legal.
bool run_without(const Case &c, const std::set<int> &skipped, bool keeps_places) {
    RandomRun run(c.pipeline);
    if (c.draws_layouts) {
        run.draw_layouts(c.seed);
    }
    run.directives.skipped = skipped;
    run.directives.keeps_places = keeps_places;
    try {
        random_schedule(run.p, run.built, c.seed * 77 + 5, run.directives);
        if (seed_looked_at()) {
            std::cout << run.text() << std::flush;  // the program may end here
        }
        run_thrice(run);
    } catch (const CompileError &e) {
        return refused(e);
    } catch (const RuntimeError &e) {
        return refused(e);
    } catch (const InternalError &e) {
        ADD_FAILURE() << e.what() << "\n" << run.text();
    }
    return true;
}

void run_seeds(RandomPipeline (*pipeline)(uint64_t), uint64_t seeds, bool draws_layouts = false) {
    compare_seeds(seeds, [=](uint64_t seed, const std::set<int> &skipped, bool keeps_places) {
        return run_without({pipeline(seed), seed, draws_layouts}, skipped, keeps_places);
    });
}

TEST(RandomSchedules, change_no_result_of_small_pipelines) {
    run_seeds(random_pipeline, 60);
}

TEST(RandomSchedules, change_no_result_of_full_pipelines) {
    run_seeds(full_random_pipeline, 60);
}

TEST(RandomSchedules, change_no_result_of_images_of_other_layouts) {
    run_seeds(full_random_pipeline, 60, true);
}

TEST(RandomSchedules, change_no_result_of_windows) {
    run_seeds(windows_random_pipeline, 60);
}

TEST(RandomSchedules, change_no_result_of_external_stages) {
    run_seeds(extern_random_pipeline, 40);
}

}  // namespace
}  // namespace calotype::test
