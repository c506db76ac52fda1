// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs whose parts contradict each other: directives that need another one, wrappers that
// nobody calls, names used twice, updates whose iterations depend on each other.
#include "driver/module.h"
#include "harness/expect_error.h"
#include "harness/warnings.h"
#include "lang/language.h"

namespace calotype {
namespace {

class Contradictions : public testing::Test {
protected:
    Var x{"x"}, y{"y"};
    Func f{"f"}, g{"g"}, h{"h"};

    /// f -> g -> h
    void chain() {
        f(x) = x;
        g(x) = f(x) + 1;
        h(x, y) = g(x) + y;
    }
    void compile(Func out) {
        out.compile_to_module(out.infer_arguments(), "p", get_host_target());
    }
};

TEST_F(Contradictions, StorageOfWhatIsInlined) {
    chain();
    const std::string text = "func " + g.name() + " is inlined, but has storage at ",
                      hint = ": say where it is computed, by compute_at or compute_root";
    g.store_root();
    EXPECT_COMPILE_ERROR(compile(h), text + "root" + hint);
}

TEST_F(Contradictions, StorageAtALoopOfWhatIsInlined) {
    chain();
    g.store_at(h, y);
    EXPECT_COMPILE_ERROR(compile(h),
                         "func " + g.name() + " is inlined, but has storage at " + h.name() +
                             ".y: say where it is computed, by compute_at or compute_root");
}

TEST_F(Contradictions, HoistedStorageOfWhatIsInlined) {
    chain();
    g.hoist_storage_root();
    EXPECT_COMPILE_ERROR(compile(h), "func " + g.name() +
                                         " is inlined, but has storage at root: say where it "
                                         "is computed, by compute_at or compute_root");
}

TEST_F(Contradictions, MemoizationOfWhatIsInlined) {
    chain();
    g.memoize();
    EXPECT_COMPILE_ERROR(compile(h), "func " + g.name() +
                                         " is inlined, so no values of it are kept to be memoized: "
                                         "say where it is computed, by compute_at or compute_root");
}

TEST_F(Contradictions, LoopsOfWhatIsInlined) {
    chain();
    g.vectorize(x, 4);
    EXPECT_COMPILE_ERROR(compile(h), "func " + g.name() +
                                         " is inlined, so it has no loop x$i to be vectorized: say "
                                         "where it is computed, by compute_at or compute_root");
}

TEST_F(Contradictions, StorageInsideOfTheComputation) {
    chain();
    g.compute_at(h, y);
    f.compute_root().hoist_storage(h, y);
    EXPECT_COMPILE_ERROR(compile(h), "storage of func " + f.name() + " is hoisted to " + h.name() +
                                         ".y, which does not enclose its computation at root");
}

// A ring buffer there counted iterations that had not begun.
TEST_F(Contradictions, StorageHoistedIntoTheComputation) {
    chain();
    g.compute_at(h, y);
    f.compute_at(h, y).hoist_storage(h, x);
    EXPECT_COMPILE_ERROR(compile(h), "storage of func " + f.name() + " is hoisted to " + h.name() +
                                         ".x, which does not enclose its storage at " + h.name() +
                                         ".y");
}

TEST_F(Contradictions, RingOfOne) {
    chain();
    f.compute_root().ring_buffer(2);
    EXPECT_COMPILE_ERROR(compile(h),
                         "func " + f.name() +
                             " has a ring buffer, but no loop stands between its storage and its "
                             "computation at root: say by hoist_storage where the ring lives");
}

TEST_F(Contradictions, HoistedStorageOfWhatRunsAheadOnADevice) {
    chain();
    Var block("block"), thread("thread");
    f.compute_at(h, y).gpu_tile(x, block, thread, 8).async().hoist_storage_root();
    EXPECT_COMPILE_ERROR(compile(h),
                         "func " + f.name() +
                             " is computed on a device and async, so its storage cannot be hoisted "
                             "to root: producer and consumer would not know of each other's "
                             "copies");
}

TEST_F(Contradictions, MemoizedOutput) {
    f(x) = x;
    f.memoize();
    EXPECT_COMPILE_ERROR(compile(f), "func " + f.name() +
                                         " is an output of the pipeline and cannot be memoized: "
                                         "its buffer is the caller's");
}

TEST_F(Contradictions, MemoizedInParts) {
    f(x, y) = x + y;
    h(x, y) = f(x, y) + f(x, y + 1);
    f.store_root().compute_at(h, y).memoize();
    EXPECT_COMPILE_ERROR(compile(h), "func " + f.name() +
                                         " cannot be memoized: it is computed at " + h.name() +
                                         ".y, in parts of what is stored at root");
}

TEST_F(Contradictions, MemoizedInSharedLoops) {
    f(x, y) = x + y;
    g(x, y) = x - y;
    h(x, y) = f(x, y) + g(x, y);
    f.compute_root();
    g.compute_root().memoize().compute_with(f, y);
    EXPECT_COMPILE_ERROR(compile(h), "func " + g.name() +
                                         " cannot be memoized: its loops are shared with func " +
                                         f.name() + " by compute_with");
}

TEST_F(Contradictions, EachOneInTheLoopsOfTheOther) {
    for (bool updates : {false, true}) {
        f = Func(), g = Func(), h = Func();
        f(x, y) = x + y;
        g(x, y) = x - y;
        f(x, y) += 1;
        g(x, y) += 2;
        h(x, y) = f(x, y) + g(x, y);
        f.compute_root();
        g.compute_root();
        Stage of_f = updates ? f.update() : Stage(f), of_g = updates ? g.update() : Stage(g);
        of_f.compute_with(of_g, y);
        of_g.compute_with(of_f, y);
        EXPECT_COMPILE_ERROR(compile(h), "func " + f.name() + " is computed with func " + g.name() +
                                             ", which is itself computed with func " + f.name());
    }
}

TEST_F(Contradictions, AsyncInSharedLoops) {
    f(x, y) = x + y;
    g(x, y) = x - y;
    h(x, y) = f(x, y) + g(x, y);
    f.compute_root().async();
    g.compute_root().compute_with(f, y);
    EXPECT_COMPILE_ERROR(compile(h), "func " + f.name() +
                                         " cannot be async: its loops are shared with func " +
                                         g.name() + " by compute_with");
}

TEST_F(Contradictions, SharedLoopsOfAProducerAndAConsumerOfAnother) {
    f(x, y) = x + y;
    g(x, y) = f(x, y) + 1;
    h(x, y) = f(x, y) + g(x, y);
    f.compute_root();
    g.compute_root().compute_with(f, y);
    EXPECT_COMPILE_ERROR(compile(h), "funcs " + f.name() + ", " + g.name() +
                                         " are computed together, but one of them depends on "
                                         "another");
}

TEST_F(Contradictions, TwoEvictionKeys) {
    f(x) = x;
    f.compute_root().memoize(EvictionKey(42));
    EXPECT_COMPILE_ERROR(f.memoize(EvictionKey(7)), "memoize of func " + f.name() +
                                                        " with eviction key 7: it has one already, "
                                                        "(uint64)42");
}

TEST_F(Contradictions, ConstraintsOfTheSecondValue) {
    f(x) = Tuple(x, x + 1);
    f.output_buffers()[1].dim(0).set_min(4);
    EXPECT_COMPILE_ERROR(compile(f), "output buffer 1 of func " + f.name() +
                                         " is constrained in dimension 0: the shape of buffer 0 "
                                         "stands for all, constrain that");
}

TEST_F(Contradictions, WrapperThatNobodyCalls) {
    f(x) = x;
    g(x) = 5;
    h(x) = f(x) + g(x);
    f.compute_root();
    f.in(g).compute_root();
    EXPECT_COMPILE_ERROR(compile(h), "func " + f.name() + " is wrapped for " + g.name() +
                                         ", which calls it neither itself nor by way of others");
}

TEST_F(Contradictions, WrappersAndTheirConsumersAreComplete) {
    chain();
    Func wrapper = f.in(g);
    const std::string text = " cannot be updated: it is already used by another func or a pipeline";
    EXPECT_COMPILE_ERROR(wrapper(x) += 1, "func " + wrapper.name() + text);
    EXPECT_COMPILE_ERROR(g(x) += f(x), "func " + g.name() + text);
}

TEST_F(Contradictions, WrapperThatIsShared) {
    chain();
    f.in({g, h});
    EXPECT_COMPILE_ERROR(f.in(g), "in of func " + f.name() + " for " + g.name() +
                                      ": the wrapper is shared with " + h.name() +
                                      ", name all that share it");
}

TEST_F(Contradictions, NamesThatFuncsAndParametersShare) {
    Func existing("both");
    existing(x) = x;
    ImageParam buffer(Int(32), 1, "both");
    f(x) = existing(x) + buffer(x);
    EXPECT_COMPILE_ERROR(compile(f), "a func and a parameter of the pipeline are both named both");

    Func other("scalar_too");
    other(x) = x;
    Param<int> scalar("scalar_too");
    g(x) = other(x) + scalar;
    EXPECT_COMPILE_ERROR(compile(g),
                         "a func and a parameter of the pipeline are both named scalar_too");

    Func out("result");
    ImageParam input(Int(32), 1, "result");
    out(x) = input(x);
    EXPECT_COMPILE_ERROR(compile(out),
                         "an output and a parameter of the pipeline are both named result");
}

TEST_F(Contradictions, BuffersKeepTheirNames) {
    ImageParam input(Int(32), 1, "kept");
    EXPECT_NE(Func("kept").name(), input.name());
}

TEST_F(Contradictions, RequirementsOfMoreThanParameters) {
    f(x) = 0;
    g(x) = f(x);
    Pipeline p(g);
    RDom r(0, 4, "r");
    EXPECT_COMPILE_ERROR(p.add_requirement(x == 4),
                         "requirement x == 4 depends on variable x, only parameters are allowed");
    EXPECT_COMPILE_ERROR(p.add_requirement(f(3) == 5),
                         "requirement " + f.name() + "(3) == 5 depends on values of " + f.name() +
                             ", only parameters are allowed");
    EXPECT_COMPILE_ERROR(p.add_requirement(Param<int>("n") == 5, x + 1),
                         "the message of requirement n == 5 depends on variable x, only parameters "
                         "are allowed");
}

TEST_F(Contradictions, CallsOfTheFuncItselfElsewhere) {
    RDom r(0, 10, "r");
    f(x, y) = 0;
    EXPECT_COMPILE_ERROR(
        f(r, y) = f(r, y - 1) + 1,
        "update definition 0 of func " + f.name() + " calls " + f.name() +
            " at y - 1 in place of y: a Var of the left side must stand in the same place in calls "
            "of the func itself, or be an RVar");
}

TEST_F(Contradictions, TuplesThatAreStoredInPart) {
    EXPECT_COMPILE_ERROR(f(x) = Tuple(x, select(x < 20, x, undef<int>())),
                         "definition of func " + f.name() +
                             ": value select(x < 20, x, undef()) is undef under other conditions "
                             "than x");
    // All or nothing of each value.
    g(x) = Tuple(x, undef<int>());
    g(x) = Tuple(select(x < 3, x, undef<int>()), select(x < 3, 7, undef<int>()));
}

TEST_F(Contradictions, FusedLoopsThatRace) {
    RDom r(0, 4, 0, 3, "r");
    RVar rxo("rxo"), rxi("rxi"), fused("fused");
    f(x) = 1;
    f(x) = f(x) * 2 + r.x * 5 + r.y;
    Stage update = f.update().split(r.x, rxo, rxi, 2);
    EXPECT_COMPILE_ERROR(update.fuse(rxi, r.y, fused),
                         "fuse of " + f.name() + ".update(0): RVars rxo and " + r.y.name() +
                             " cannot change places, because that may change the result");

    g(x) = 0;
    g(x) += f(x) + r.x;
    EXPECT_COMPILE_ERROR(g.update().vectorize(x).fuse(x, r.x, fused),
                         "fuse of " + g.name() +
                             ".update(0): loop x is vectorized, and iterations of RVar " +
                             r.x.name() + " may race");
}

TEST_F(Contradictions, PredicatedSplitsInside) {
    Var xo("xo"), xi("xi"), xio("xio"), xii("xii");
    f(x) = x;
    EXPECT_COMPILE_ERROR(f.split(x, xo, xi, 2).split(xi, xio, xii, 4, TailStrategy::PredicateLoads),
                         "split of " + f.name() +
                             ": tail strategy predicate_loads on xi, which an earlier split made: "
                             "only the outermost split may have it");
    g(x) = x;
    EXPECT_COMPILE_ERROR(
        g.split(x, xo, xi, 8, TailStrategy::PredicateStores).split(xi, xio, xii, 9),
        "split of " + g.name() +
            ": loop xi was made with tail strategy predicate_stores, so it can be split by "
            "divisors of its factor alone");
    h(x) = x;
    h.split(x, xo, xi, 8, TailStrategy::PredicateStores).split(xi, xio, xii, 4);
}

TEST_F(Contradictions, StreamedAccessesThatMeet) {
    f(x) = x;
    EXPECT_COMPILE_ERROR(f.stream_loads(f),
                         "loads of func " + f.name() + " in " + f.name() +
                             " cannot be streamed: a stage reads what it has just stored");
    ImageParam indices(Int(32), 1, "indices");
    RDom r(0, 100, "r");
    g(x) = 0;
    g(indices(r)) += 1;
    EXPECT_COMPILE_ERROR(g.update().stream_stores(),
                         "stores of " + g.name() +
                             ".update(0) cannot be streamed: iterations of RVar " + r.x.name() +
                             " may meet in one element");
}

TEST_F(Contradictions, FoldsWithoutALoopAreAWarning) {
    chain();
    g.compute_root().fold_storage(x, 4);
    Warnings warnings;
    const Buffer<int> values = h.realize({20, 1});
    EXPECT_EQ(warnings.texts,
              std::vector<std::string>{"func " + g.name() +
                                       " is not folded: there is no serial loop between its "
                                       "storage and all its uses"});
    for (int i = 0; i < 20; i++) {
        EXPECT_EQ(values(i, 0), i + 1);
    }
}

TEST_F(Contradictions, OutputsInsideOfLoopsAreAWarning) {
    chain();
    f.compute_root();
    g.compute_at(h, y).vectorize(x, 4);
    Warnings warnings;
    Pipeline p({g, h});
    Buffer<int> inner(10), outer(10, 3);
    p.realize({inner, outer});
    EXPECT_EQ(warnings.texts, std::vector<std::string>{"func " + g.name() +
                                                       " is an output of the pipeline, so it is "
                                                       "computed at root and not at " +
                                                       h.name() + ".y"});
    for (int i = 0; i < 10; i++) {
        EXPECT_EQ(inner(i), i + 1);
        EXPECT_EQ(outer(i, 2), i + 3);
    }
}

TEST_F(Contradictions, OutputsInsideOfWhatTheyReadAreAWarning) {
    chain();
    g.compute_root();
    h.store_at(f, x).compute_at(g, x);
    Warnings warnings;
    const Buffer<int> values = h.realize({10, 3});
    EXPECT_EQ(warnings.texts, std::vector<std::string>{"func " + h.name() +
                                                       " is an output of the pipeline, so it is "
                                                       "computed at root and not at " +
                                                       g.name() + ".x"});
    EXPECT_EQ(values(9, 2), 12);
}

TEST_F(Contradictions, TargetsWithoutAMachine) {
    EXPECT_COMPILE_ERROR(
        Target("debug"),
        "target 'debug': it lacks an architecture (arch-bits-os, as x86-64-linux, or host)");
}

}  // namespace
}  // namespace calotype
