// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a pipeline was compiled to is used again until something changes that code depends on.
#include <gtest/gtest.h>

#include <functional>

#include "lang/language.h"
#include "lang/pipeline.h"
#include "pipeline/snapshot.h"

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

    Scene() {
        g(x, y) = in(x, y) + p;
        f(x, y) = g(x, y) + g(x + 1, y);
        f(x, y) += r;
        g.compute_at(level);
        pipeline = Pipeline(f);
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

class PipelineSnapshotTest : public testing::TestWithParam<std::pair<const char *, Edit>> {};

TEST_P(PipelineSnapshotTest, NoticesAnEdit) {
    Scene scene;
    const PipelineSnapshot before(scene.source());
    EXPECT_TRUE(before.is_complete());
    EXPECT_TRUE(scene.is_of(before));
    GetParam().second(scene);
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
        f.function()->schedule.bounds.clear();
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

}  // namespace
}  // namespace calotype::internal
