// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Who wants to know how far a compilation is.
#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

#include "driver/module.h"
#include "driver/progress.h"
#include "lang/language.h"
#include "lower/lower.h"
#include "support/file.h"

namespace calotype {
namespace {

Var x("x"), y("y");

Func ramp(const char *name, int factor) {
    Func f(name);
    f(x, y) = x + factor * y;
    return f;
}

std::vector<std::string> stages_of(const std::vector<CompileStep> &steps) {
    std::vector<std::string> stages;
    for (const CompileStep &s : steps) {
        if (stages.empty() || stages.back() != s.stage) {
            stages.push_back(s.stage);
        }
    }
    return stages;
}

TEST(Progress, EachStepIsTold) {
    Func f = ramp("told", 1001);
    std::vector<CompileStep> steps;
    {
        const ProgressScope scope([&](const CompileStep &s) { steps.push_back(s); });
        f.compile_jit();
    }
    EXPECT_EQ(stages_of(steps), (std::vector<std::string>{"lower", "host code", "load"}));
    const std::vector<std::string> passes = internal::pass_names();
    for (const CompileStep &s : steps) {
        EXPECT_EQ(s.pipeline, "told");
        EXPECT_EQ(s.count, s.stage == "lower" ? int(passes.size()) : 0);
        EXPECT_EQ(s.detail, s.stage == "lower" ? passes[size_t(s.number)] : "");
    }
    const size_t told = steps.size();
    ramp("untold", 1002).compile_jit();
    EXPECT_EQ(steps.size(), told);
}

TEST(Progress, WhatIsFoundTakesNoSteps) {
    Func f = ramp("found", 1003);
    f.compile_jit();
    int steps = 0;
    const ProgressScope scope([&](const CompileStep &) { steps++; });
    f.realize({4, 4});
    EXPECT_EQ(steps, 0);
}

TEST(Progress, OutputsAreToldToo) {
    const internal::TemporaryDirectory folder;
    Func f = ramp("written", 1004);
    Var xi("xi");
    f.gpu_tile(x, xi, 8);
    std::vector<CompileStep> steps;
    const ProgressScope scope([&](const CompileStep &s) { steps.push_back(s); });
    f.compile_to_object(folder.path() + "/a.o", {}, "written", Target("x86-64-linux-opencl"));
    EXPECT_EQ(stages_of(steps), (std::vector<std::string>{"lower", "device code", "host code"}));
    EXPECT_EQ(steps[steps.size() - 2].detail, "1 kernel");
}

TEST(Progress, WhatItThrowsEndsTheCompilation) {
    Func f = ramp("ended", 1005);
    {
        const ProgressScope scope([](const CompileStep &s) {
            if (s.stage == "host code") {
                throw std::domain_error("enough");
            }
        });
        EXPECT_THROW(f.compile_jit(), std::domain_error);
    }
    Buffer<int> out = f.realize({2, 2});
    EXPECT_EQ(out(1, 1), 1006);
}

TEST(Progress, WhatItCompilesItselfIsNotTold) {
    Func f = ramp("told_while_others_compile", 1007);
    int steps = 0, others = 0;
    const ProgressScope scope([&](const CompileStep &s) {
        EXPECT_NE(s.pipeline.substr(0, 5), "inner");
        steps++;
        if (s.stage != "lower" || s.number == 0) {
            const int limit = 2000 + others++;
            EXPECT_EQ(Buffer<int>(ramp("inner", limit).realize({2, 2}))(1, 1), limit + 1);
        }
    });
    f.compile_jit();
    EXPECT_EQ(others, 3);
    EXPECT_GT(steps, others);
    ramp("told_while_others_compile", 1008).compile_jit();
    EXPECT_EQ(others, 6);
}

TEST(Progress, ScopesEndInAnyOrderAndAreOfTheirThread) {
    int first = 0, second = 0;
    auto a = std::make_unique<ProgressScope>([&](const CompileStep &) { first++; });
    auto b = std::make_unique<ProgressScope>([&](const CompileStep &) { second++; });
    a.reset();
    ramp("inner", 1006).compile_jit();
    EXPECT_EQ(first, 0);
    EXPECT_GT(second, 0);
    const int told = second;
    std::thread([] { ramp("elsewhere", 1007).compile_jit(); }).join();
    EXPECT_EQ(second, told);
    b.reset();
    EXPECT_FALSE(ProgressScope::current());
}

}  // namespace
}  // namespace calotype
