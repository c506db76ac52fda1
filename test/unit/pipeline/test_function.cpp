// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pipeline/function.h"

#include <gtest/gtest.h>

#include "harness/counted_storage.h"
#include "ir/constants.h"
#include "ir/operators.h"
#include "ir/printer.h"
#include "pipeline/level_text.h"
#include "pipeline/parameters_used.h"
#include "pipeline/pure_rvar.h"

namespace calotype {

using namespace internal;
namespace {

const Expr x = Variable::make(Int(32), "x");

Expr call(const Function &f, const Expr &at) {
    return Call::make(f.output_types()[0], f.name(), {at}, CallKind::Func, 0, f.contents());
}

Expr call_by_name(const std::string &name, const Expr &at) {
    return Call::make(Int(32), name, {at}, CallKind::Func);
}

// a and b = a + 1; b owns a wrapper of a's by name.
struct Chain {
    Function a{"a"}, b{"b"};
    Chain() {
        a.define({"x"}, {x * 2});
        b.define({"x"}, {call(a, x) + 1});
    }
};

TEST(Environment, holds_all_callees) {
    Chain c;
    const Environment env = build_environment({c.b});
    EXPECT_EQ(env.size(), 2u);
    EXPECT_TRUE(env.at("a").same_as(c.a));
    EXPECT_EQ(find_direct_calls(c.b).size(), 1u);
    EXPECT_TRUE(find_direct_calls(c.a).empty());
}

TEST(Environment, wrappers_are_reached_and_find_what_they_wrap) {
    Chain c;
    Function w("w");
    w.define({"x"}, {call_by_name("a", x)});
    c.a.edit()->schedule.wrappers["b"] = w.contents();
    const Environment env = build_environment({c.b});
    EXPECT_EQ(env.size(), 3u);
    EXPECT_TRUE(find_direct_calls(w).empty());
    EXPECT_EQ(find_direct_calls(w, env).count("a"), 1u);
}

TEST(DeepCopy, shares_nothing_with_the_original) {
    Chain c;
    c.b.edit()->schedule.compute_level = LoopLevel::root();
    std::vector<Function> outputs;
    Environment env;
    deep_copy({c.b}, &outputs, &env);
    ASSERT_EQ(outputs.size(), 1u);
    EXPECT_FALSE(outputs[0].same_as(c.b));
    EXPECT_TRUE(outputs[0].same_as(env.at("b")));
    const Environment called = find_direct_calls(outputs[0]);
    EXPECT_TRUE(called.at("a").same_as(env.at("a")));
    EXPECT_FALSE(called.at("a").same_as(c.a));
    outputs[0].stage(0)->values[0] = Expr(7);
    EXPECT_EQ(to_string(c.b.stage(0)->values[0]), "a(x) + 1");
    EXPECT_TRUE(outputs[0].schedule().compute_level.locked());
}

TEST(DeepCopy, of_a_pipeline_has_parameters_of_its_own) {
    Parameter scalar(Int(32), false, 0, "scalar"), image(Int(32), true, 1, "image");
    image.set_extent_constraint(0, scalar.as_expr());
    Function f("f");
    f.define({"x"}, {Call::make(image, {x}) + scalar.as_expr()});
    PipelineSource source;
    source.outputs = {f};
    source.requirements = {{scalar.as_expr() > 0, {}}};
    const PipelineSource copy = deep_copy(source);
    const UsedParameters used =
        internal::parameters_used(build_environment(copy.outputs), copy.requirements);
    ASSERT_EQ(used.parameters.size(), 2u);
    EXPECT_FALSE(used.parameters.at("image").same_as(image));
    EXPECT_FALSE(used.parameters.at("scalar").same_as(scalar));
    scalar.edit()->min_value = 7;
    image.set_extent_constraint(0, 9);
    EXPECT_FALSE(used.parameters.at("scalar")->min_value.defined());
    EXPECT_EQ(to_string(used.parameters.at("image")->constraints[0].extent), "scalar");
    EXPECT_EQ(to_string(copy.outputs[0].stage(0)->values[0]), to_string(f.stage(0)->values[0]));
}

TEST(Definitions, a_condition_that_calls_the_func_itself_owns_nothing) {
    int alive = 0;
    {
        const Image image(new ImageContents("im", new calotype_test::CountedStorage(alive)));
        Function f("f");
        f.define({"x"}, {Call::make(Int(32), "im", {x}, CallKind::Image, 0, image)});
        ReductionDomain r("r", {{"r$x", 0, 10}});
        const Expr rx = Variable::make(Int(32), "r$x", r.symbol());
        r.where(call(f, rx) > 3);
        f.define_update({rx}, {call(f, rx) + rx});
        EXPECT_EQ(to_string(f.stage(1)->predicate), "f(r$x) > 3");
        EXPECT_EQ(to_string(f.stage(1)->values[0]), "f(r$x) + r$x");
        EXPECT_EQ(f.stage(1)->schedule.rvars.size(), 1u);
        // The domain of others is what it was.
        Function g("g");
        g.define({"x"}, {0});
        g.define_update({rx}, {call(g, rx) + 1});
        EXPECT_EQ(to_string(g.stage(1)->predicate), "f(r$x) > 3");
    }
    EXPECT_EQ(alive, 0);
}

TEST(DeepCopy, gives_everything_back) {
    int alive = 0;
    {
        Function f("f"), w("w");
        const Image image(new ImageContents("im", new calotype_test::CountedStorage(alive)));
        f.define({"x"}, {Call::make(Int(32), "im", {x}, CallKind::Image, 0, image)});
        f.define_update({x}, {call(f, x) + 1});
        w.define({"x"}, {call_by_name("f", x)});
        f.edit()->schedule.wrappers[""] = w.contents();
        std::vector<Function> outputs;
        Environment env;
        deep_copy({f}, &outputs, &env);
        EXPECT_EQ(alive, 1);
    }
    EXPECT_EQ(alive, 0);
}

TEST(LoopLevel, copies_of_a_handle_share) {
    LoopLevel level, same = level;
    level.set(LoopLevel("f", "x", false, 1));
    EXPECT_EQ(internal::level_text(same), "f.s1.x");
    LoopLevel apart = level.copy();
    level.set(LoopLevel::root());
    EXPECT_EQ(internal::level_text(apart), "f.s1.x");
    EXPECT_TRUE(same == LoopLevel::root());
}

TEST(LoopLevel, a_function_locks_its_own) {
    Function f("f");
    f.define({"x"}, {x});
    LoopLevel level = LoopLevel::root();
    f.edit()->schedule.compute_level = level;
    EXPECT_FALSE(level.locked());
    f.lock_loop_levels();
    EXPECT_TRUE(level.locked());
}

// An update of f with these coordinates that reads f at others.
bool pure_in_r(const Expr &store_at, const Expr &load_at) {
    Definition d;
    d.args = {store_at};
    d.values = {call_by_name("f", load_at) + 1};
    d.predicate = const_true();
    return internal::is_pure_rvar(d, "f", "r");
}

TEST(PureRvar, needs_one_place_an_iteration) {
    const Expr r = Variable::make(Int(32), "r"), s = Variable::make(Int(32), "s");
    EXPECT_TRUE(pure_in_r(r, r));
    EXPECT_TRUE(pure_in_r(r * 2 + 1, r * 2 + 1));
    EXPECT_TRUE(pure_in_r(5 - r, 5 - r));
    EXPECT_FALSE(pure_in_r(r, r - 1));
    EXPECT_FALSE(pure_in_r(r + s, r + s));
    EXPECT_FALSE(pure_in_r(r / 2, r / 2));
    EXPECT_FALSE(pure_in_r(x, x));
    EXPECT_TRUE(pure_in_r(3 * r, 3 * r));
}

TEST(PureRvar, of_one_value_has_no_two_iterations) {
    Definition d;
    d.args = {x};
    d.values = {call_by_name("f", x) + Variable::make(Int(32), "r")};
    d.predicate = const_true();
    d.schedule.rvars = {{"r", x, 1}, {"s", 0, 2}};
    EXPECT_TRUE(internal::is_pure_rvar(d, "f", "r"));
    EXPECT_FALSE(internal::is_pure_rvar(d, "f", "s"));
}

TEST(PureRvar, may_read_what_no_iteration_stores) {
    const Expr r = Variable::make(Int(32), "r");
    // By what remains of a division.
    EXPECT_TRUE(pure_in_r(2 * r + 1, 2 * r));
    EXPECT_TRUE(pure_in_r(6 * r + 1, 4 * r));
    EXPECT_FALSE(pure_in_r(3 * r + 1, 2 * r));
    // By the domain.
    Definition d;
    d.schedule.rvars = {{"r", 1, 10}};
    d.predicate = const_true();
    const auto is_pure = [&](const Expr &store_at, const Expr &load_at) {
        d.args = {store_at};
        d.values = {call_by_name("f", load_at) + 1};
        return internal::is_pure_rvar(d, "f", "r");
    };
    EXPECT_TRUE(is_pure(r, 0));
    EXPECT_TRUE(is_pure(r, 11));
    EXPECT_FALSE(is_pure(r, 10));
    EXPECT_TRUE(is_pure(r, r + 10));
    EXPECT_FALSE(is_pure(r, r + 9));
    EXPECT_FALSE(is_pure(r, x + 100));
    // What a condition reads counts as well.
    d.predicate = call_by_name("f", 5) == 1;
    EXPECT_FALSE(is_pure(r, r));
    d.predicate = call_by_name("f", 0) == 1;
    EXPECT_TRUE(is_pure(r, r));
}

TEST(Iterations, commute_where_the_order_shows_nowhere) {
    const Expr r = Variable::make(Int(32), "r");
    const auto commute = [&](const Expr &place, const Expr &value, const Expr &predicate) {
        Definition d;
        d.args = {place, x};
        d.values = {value};
        d.predicate = predicate;
        d.schedule.rvars = {{"r", 0, 10}};
        return internal::iterations_commute(d, "f");
    };
    const Expr always = const_true();
    const auto old = [&](const Expr &place) {
        return Call::make(Int(32), "f", {place, x}, CallKind::Func, 0);
    };
    EXPECT_TRUE(commute(r % 3, old(r % 3) + r, always));
    EXPECT_TRUE(commute(r % 3, x * 5, always));
    EXPECT_TRUE(commute(r % 3, x * 5, r < 4));
    EXPECT_FALSE(commute(r % 3, r, always));
    EXPECT_FALSE(commute(r % 3, old(r % 3) * 2 + r, always));
    EXPECT_FALSE(commute(r % 3, old(r % 3) + r, old(r % 3) < 7));
}

}  // namespace
}  // namespace calotype
