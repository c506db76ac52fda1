// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Directives on loops that cannot be followed.
#include "harness/expect_error.h"
#include "lang/language.h"

namespace calotype {
namespace {

Var x("x"), y("y"), xo("xo"), xi("xi"), u("u");

Func two_dimensional(const std::string &name) {
    Func f(name);
    f(x, y) = x + y;
    return f;
}

TEST(Loops, unknown_loop) {
    Func f = two_dimensional("unknown_loop");
    EXPECT_COMPILE_ERROR(f.vectorize(u),
                         "vectorized of unknown_loop: there is no loop u, the loops are x, y");
    EXPECT_COMPILE_ERROR(f.split(u, xo, xi, 4),
                         "split of unknown_loop: there is no loop u, the loops are x, y");
    f.split(x, xo, xi, 4);
    EXPECT_COMPILE_ERROR(f.parallel(x),
                         "parallel of unknown_loop: there is no loop x, the loops are xi, xo, y");
}

TEST(Loops, name_already_taken) {
    Func f = two_dimensional("taken");
    EXPECT_COMPILE_ERROR(f.split(x, xo, y, 4), "split of taken: there is already a loop y");
    EXPECT_COMPILE_ERROR(f.split(x, xo, xo, 4), "split of taken: both new loops are named xo");
    f.split(x, xo, xi, 4);
    f.rename(y, xi);  // the loop that was named xi has no name of the program's any more
    EXPECT_COMPILE_ERROR(f.rename(u, xi),
                         "rename of taken: there is no loop u, the loops are xi$i, xo, xi");
    f.rename(xi, x);  // there is no other loop x any more
}

TEST(Loops, factor) {
    Func f = two_dimensional("factor");
    EXPECT_COMPILE_ERROR(f.split(x, xo, xi, 0),
                         "split of factor: the factor of x is 0, must be at least 1");
    EXPECT_COMPILE_ERROR(f.vectorize(x, -4),
                         "split of factor: the factor of x is -4, must be at least 1");
    EXPECT_COMPILE_ERROR(f.split(x, xo, xi, 2.5f),
                         "split of factor: the factor of x has type float32, must fit in int32");
    EXPECT_COMPILE_ERROR(f.split(x, xo, xi, Expr()),
                         "split of factor: the factor of x is undefined");
    EXPECT_COMPILE_ERROR(f.split(x, xo, xi, y),
                         "split of factor: the factor of x depends on variable y, only parameters "
                         "are allowed");
    EXPECT_COMPILE_ERROR(f.split(x, xo, xi, Param<float>()),
                         "split of factor: the factor of x has type float32, must fit in int32");
    EXPECT_COMPILE_ERROR(f.split(x, xo, xi, Expr(8u)),
                         "split of factor: the factor of x has type uint32, must fit in int32");
    EXPECT_COMPILE_ERROR(f.vectorize(x, Expr(int64_t(8))),
                         "split of factor: the factor of x has type int64, must fit in int32");
    f.split(x, xo, xi, Expr(uint16_t(8)));
}

TEST(Loops, vars_and_rvars_do_not_mix) {
    Func f("mixed");
    RDom r(0, 10, "r_mixed");
    f(x) = 0;
    f(x) += r;
    EXPECT_COMPILE_ERROR(
        f.update().split(r, xo, xi, 4),
        "split of mixed.update(0): r_mixed$x is an RVar and xo is a Var, both must "
        "be of one kind");
    EXPECT_COMPILE_ERROR(f.update().split(x, RVar("ro"), RVar("ri"), 4),
                         "split of mixed.update(0): x is a Var and ro is an RVar, both must be of "
                         "one kind");
    EXPECT_COMPILE_ERROR(f.update().fuse(x, r, u),
                         "fuse of mixed.update(0): u must be an RVar, as one of the loops is");
}

TEST(Loops, tail_strategies) {
    Func f("tails");
    RDom r(0, 10, "r_tails");
    RVar ro("ro"), ri("ri");
    f(x) = 0;
    f(x) += r;
    EXPECT_COMPILE_ERROR(f.update().split(r, ro, ri, 4, TailStrategy::RoundUp),
                         "split of tails.update(0): tail strategy round_up on RVar r_tails$x would "
                         "change the result, only guard_with_if and predicate are allowed");
    EXPECT_COMPILE_ERROR(
        f.update().split(r, ro, ri, 4, TailStrategy::PredicateLoads),
        "split of tails.update(0): tail strategy predicate_loads on RVar r_tails$x "
        "would change the result, only guard_with_if and predicate are allowed");
    EXPECT_COMPILE_ERROR(f.update().split(x, xo, xi, 4, TailStrategy::ShiftInwards),
                         "split of tails.update(0): tail strategy shift_inwards computes some "
                         "values twice, so it is allowed for pure definitions alone");
    f.split(x, xo, xi, 4, TailStrategy::ShiftInwardsAndBlend);
    EXPECT_COMPILE_ERROR(f.parallel(xo),
                         "tails: loop xo cannot be parallel, it is split with tail strategy "
                         "shift_inwards_and_blend, which reads and writes back what the next "
                         "iteration computes");
    EXPECT_COMPILE_ERROR(f.vectorize(xo, 2),
                         "tails: loop xo$i cannot be vectorized, it is split with tail strategy "
                         "shift_inwards_and_blend, which reads and writes back what the next "
                         "iteration computes");
    Func g = two_dimensional("shifted_blocks");
    g.split(x, x, xi, 4, TailStrategy::ShiftInwards);
    EXPECT_COMPILE_ERROR(
        g.vectorize(x, 2, TailStrategy::RoundUpAndBlend),
        "shifted_blocks: loop x$i cannot be vectorized, it is split with tail strategy "
        "round_up_and_blend, which reads and writes back what the next iteration "
        "computes");
    Func h = two_dimensional("threads");
    h.gpu_threads(x);
    EXPECT_COMPILE_ERROR(
        h.vectorize(x, 2, TailStrategy::ShiftInwardsAndBlend),
        "split of threads: loop x is gpu_thread, so it cannot be split with tail strategy "
        "shift_inwards_and_blend, which reads and writes back what the next iteration computes");
}

TEST(Loops, split_of_an_inner_loop) {
    Func f = two_dimensional("inner_split");
    f.split(x, xo, xi, 17);
    f(x, y) += 1;
    EXPECT_COMPILE_ERROR(
        f.update().split(x, xo, xi, 17).split(xi, xi, u, 8, TailStrategy::RoundUp),
        "split of inner_split.update(0): tail strategy round_up on xi with factor 8 would leave "
        "the iterations that an earlier split gave it, use guard_with_if");
    EXPECT_COMPILE_ERROR(f.split(xi, xi, u, 18, TailStrategy::ShiftInwards),
                         "split of inner_split: tail strategy shift_inwards on xi with factor 18 "
                         "would leave the iterations that an earlier split gave it, use "
                         "guard_with_if");
}

TEST(Loops, fuse_with_itself) {
    Func f = two_dimensional("self_fused");
    EXPECT_COMPILE_ERROR(f.fuse(x, x, u), "fuse of self_fused: loop x cannot be fused with itself");
}

TEST(Loops, reorder) {
    Func f = two_dimensional("reordered");
    EXPECT_COMPILE_ERROR(f.reorder(x, x), "reorder of reordered: loop x is named twice");
    EXPECT_COMPILE_ERROR(f.reorder(y, u),
                         "reorder of reordered: there is no loop u, the loops are x, y");
}

TEST(Loops, reorder_of_dependent_rvars) {
    Func f("dependent");
    RDom r(0, 10, 0, 10, "r_dependent");
    f(x) = 0;
    f(x) = f(x) * 2 + r.x + r.y;
    EXPECT_COMPILE_ERROR(f.update().reorder(r.y, r.x),
                         "reorder of dependent.update(0): RVars r_dependent$y and r_dependent$x "
                         "cannot change places, because that may change the result");
    // Past a loop that is not named.
    f.update().reorder(x, r.x, r.y).unroll(r.x, 2);
    EXPECT_COMPILE_ERROR(f.update().reorder(r.x, x),
                         "reorder of dependent.update(0): RVars r_dependent$x and r_dependent$x$i "
                         "cannot change places, because that may change the result");
}

TEST(Loops, races) {
    Func f("racing");
    RDom r(0, 10, "r_racing");
    f(x) = 0;
    f(x) = f(x) * 2 + r;
    EXPECT_COMPILE_ERROR(f.update().parallel(r),
                         "racing.update(0): making RVar r_racing$x parallel may make iterations "
                         "race; use atomic() if the update is associative, or "
                         "allow_race_conditions() if races do no harm");
    EXPECT_COMPILE_ERROR(
        f.update().vectorize(r, 4),
        "racing.update(0): making RVar r_racing$x$i vectorized may make iterations "
        "race; use atomic() if the update is associative, or "
        "allow_race_conditions() if races do no harm");
}

TEST(Loops, atomic_of_what_is_not_associative) {
    Func f("not_atomic");
    RDom r(0, 10, "r_not_atomic");
    f(x) = 0;
    f(x) = f(x) * 2 + r;
    EXPECT_COMPILE_ERROR(f.update().atomic().parallel(r),
                         "not_atomic.update(0): making RVar r_not_atomic$x parallel with atomic() "
                         "needs an associative update, which this one could not be shown to be; "
                         "atomic(true) skips the test");
}

TEST(Loops, tile_of_uneven_lists) {
    Func f = two_dimensional("uneven");
    EXPECT_COMPILE_ERROR(
        f.tile({x, y}, {xo}, {xi}, {4}),
        "tile of uneven: lists of 2 loops, 1 outer names, 1 inner names, 1 factors "
        "and 2 tail strategies, all must have one length above 0");
}

TEST(Loops, specialize) {
    Func f = two_dimensional("special");
    Param<bool> p("p_special");
    EXPECT_COMPILE_ERROR(f.specialize(x + 1),
                         "specialize of special: the condition has type int32, must be bool");
    EXPECT_COMPILE_ERROR(f.specialize(x > 1),
                         "specialize of special: the condition depends on variable x, only "
                         "parameters are allowed");
    EXPECT_COMPILE_ERROR(f.specialize_fail(""), "specialize_fail of special has no message");
    f.specialize(p);
    f.specialize_fail("no other case");
    f.specialize(p);  // the one there is
    EXPECT_COMPILE_ERROR(
        f.specialize(!p),
        "specialize of special comes after specialize_fail, which takes all cases");
    EXPECT_COMPILE_ERROR(f.specialize_fail("twice"), "specialize_fail of special is given twice");
}

TEST(Loops, prefetch) {
    Func f = two_dimensional("prefetches"), g = two_dimensional("prefetched");
    EXPECT_COMPILE_ERROR(f.prefetch(g, y, x),
                         "prefetch in prefetches: loop x is inside of loop y, it must be the same "
                         "or further outside");
    Func row("row"), reads_row("reads_row");
    row(x, y) = x + y;
    reads_row(x, y) = row(x, y) + row(x + 1, y);
    row.compute_at(reads_row, y);
    reads_row.prefetch(row, y, y);
    EXPECT_COMPILE_ERROR(reads_row.compile_jit(),
                         "prefetch of row at loop y of func reads_row: the storage of row is "
                         "allocated inside of that loop, must be outside (store_at)");
}

TEST(Loops, loops_of_an_extern_stage) {
    Func f("extern_loops");
    f.define_extern("c_function", {}, Int(32), {x, y});
    EXPECT_COMPILE_ERROR(
        f.vectorize(x), "extern_loops: loop x of an extern stage cannot be vectorized, only serial "
                        "or parallel");
    f.reorder(y, x).serial(y);
    EXPECT_COMPILE_ERROR(f.compile_jit(),
                         "func extern_loops: loop y is inside of loop x, which its extern stage "
                         "has; reorder them, or make x serial");
}

TEST(Loops, unscheduled_after_scheduled) {
    Func f("scheduled");
    f(x) = 0;
    f(x) += 1;
    f.update().vectorize(x, 4);
    EXPECT_COMPILE_ERROR(f.update().unscheduled(),
                         "scheduled.update(0) is said to be unscheduled after it was scheduled");
}

}  // namespace
}  // namespace calotype
