// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What directives append to schedules.
#include <gtest/gtest.h>

#include "arith/simplify.h"
#include "ir/equality.h"
#include "ir/visitor.h"
#include "lang/language.h"
#include "pipeline/level_text.h"

namespace calotype {

using namespace internal;
namespace {

Var x("x"), y("y"), xo("xo"), yo("yo"), xi("xi"), yi("yi"), u("u");

Func two_dimensional(const std::string &name) {
    Func f(name);
    f(x, y) = x + y;
    return f;
}

// "xi:vectorized xo y": the loops, innermost first.
std::string loops(const Stage &stage) {
    std::string text;
    for (const Dim &d : stage.definition()->schedule.dims) {
        if (d.var != outermost_name) {
            text += (text.empty() ? "" : " ") + d.var;
            text += d.for_type == ForType::Serial ? "" : std::string(":") + to_string(d.for_type);
        }
    }
    return text;
}

const Split &last_split(const Stage &stage) {
    return stage.definition()->schedule.splits.back();
}

TEST(Schedule, split) {
    Func f = two_dimensional("split_f");
    f.split(x, xo, xi, 8);
    EXPECT_EQ(loops(f), "xi xo y");
    EXPECT_TRUE(last_split(f).is_split());
    EXPECT_EQ(last_split(f).tail, TailStrategy::ShiftInwards);
}

TEST(Schedule, split_vars_are_all_places_to_compute_at) {
    Func f = two_dimensional("places");
    f.split(x, xo, xi, 8);
    std::string names;
    for (const VarOrRVar &v : f.split_vars()) {
        names += v.name() + " ";
    }
    EXPECT_EQ(names, "xi xo y " + Var::outermost().name() + " ");
}

TEST(Schedule, split_that_keeps_the_name) {
    Func f = two_dimensional("split_keep_f");
    f.split(x, x, xi, 8).split(x, xo, x, 4);
    EXPECT_EQ(loops(f), "xi x xo y");
}

TEST(Schedule, split_of_a_shifted_loop_is_guarded) {
    Func f = two_dimensional("split_twice_f");
    f.split(x, xo, xi, 8).split(xo, xo, u, 4);
    EXPECT_EQ(last_split(f).tail, TailStrategy::GuardWithIf);
}

TEST(Schedule, split_of_an_inner_loop) {
    Func f = two_dimensional("split_inner_f");
    f.split(x, xo, xi, 16, TailStrategy::RoundUp);
    f.split(xi, xi, u, 8, TailStrategy::RoundUp);
    f.split(u, u, yi, 5);
    EXPECT_EQ(last_split(f).tail, TailStrategy::ShiftInwards);
    f.split(yi, yi, yo, 6);
    EXPECT_EQ(last_split(f).tail, TailStrategy::GuardWithIf);
}

TEST(Schedule, split_in_updates) {
    Func f("split_update_f");
    RDom r(0, 10, "split_update_r");
    RVar ro("ro"), ri("ri");
    f(x) = 0;
    f(x) += r;
    f.update().split(x, xo, xi, 8);
    EXPECT_EQ(last_split(f.update()).tail, TailStrategy::RoundUp);
    f.update().split(r, ro, ri, 8);
    EXPECT_EQ(last_split(f.update()).tail, TailStrategy::GuardWithIf);
    EXPECT_EQ(loops(f.update()), "ri ro xi xo");
}

TEST(Schedule, vectorize_with_factor) {
    Func f = two_dimensional("vectorized_f");
    f.vectorize(x, 8).unroll(y, 2).parallel(y);
    EXPECT_EQ(loops(f), "x$i:vectorized x y$i:unrolled y:parallel");
    f.vectorize(x, 2);
    EXPECT_EQ(loops(f), "x$i:vectorized x$i1:vectorized x y$i:unrolled y:parallel");
}

TEST(Schedule, reorder_moves_only_what_is_named) {
    Func f("reordered_f");
    f(x, y, u) = x + y + u;
    f.reorder(u, x);
    EXPECT_EQ(loops(f), "u y x");
    f.reorder(x, y, u);
    EXPECT_EQ(loops(f), "x y u");
}

TEST(Schedule, tile) {
    Func f = two_dimensional("tiled_f"), g = two_dimensional("tiled_g");
    f.tile(x, y, xo, yo, xi, yi, 8, 4);
    EXPECT_EQ(loops(f), "xi yi xo yo");
    g.tile({x, y}, {xi, yi}, {8, 4});
    EXPECT_EQ(loops(g), "xi yi x y");
}

TEST(Schedule, fuse_and_rename) {
    Func f = two_dimensional("fused_f");
    f.fuse(x, y, u);
    EXPECT_EQ(loops(f), "u");
    EXPECT_TRUE(last_split(f).is_fuse());
    Func g = two_dimensional("renamed_g");
    g.rename(x, u);
    EXPECT_EQ(loops(g), "u y");
    EXPECT_TRUE(last_split(g).is_rename());
    // The name of a loop that a split made is changed there.
    g.split(y, yo, yi, 4).rename(yi, xi);
    EXPECT_EQ(loops(g), "u xi yo");
    EXPECT_EQ(g.function().stage(0)->schedule.splits.size(), 2u);
}

// The loop that had the name stays where it is, the program's name is that of the other one.
TEST(Schedule, rename_takes_a_name_away) {
    Func f = two_dimensional("taken_f");
    f.split(x, xo, xi, 4).rename(y, xi);
    EXPECT_EQ(loops(f), "xi$i xo xi");
    f.vectorize(xi, 8);
    EXPECT_EQ(loops(f), "xi$i xo xi$i1:vectorized xi");
}

TEST(Schedule, gpu) {
    Func f = two_dimensional("gpu_f"), g = two_dimensional("gpu_g");
    f.gpu_tile(x, y, xi, yi, 16, 8);
    EXPECT_EQ(loops(f), "xi:gpu_thread yi:gpu_thread x:gpu_block y:gpu_block");
    EXPECT_EQ(f.function().stage(0)->schedule.dims[0].device_api, DeviceAPI::Default_GPU);
    g.gpu_single_thread();
    EXPECT_EQ(g.function().stage(0)->schedule.dims[2].for_type, ForType::GPUBlock);
}

TEST(Schedule, pure_rvars_may_run_in_parallel) {
    Func f("pure_rvar_f");
    RDom r(0, 10, "pure_rvar_r");
    f(x) = 0;
    f(r) = f(r) + 1;
    f.update().parallel(r);
    EXPECT_EQ(loops(f.update()), "pure_rvar_r$x:parallel");
}

TEST(Schedule, atomic_reductions_may_run_in_parallel) {
    Func f("atomic_f"), g("racing_g");
    RDom r(0, 10, "atomic_r");
    f(x) = 0;
    f(r / 2) += 1;
    f.update().atomic().parallel(r);
    EXPECT_EQ(loops(f.update()), "atomic_r$x:parallel");
    RDom s(0, 10, "racing_r");
    g(x) = 0;
    g(s / 2) = g(s / 2) * 2 + 1;
    g.update().allow_race_conditions().parallel(s);
    EXPECT_EQ(loops(g.update()), "racing_r$x:parallel");
}

TEST(Schedule, specialize) {
    Func f = two_dimensional("special_f");
    Param<bool> p("special_p"), q("special_q");
    f.split(x, xo, xi, 8);
    Expr condition = p;
    Stage wide = f.specialize(condition);
    wide.vectorize(xi);
    EXPECT_EQ(loops(wide), "xi:vectorized xo y");
    EXPECT_EQ(loops(f), "xi xo y");
    EXPECT_EQ(loops(f.specialize(condition)), loops(wide));
    f.specialize(q).parallel(y);
    f.specialize_fail("neither");
    EXPECT_EQ(f.function().stage(0)->specializations.size(), 3u);
    EXPECT_FALSE(f.function().can_be_inlined());
}

TEST(Schedule, levels) {
    Func f = two_dimensional("level_f"), g("level_g");
    g(x, y) = f(x, y);
    f.store_root().compute_at(g, y);
    EXPECT_EQ(internal::level_text(f.function().schedule().compute_level), "level_g.y");
    EXPECT_TRUE(f.function().schedule().store_level.is_root());
    f.compute_inline();
    EXPECT_TRUE(f.function().schedule().store_level.is_inlined());
    LoopLevel late;
    f.compute_at(late);
    late.set(LoopLevel(g, x));
    EXPECT_EQ(internal::level_text(f.function().schedule().compute_level), "level_g.x");
}

TEST(Schedule, storage) {
    Func f("storage_f");
    f(x, y, u) = x;
    f.reorder_storage(u, x)
        .align_storage(x, 8)
        .fold_storage(y, 4, false)
        .store_in(MemoryType::Stack);
    const std::vector<StorageDim> &dims = f.function().schedule().storage_dims;
    EXPECT_EQ(dims[0].var + dims[1].var + dims[2].var, "uyx");
    EXPECT_TRUE(equal(dims[2].alignment, Expr(8)));
    EXPECT_FALSE(dims[1].fold_forward);
}

TEST(Schedule, bounds) {
    Func f = two_dimensional("bounds_f");
    f.bound(x, 0, 10).bound_extent(y, 3).align_bounds(x, 4, 6).set_estimates({{0, 10}, {0, 20}});
    const std::vector<Bound> &b = f.function().schedule().bounds;
    ASSERT_EQ(b.size(), 3u);
    EXPECT_FALSE(b[1].min.defined());
    EXPECT_TRUE(equal(b[2].remainder, Expr(2)));
    EXPECT_TRUE(equal(f.output_buffer().dim(1).extent_estimate(), Expr(20)));
}

TEST(Schedule, a_bound_that_is_a_number_is_an_estimate) {
    Func f = two_dimensional("bounds_estimated");
    Param<int> n("bounds_estimated_n");
    f.bound(x, Expr(), 10).bound(y, n, 20);
    EXPECT_FALSE(f.output_buffer().dim(0).min_estimate().defined());
    EXPECT_TRUE(equal(f.output_buffer().dim(0).extent_estimate(), Expr(10)));
    f.set_estimate(y, 7, 21).bound(y, n, n);
    EXPECT_TRUE(equal(f.output_buffer().dim(1).min_estimate(), Expr(7)));
    EXPECT_TRUE(equal(f.output_buffer().dim(1).extent_estimate(), Expr(21)));
}

TEST(Schedule, wrappers_are_made_once) {
    Func f = two_dimensional("wrapped_f"), g("wrapped_g");
    g(x, y) = f(x, y);
    Func w = f.in(g);
    EXPECT_EQ(w.name(), f.in(g).name());
    EXPECT_NE(w.name(), f.in().name());
    const Call *call = w.value().as<Call>();
    EXPECT_EQ(call->name, "wrapped_f");
    EXPECT_FALSE(call->symbol.defined());
    w.copy_to_host();
    EXPECT_EQ(w.function()->copy_to, DeviceAPI::Host);
}

TEST(Schedule, clone) {
    Func f("cloned_f"), g("cloned_g");
    f(x) = x;
    f(x) += f(x) * 2;
    f.vectorize(x, 4);
    g(x) = f(x);
    Func c = f.clone_in(g);
    EXPECT_EQ(loops(c), "x$i:vectorized x");
    EXPECT_EQ(to_string(c.update_value()), c.name() + "(x) + " + c.name() + "(x) * 2");
}

TEST(Schedule, eager_inline_of_a_chain_in_any_order) {
    Func a("chain_a"), b("chain_b"), c("chain_c"), d("chain_d");
    a(x) = x + 1;
    b(x) = a(x) * 2;
    c(x) = b(x) + a(x);
    d(x) = b(x) - a(x);
    c.eager_inline(a, b);
    EXPECT_TRUE(can_prove(c.value() == x * 3 + 3));
    d.eager_inline(b, a);
    EXPECT_TRUE(can_prove(d.value() == x + 1));
    // Each definition by itself.
    Func g("chain_g");
    g(x) = a(x);
    g(x) = a(x);
    g(x) = a(x);
    g.eager_inline(a);
    g.update(1).eager_inline(a);
    EXPECT_EQ(to_string(g.value()), "x + 1");
    EXPECT_EQ(to_string(g.update_value(0)), "chain_a(x)");
    EXPECT_EQ(to_string(g.update_value(1)), "x + 1");
}

TEST(Schedule, eager_inline) {
    Func f("inline_f"), g("inline_g");
    f(x, y) = x * y;
    g(x) = f(x, 3) + f(3, x);
    g.eager_inline(f);
    EXPECT_TRUE(equal(g.value(), x * 3 + 3 * x));
}

/// Calls with the same coordinates are one node, but not where coordinates have effects.
TEST(Schedule, eager_inline_keeps_effects_apart) {
    class Nodes : public GraphVisitor {
        using GraphVisitor::visit;
        void visit(const Call *op) override {
            n++;
            GraphVisitor::visit(op);
        }

    public:
        int n = 0;
    };
    const auto draw = [] {
        return Call::make(Int(32), "draw", {}, CallKind::Extern);
    };
    Func f("of_draws"), g("sum_of_draws");
    f(x) = x + 1;
    g(x) = f(draw()) + f(draw()) * 1000;
    g.eager_inline(f);
    Nodes nodes;
    nodes(g.value());
    EXPECT_EQ(2, nodes.n);
}

TEST(Schedule, change_type) {
    Func f("changed_f");
    f(x) = cast<int32_t>(cast<uint8_t>(x));
    f.compute_root();
    Func g = f.change_type(UInt(8));
    EXPECT_EQ(f.type(), Int(32));
    EXPECT_EQ(f.output_buffer().type(), Int(32));
    EXPECT_TRUE(f.function().schedule().compute_level.is_inlined());
    EXPECT_EQ(g.type(), UInt(8));
    EXPECT_EQ(g.output_buffer().type(), UInt(8));
    EXPECT_TRUE(g.function().schedule().compute_level.is_root());
    EXPECT_TRUE(f.change_type(Int(32)).function().same_as(f.function()));
}

TEST(Schedule, compute_with) {
    Func f = two_dimensional("with_f"), g = two_dimensional("with_g");
    f.compute_with(g, y, {{x, LoopAlignStrategy::AlignEnd}});
    const FuseLoopLevel &fuse = f.function().stage(0)->schedule.fuse_level;
    EXPECT_EQ(internal::level_text(fuse.level), "with_g.s0.y");
    EXPECT_EQ(fuse.align.at("x"), LoopAlignStrategy::AlignEnd);
}

TEST(Rfactor, of_a_split_sum) {
    Func f("factored_f"), input("factored_in");
    RDom r(0, 30, "factored_r");
    RVar ro("ro"), ri("ri");
    input(x) = x;
    f() = 0;
    f() += input(r);
    f.update().split(r, ro, ri, 8);
    Func part = f.update().rfactor(ri, u);
    EXPECT_EQ(part.args()[0].name(), "u");
    EXPECT_EQ(loops(part.update()), "u ro");
    EXPECT_EQ(loops(f.update()), "ri");
    EXPECT_TRUE(f.function().stage(1)->schedule.splits.empty());
    EXPECT_EQ(to_string(part.update_value()),
              part.name() + "(u) + factored_in(unsafe_promise_clamped(ro * 8 + "
                            "unsafe_promise_clamped(u, 0, 7), 0, 29))");
    EXPECT_EQ(to_string(part.function().stage(1)->predicate),
              "0 <= u && u < 8 && likely(ro * 8 + u < 30)");
    EXPECT_EQ(to_string(f.update_value()), "factored_f() + " + part.name() + "(ri)");
}

/// Also where what they divide is known by its form alone.
TEST(Rfactor, splits_that_divide_the_domain_leave_no_condition) {
    Func f("divided_f"), input("divided_in");
    Param<int> n("n");
    RDom r(0, n / 32 * 32, "divided_r");
    RVar rc("rc"), ri("ri"), ro("ro");
    input(x) = x;
    f() = 0;
    f() += input(r);
    f.update().split(r, rc, ri, 2).split(rc, ro, rc, 8);
    Func part = f.update().rfactor(rc, u);
    EXPECT_EQ(to_string(part.function().stage(1)->predicate), "0 <= u && u < 8");
    EXPECT_EQ(to_string(part.update_value()),
              part.name() +
                  "(u) + divided_in((ro * 8 + unsafe_promise_clamped(u, 0, 7)) * 2 + ri)");
}

TEST(Rfactor, of_a_histogram) {
    Func f("histogram_f"), input("histogram_in");
    RDom r(0, 10, 0, 20, "histogram_r");
    input(x, y) = x;
    f(x) = 0;
    f(input(r.x, r.y)) += 1;
    Func part = f.update().rfactor(r.y, u);
    part.compute_root().update().parallel(u);
    EXPECT_EQ(loops(part.update()), "histogram_r$x u:parallel");
    EXPECT_EQ(loops(f.update()), "histogram_r$y x");
    EXPECT_EQ(to_string(f.update_value()),
              "histogram_f(x) + " + part.name() + "(x, histogram_r$y)");
}

/// In whatever order they are listed, and in that of the loops when it is called.
TEST(Rfactor, dimensions_are_in_the_order_of_the_loops) {
    Var v("v");
    const auto dimensions = [&](bool reorder, bool inner_first) {
        Func f("several_f"), input("several_in");
        RDom r(0, 10, 0, 20, 0, 30, "several_r");
        input(x, y) = x + y;
        f(x) = 0;
        f(x) += input(r.x + r.y, r.z);
        if (reorder) {
            f.update().reorder(r.z, r.y, r.x);
        }
        Func part = inner_first ? f.update().rfactor({{r.x, u}, {r.z, v}})
                                : f.update().rfactor({{r.z, v}, {r.x, u}});
        std::string result;
        for (const Var &var : part.args()) {
            result += var.name();
        }
        return result;
    };
    for (bool inner_first : {true, false}) {
        EXPECT_EQ(dimensions(false, inner_first), "xuv");
        EXPECT_EQ(dimensions(true, inner_first), "xvu");
    }
}

}  // namespace
}  // namespace calotype
