// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What Mullapudi2016 decides: what is inlined, what is computed together, and in which tiles.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "autoschedule/grouping.h"
#include "autoschedule/inlining.h"
#include "autoschedule/work.h"
#include "harness/expect_error.h"
#include "ir/operators.h"
#include "lang/language.h"

namespace calotype::internal {
namespace {

const Var x("x"), y("y");

Func source() {
    Func f("source");
    f(x, y) = sqrt(cast<float>(x * y)) + exp(cast<float>(x));
    return f;
}

Func blur_of(const Func &f, const std::string &name) {
    Func g(name);
    g(x, y) = f(x - 1, y) + f(x, y) + f(x + 1, y) + f(x, y - 1) + f(x, y + 1);
    return g;
}

struct Decisions {
    explicit Decisions(Func output, int width = 2000, int height = 2000,
                       const AutoschedulerParams &params = {"Mullapudi2016"})
        : machine(machine_of(Target("x86-64-linux-avx2-fma"), params)),
          builder(estimated(output, width, height), {}) {
        inline_cheap_funcs(builder, {});
        groups = find_groups(builder.model(), machine);
    }
    static std::vector<Function> estimated(Func &output, int width, int height) {
        output.set_estimates({{0, width}, {0, height}});
        return {output.function()};
    }
    bool is_inlined(const Func &f) {
        return func(f).is_inlined;
    }
    const FuncModel &func(const Func &f) {
        for (const FuncModel &func : builder.model().funcs) {
            if (func.original.same_as(f.function())) {
                return func;
            }
        }
        throw std::runtime_error("no such Func");
    }

    Machine machine;
    ModelBuilder builder;
    std::vector<Group> groups;
};

TEST(Mullapudi2016, inlines_what_is_used_once_or_costs_little) {
    Func f = source(), scaled("scaled"), squared("squared"), out("out");
    scaled(x, y) = f(x, y) * 3.0f + 1.0f;  // one use
    squared(x, y) = f(x, y) * f(x, y);     // three uses, one operation
    out(x, y) = scaled(x, y) + squared(x - 1, y) + squared(x, y) + squared(x + 1, y);
    Decisions d(out);
    EXPECT_TRUE(d.is_inlined(scaled));
    EXPECT_TRUE(d.is_inlined(squared));
    EXPECT_FALSE(d.is_inlined(f));
}

TEST(Mullapudi2016, a_stencil_is_computed_in_the_tiles_of_its_consumer) {
    Func f = source(), g = blur_of(f, "g"), h = blur_of(g, "h");
    Decisions d(h);
    ASSERT_EQ(d.groups.size(), 1u);
    EXPECT_EQ(d.groups[0].members.size(), 3u);
    EXPECT_TRUE(d.groups[0].is_tiled());
    for (const int t : d.groups[0].tile) {
        EXPECT_LE(t, 512);
    }
}

TEST(Mullapudi2016, work_done_again_keeps_groups_apart) {
    Func f = source(), far("far");
    far(x, y) = f(x - 700, y) + f(x + 700, y) + f(x, y - 700) + f(x, y + 700);
    Decisions d(far);
    EXPECT_EQ(d.groups.size(), 2u);
}

TEST(Mullapudi2016, two_stages_that_read_a_func_keep_it_at_root) {
    Func f = source(), g = blur_of(f, "g");
    g(x, y) += f(x + 1, y + 1);
    Decisions d(g);
    EXPECT_EQ(d.groups.size(), 2u);
}

TEST(Mullapudi2016, regions_follow_estimates) {
    Func f = source(), g = blur_of(f, "g"), half("half");
    half(x, y) = g(2 * x, 2 * y) + g(2 * x + 1, 2 * y);
    Decisions d(half, 100, 50);
    const ConcreteRegion region = d.func(f).region;
    EXPECT_EQ(region[0].min, -1);
    EXPECT_EQ(region[0].max, 200);
    EXPECT_EQ(region[1].min, -1);
    EXPECT_EQ(region[1].max, 99);
}

TEST(Mullapudi2016, work_counts_what_is_the_same_once) {
    Func f = source();
    const Expr sum = f(x, y) * f(x, y) + f(x, y) * f(x + 1, y);
    Work work;
    add_work({sum}, "x", work);
    EXPECT_EQ(work.calls.at(f.name()).all, 2);
    EXPECT_EQ(work.operations, 3);
    Work strided;
    add_work({f(2 * x, y) + f(cast<int>(f(x, y)), y) + f(3, y)}, "x", strided);
    EXPECT_EQ(strided.calls.at(f.name()).strided, 1);
    EXPECT_EQ(strided.calls.at(f.name()).gathers, 1);
    EXPECT_EQ(strided.calls.at(f.name()).uniform, 1);
}

TEST(Mullapudi2016, formulas) {
    const Expr v = Variable::make(Int(32), "v"), p = Variable::make(Int(32), "p");
    const KnownValue known = [](const std::string &name) {
        return name == "p" ? std::optional<double>(10) : std::nullopt;
    };
    const Expr let = Let::make("t", v / 2, Variable::make(Int(32), "t") * 3 + p);
    EXPECT_EQ((*Formula::make(let, {{"v", 0}}, known))({-3}), 4);
    EXPECT_EQ((*Formula::make(max(v % 4, 1), {{"v", 0}}, known))({-5}), 3);
    EXPECT_EQ((*Formula::make(select(v < p, v, p), {{"v", 0}}, known))({12}), 10);
    std::string unknown;
    EXPECT_FALSE(Formula::make(v + Variable::make(Int(32), "q"), {{"v", 0}}, known, &unknown));
    EXPECT_EQ(unknown, "q");
}

TEST(Mullapudi2016, parameters) {
    const Target host("x86-64-linux"), gpu("x86-64-linux-cuda");
    EXPECT_EQ(machine_of(host, {"Mullapudi2016"}).parallelism, 16);
    EXPECT_EQ(machine_of(host, {"Mullapudi2016"}).last_level_cache_size, 16777216);
    EXPECT_EQ(machine_of(host, {"Mullapudi2016"}).balance, 40);
    EXPECT_TRUE(machine_of(gpu, {"Mullapudi2016"}).gpu);
    EXPECT_FALSE(machine_of(gpu, {"Mullapudi2016", {{"experimental_gpu_schedule", "0"}}}).gpu);
    EXPECT_COMPILE_ERROR(machine_of(host, {"Mullapudi2016", {{"experimental_gpu_schedule", "1"}}}),
                         "autoscheduler.experimental_gpu_schedule is on, and the target "
                         "x86-64-linux has no GPU");
}

}  // namespace
}  // namespace calotype::internal
