// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pipeline/loop_graph.h"

#include <gtest/gtest.h>

#include "ir/operators.h"

namespace calotype::internal {
namespace {

/// The schedule of a stage over x and y, or over RVar r too, after directives.
struct Loops {
    StageSchedule schedule;

    explicit Loops(bool with_rvar = false) {
        if (with_rvar) {
            schedule.rvars.push_back({"r", 0, 10});
        }
    }
    Loops &add(Split::Kind kind, const std::string &old, const std::string &outer,
               const std::string &inner, const Expr &factor = Expr(),
               TailStrategy tail = TailStrategy::RoundUp) {
        Split s;
        s.kind = kind;
        s.old_var = old;
        s.outer = outer;
        s.inner = inner;
        s.factor = factor;
        s.tail = tail;
        schedule.splits.push_back(s);
        return *this;
    }
    Loops &split(const std::string &old, const std::string &outer, const std::string &inner,
                 const Expr &factor, TailStrategy tail = TailStrategy::RoundUp) {
        return add(Split::Kind::Split, old, outer, inner, factor, tail);
    }
    Loops &fuse(const std::string &inner, const std::string &outer, const std::string &fused) {
        return add(Split::Kind::Fuse, fused, outer, inner);
    }
    LoopGraph graph() const {
        return {{"x", "y"}, schedule};
    }
};

TEST(LoopGraph, loops_of_one_name_are_told_apart) {
    const LoopGraph graph = Loops().split("x", "x", "xi", 8).split("x", "xo", "x", 4).graph();
    const int x = graph.find("x"), xo = graph.find("xo"), xi = graph.find("xi");
    EXPECT_EQ(graph.loop(0).name, "x");
    EXPECT_EQ(graph.loop(x).name, "x.x.x");
    EXPECT_NE(x, 0);
    EXPECT_EQ(graph.loop(x).made_by, 1);
    EXPECT_TRUE(graph.is_made_of(x, 0));
    EXPECT_TRUE(graph.is_made_of(xo, 0));
    EXPECT_FALSE(graph.is_made_of(xi, graph.steps()[1].old));
    EXPECT_FALSE(graph.is_made_of(x, graph.find("y")));
    EXPECT_EQ(graph.find("z"), -1);
}

TEST(LoopGraph, inner_loops_have_the_iterations_of_their_split) {
    const LoopGraph graph = Loops().split("x", "xo", "xi", 16).split("xi", "xo2", "u", 4).graph();
    EXPECT_EQ(graph.fit(graph.find("xo"), 3), FactorFit::NotInner);
    EXPECT_EQ(graph.fit(graph.find("xo2"), 2), FactorFit::Divides);
    EXPECT_EQ(graph.fit(graph.find("u"), 3), FactorFit::Fits);
    EXPECT_EQ(graph.fit(graph.find("u"), 5), FactorFit::Unknown);
    EXPECT_EQ(graph.default_tail(graph.find("u"), 5, false), TailStrategy::GuardWithIf);
    EXPECT_EQ(graph.default_tail(graph.find("u"), 3, true), TailStrategy::GuardWithIf);
    EXPECT_EQ(graph.default_tail(graph.find("u"), 2, true), TailStrategy::RoundUp);
}

TEST(LoopGraph, a_fused_loop_is_no_inner_one_whatever_its_name) {
    const LoopGraph graph = Loops().split("x", "xo", "xi", 8).fuse("xi", "xo", "xi").graph();
    const int fused = graph.find("xi");
    EXPECT_TRUE(graph.loop(fused).is_fused);
    EXPECT_EQ(graph.fit(fused, 5), FactorFit::NotInner);
    EXPECT_TRUE(graph.is_made_of(fused, 0));
    EXPECT_EQ(graph.find("xo"), -1);
}

TEST(LoopGraph, blocks_that_are_shifted) {
    const LoopGraph graph = Loops()
                                .split("x", "xo", "xi", 8, TailStrategy::ShiftInwards)
                                .split("xo", "a", "b", 4)
                                .graph();
    EXPECT_TRUE(graph.loop(graph.find("a")).is_shifted);
    EXPECT_FALSE(graph.loop(graph.find("b")).is_shifted);
    EXPECT_FALSE(graph.loop(graph.find("xi")).is_shifted);
    EXPECT_EQ(graph.default_tail(graph.find("a"), 2, false), TailStrategy::GuardWithIf);
}

TEST(LoopGraph, rvars) {
    const LoopGraph graph = Loops(true).split("r", "ro", "ri", 4).fuse("ri", "y", "f").graph();
    EXPECT_TRUE(graph.loop(graph.find("ro")).is_rvar);
    EXPECT_TRUE(graph.loop(graph.find("f")).is_rvar);
    EXPECT_FALSE(graph.loop(graph.find("x")).is_rvar);
    EXPECT_EQ(graph.default_tail(graph.find("ro"), 2, true), TailStrategy::GuardWithIf);
}

}  // namespace
}  // namespace calotype::internal
