// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a pipeline was compiled to is used again until something changes that code depends on.
#include <gtest/gtest.h>

#include <functional>

#include "driver/module.h"
#include "driver/progress.h"
#include "harness/expect_error.h"
#include "harness/scoped_environment.h"
#include "lang/language.h"
#include "lang/pipeline.h"
#include "pipeline/compare/snapshot.h"
#include "pipeline/edits.h"
#include "support/edit_lock.h"
#include "target/target.h"

namespace calotype::internal {
namespace {

struct Scene {
    Var x{"x"}, y{"y"}, xi{"xi"};
    ImageParam in{Int(32), 2, "in"};
    Param<int> p{"p"};
    RDom r{0, 4, "r"};
    LoopLevel level = LoopLevel::root();
    Func g{"g"}, f{"f"};
    Pipeline pipeline;
    Stage kept;  ///< as a program may hold one across runs

    Scene() : kept(defined_update()) {
        g.compute_at(level);
        pipeline = Pipeline(f);
    }
    Stage defined_update() {
        g(x, y) = in(x, y) + p;
        f(x, y) = g(x, y) + g(x + 1, y);
        f(x, y) += g(x, y + r);
        return f.update();
    }
    PipelineSource source() {
        return pipeline.source("f", pipeline.infer_arguments());
    }
    bool is_of(const PipelineSnapshot &snapshot) const {
        const PipelineContents &c = *pipeline.contents();
        return snapshot.is_of(c.outputs, c.requirements, c.trace_pipeline);
    }
};

using Edit = std::function<void(Scene &)>;

// As another thread would change it, or a function that is told of the progress.
TEST(Snapshots, WhatChangesDuringACompilationCountsForTheNext) {
    Var x("x");
    Func f("f");
    f(x) = x + 5;
    Pipeline p(f);
    bool is_changed = false;
    {
        const ProgressScope scope([&](const CompileStep &) {
            if (!is_changed) {
                is_changed = true;
                f.bound(x, 0, 2);
            }
        });
        p.compile_jit();
    }
    EXPECT_TRUE(is_changed);
    EXPECT_RUNTIME_ERROR(p.realize({3}),
                         "Bounds given for " + f.name() +
                             " in x (from 0 to 1) do not cover required region (from 0 to 2)");
}

// Takes the lock where it reads the pipeline, not while it compiles.
TEST(Snapshots, APipelineIsReadUnderTheLockForEdits) {
    struct CountedLock final : EditLock {
        int taken = 0;
        bool is_held = false;
        void acquire() override {
            taken++;
            is_held = true;
        }
        void release() override {
            is_held = false;
        }
    };
    Scene scene;
    CountedLock lock;
    const EditLockScope locks(lock);
    const ProgressScope steps([&](const CompileStep &) { EXPECT_FALSE(lock.is_held); });
    scene.pipeline.compile_jit();
    EXPECT_EQ(lock.taken, 1);
    scene.pipeline.compile_to_module(scene.pipeline.infer_arguments(), "f");
    EXPECT_EQ(lock.taken, 2);
    EXPECT_FALSE(lock.is_held);
}

class PipelineSnapshotTest : public testing::TestWithParam<std::pair<const char *, Edit>> {};

TEST_P(PipelineSnapshotTest, NoticesAnEdit) {
    Scene scene;
    const PipelineSnapshot before(scene.source());
    EXPECT_TRUE(before.is_complete());
    EXPECT_TRUE(scene.is_of(before));
    const uint64_t edits = edit_count();
    GetParam().second(scene);
    EXPECT_LT(edits, edit_count());
    EXPECT_FALSE(scene.is_of(before));
    EXPECT_TRUE(scene.is_of(PipelineSnapshot(scene.source())));
}

const std::pair<const char *, Edit> edits[] = {
    {"a_loop_is_vectorized",
     [](Scene &s) {
         s.f.vectorize(s.x, 4);
     }},
    {"a_loop_is_split",
     [](Scene &s) {
         s.g.split(s.x, s.x, s.xi, 4);
     }},
    {"a_split_has_another_tail",
     [](Scene &s) {
         s.g.split(s.x, s.x, s.xi, 4, TailStrategy::RoundUp);
     }},
    {"a_loop_of_an_update_is_parallel",
     [](Scene &s) {
         s.f.update().parallel(s.y);
     }},
    {"a_bound",
     [](Scene &s) {
         s.f.bound(s.x, 0, 16);
     }},
    {"a_place_of_computation",
     [](Scene &s) {
         s.g.compute_at(s.f, s.y);
     }},
    {"a_loop_level_is_set",
     [](Scene &s) {
         s.level.set(LoopLevel(s.f, s.x));
     }},
    {"storage",
     [](Scene &s) {
         s.g.store_in(MemoryType::Stack);
     }},
    {"a_case",
     [](Scene &s) {
         s.f.specialize(s.p == 3).vectorize(s.x, 4);
     }},
    {"a_wrapper",
     [](Scene &s) {
         s.g.in(s.f).compute_root();
     }},
    {"a_constraint_on_an_input",
     [](Scene &s) {
         s.in.dim(0).set_stride(2);
     }},
    {"alignment_of_an_input",
     [](Scene &s) {
         s.in.set_host_alignment(64);
     }},
    {"a_constraint_on_an_output",
     [](Scene &s) {
         s.f.output_buffer().dim(0).set_min(0);
     }},
    {"a_range_of_a_parameter",
     [](Scene &s) {
         s.p.set_range(0, 9);
     }},
    {"a_requirement",
     [](Scene &s) {
         s.pipeline.add_requirement(s.p > 0);
     }},
    {"stores_are_traced",
     [](Scene &s) {
         s.g.trace_stores();
     }},
    {"a_tile",
     [](Scene &s) {
         s.g.tile(s.x, s.y, s.xi, Var("yi"), 4, 4);
     }},
    {"loops_in_another_order",
     [](Scene &s) {
         s.g.reorder(s.y, s.x);
     }},
    {"loops_that_are_fused",
     [](Scene &s) {
         s.g.fuse(s.x, s.y, s.xi);
     }},
    {"a_loop_with_another_name",
     [](Scene &s) {
         s.g.rename(s.x, s.xi);
     }},
    {"a_loop_that_is_unrolled",
     [](Scene &s) {
         s.g.unroll(s.x, 4);
     }},
    {"a_loop_that_is_not_cut",
     [](Scene &s) {
         s.g.never_partition(s.x);
     }},
    {"a_loop_of_an_rvar",
     [](Scene &s) {
         s.f.update().unroll(s.r);
     }},
    {"an_atomic_update",
     [](Scene &s) {
         s.f.update().atomic();
     }},
    {"races_that_are_allowed",
     [](Scene &s) {
         s.f.update().allow_race_conditions();
     }},
    {"a_stage_that_was_kept",
     [](Scene &s) {
         s.kept.vectorize(s.x, 4);
     }},
    {"a_stage_that_shares_loops",
     [](Scene &s) {
         s.g.compute_with(s.f, s.y);
     }},
    {"stores_around_the_cache",
     [](Scene &s) {
         s.f.stream_stores();
     }},
    {"loads_around_the_cache",
     [](Scene &s) {
         s.kept.stream_loads();
     }},
    {"a_call_that_is_inlined",
     [](Scene &s) {
         s.kept.eager_inline(s.g);
     }},
    {"a_factored_update",
     [](Scene &s) {
         s.kept.rfactor(s.r, s.xi);
     }},
    {"a_prefetch",
     [](Scene &s) {
         s.f.prefetch(s.in, s.y, s.y, 2);
     }},
    {"a_place_of_storage",
     [](Scene &s) {
         s.g.store_at(s.f, s.y);
     }},
    {"a_place_of_memory",
     [](Scene &s) {
         s.g.hoist_storage_root();
     }},
    {"storage_in_another_order",
     [](Scene &s) {
         s.g.reorder_storage(s.y, s.x);
     }},
    {"storage_that_is_aligned",
     [](Scene &s) {
         s.g.align_storage(s.x, 16);
     }},
    {"storage_that_is_bounded",
     [](Scene &s) {
         s.g.bound_storage(s.x, 64);
     }},
    {"storage_that_is_folded",
     [](Scene &s) {
         s.g.fold_storage(s.y, 2);
     }},
    {"a_ring_of_buffers",
     [](Scene &s) {
         s.g.ring_buffer(2);
     }},
    {"aligned_bounds",
     [](Scene &s) {
         s.g.align_bounds(s.x, 8);
     }},
    {"an_estimate",
     [](Scene &s) {
         s.f.set_estimate(s.x, 0, 100);
     }},
    {"a_result_that_is_kept",
     [](Scene &s) {
         s.g.memoize();
     }},
    {"a_producer_of_its_own_thread",
     [](Scene &s) {
         s.g.async();
     }},
    {"loops_on_a_gpu",
     [](Scene &s) {
         s.g.gpu_blocks(s.y).gpu_threads(s.x);
     }},
    {"a_clone",
     [](Scene &s) {
         s.g.clone_in(s.f);
     }},
    {"a_file_for_what_is_computed",
     [](Scene &s) {
         s.g.debug_to_file("g.tmp");
     }},
    {"a_case_that_fails",
     [](Scene &s) {
         s.f.specialize_fail("none");
     }},
    {"an_estimate_of_a_parameter",
     [](Scene &s) {
         s.p.set_estimate(3);
     }},
    {"loads_of_an_image_are_traced",
     [](Scene &s) {
         s.in.trace_loads();
     }},
    {"a_tag",
     [](Scene &s) {
         s.g.add_trace_tag("tag");
     }},
    {"no_profile",
     [](Scene &s) {
         s.g.no_profiling();
     }},
    {"the_pipeline_is_traced",
     [](Scene &s) {
         s.pipeline.trace_pipeline();
     }},
};

INSTANTIATE_TEST_SUITE_P(Edits, PipelineSnapshotTest, testing::ValuesIn(edits),
                         [](const auto &test) { return std::string(test.param.first); });

TEST(PipelineSnapshot, IsStillOfWhatRunsWithOtherValues) {
    Scene scene;
    const PipelineSnapshot before(scene.source());
    scene.p.set(7);
    Buffer<int> image(8, 8);
    scene.in.set(image);
    EXPECT_TRUE(scene.is_of(before));
    EXPECT_FALSE(PipelineSnapshot().is_of({}, {}, false));
    EXPECT_FALSE(before.is_of({}, {}, false));
}

/// The shapes of its images are a program's own, to be changed without a word.
TEST(PipelineSnapshot, SeesTheShapeOfAnImage) {
    Var x("x");
    Buffer<int> image(8);
    Func f("f");
    f(x) = image(x) + 1;
    Pipeline pipeline(f);
    const PipelineSnapshot before(pipeline.source("f", pipeline.infer_arguments()));
    const PipelineContents &c = *pipeline.contents();
    EXPECT_TRUE(before.is_of(c.outputs, c.requirements, c.trace_pipeline));
    const uint64_t edits = edit_count();
    image.translate(0, 2);
    EXPECT_EQ(edits, edit_count());
    EXPECT_FALSE(before.is_of(c.outputs, c.requirements, c.trace_pipeline));
}

/// Values and buffers for a run, and questions, leave it at one number to be compared.
TEST(PipelineSnapshot, RunsAndQuestionsAreNoEdits) {
    Scene scene;
    const uint64_t edits = edit_count();
    scene.p.set(3);
    Buffer<int> image(9, 13), out(8, 8);
    image.fill(1);
    scene.in.set(image);
    EXPECT_EQ(scene.f.args().size(), 2u);
    EXPECT_EQ(scene.f.update_args().size(), 2u);
    EXPECT_EQ(scene.g.types()[0], Int(32));
    EXPECT_EQ(edits, edit_count());
    scene.f.realize(out);
    const uint64_t compiled = edit_count();
    scene.p.set(4);
    scene.f.realize(out);
    EXPECT_EQ(compiled, edit_count());
}

/// What was made at an address that was freed is not mistaken for what was there.
TEST(PipelineSnapshot, KeepsWhatItComparesWith) {
    Var x("x");
    Param<int> p("p");
    Func f("f");
    f(x) = x;
    Pipeline pipeline(f);
    for (int i = 0; i < 100; i++) {
        const PipelineSnapshot before(pipeline.source("f", pipeline.infer_arguments()));
        f.bound(x, 0, p + i);
        const PipelineContents &c = *pipeline.contents();
        EXPECT_FALSE(before.is_of(c.outputs, c.requirements, c.trace_pipeline));
        f.function().edit()->schedule.bounds.clear();
    }
}

TEST(PipelineSnapshot, RealizeSeesWhatHasChanged) {
    Var x("x");
    ImageParam in(Int(32), 1);
    Func f("f");
    f(x) = in(x) + 1;
    Buffer<int> image(8), out(8);
    image.fill(2);
    in.set(image);
    f.realize(out);
    EXPECT_EQ(3, out(7));
    in.dim(0).set_extent(9);
    EXPECT_THROW(f.realize(out), RuntimeError);
    in.dim(0).set_extent(8);
    image.fill(3);
    f.realize(out);
    EXPECT_EQ(4, out(7));
}

// That of the environment is asked for when there is something to compile.
TEST(PipelineSnapshot, WithoutATargetRunsTheCodeThatIsThere) {
    Var x("x");
    Func f("f");
    f(x) = x + 1;
    const test::ScopedEnvironment set("CT_JIT_TARGET", "nonsense");
    EXPECT_EQ(4, Buffer<int>(f.realize({4}, get_host_target()))(3));
    EXPECT_EQ(5, Buffer<int>(f.realize({5}))(4));
    f.vectorize(x, 4);
    EXPECT_THROW(f.realize({5}), CompileError);
}

}  // namespace
}  // namespace calotype::internal
