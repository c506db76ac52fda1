// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random reductions under random schedules give what the evaluator gives, and read nothing but what a bounds query asks
// for. To look at seeds, as random/random_seeds.h says, with --gtest_filter='RandomReductions*'.
#include <gtest/gtest.h>

#include <iostream>
#include <string>

#include "pipelines/guarded_malloc.h"
#include "pipelines/random/fault_report.h"
#include "pipelines/random/random_seeds.h"
#include "reduction_schedule.h"

namespace calotype::test {
namespace {

/// Of a fold that was asked for, or bounds that were.
bool is_of_the_schedule(const RuntimeError &e) {
    const std::string text = e.what();
    return text.find("fold") != std::string::npos || text.find("Bounds given") != std::string::npos;
}

/// Whether the schedule drawn, without such directives, was legal.
bool run_without(uint64_t seed, const std::set<int> &skipped, bool keeps_places) {
    const ReductionProgram p(seed);
    ReductionFuncs funcs(p);
    Directives directives;
    directives.skipped = skipped;
    directives.keeps_places = keeps_places;
    schedule_reductions(p, funcs, seed * 77 + 5, directives);
    const std::string text = funcs.text() + directives.text();
    if (seed_looked_at()) {
        std::cout << text << std::flush;
    }
    try {
        Pipeline pipeline(funcs.stages.back().func);
        pipeline.jit_handlers().custom_malloc = guarded_malloc;
        pipeline.jit_handlers().custom_free = guarded_free;
        for (size_t i = 0; i < p.runs.size(); i++) {
            const std::string what = "run " + std::to_string(i) + "\n" + text;
            FaultReport report("seed " + std::to_string(seed) + " faults in " + what);
            EXPECT_EQ(run_reductions(p, funcs, pipeline, p.runs[i], (seed + i) % 2 == 0), "")
                << what;
        }
    } catch (const CompileError &e) {
        return refused(e);
    } catch (const RuntimeError &e) {
        if (!is_of_the_schedule(e)) {
            ADD_FAILURE() << e.what() << "\n" << text;
        }
        return refused(e);
    } catch (const InternalError &e) {
        ADD_FAILURE() << e.what() << "\n" << text;
    }
    return true;
}

TEST(RandomReductions, give_what_iterations_in_order_give) {
    compare_seeds(60, run_without);
}

}  // namespace
}  // namespace calotype::test
