// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Producers that run ahead of their consumers as far as folded storage has room.
#include <calotype/calotype.h>

#include <gtest/gtest.h>

#include <algorithm>

#include "harness/expect_error.h"

namespace calotype::test {
namespace {

const Var x("x"), y("y"), xo("xo"), xi("xi");

/// Something that takes a while, so that the sides drift apart.
Expr slowly(const Expr &e) {
    return cast<int>(round(e + 0.1f * sin(cast<float>(e)) * sin(cast<float>(e)) * 0.01f));
}

TEST(AsyncFolding, forward) {
    Func f("f"), g("g");
    f(x) = slowly(x);
    g(x) = slowly(f(x) + f(x - 1));
    f.store_root().compute_at(g, x).fold_storage(x, 8).async();
    for (int again = 0; again < 20; again++) {
        Buffer<int> result = g.realize({100});
        result.for_each_element([&](int i) { ASSERT_EQ(result(i), 2 * i - 1); });
    }
}

TEST(AsyncFolding, backward) {
    Func f("f"), g("g");
    f(x) = slowly(x);
    g(x) = slowly(f(-x) + f(1 - x));
    f.store_root().compute_at(g, x).fold_storage(x, 4, false).async();
    for (int again = 0; again < 20; again++) {
        Buffer<int> result = g.realize({100});
        result.for_each_element([&](int i) { ASSERT_EQ(result(i), 1 - 2 * i); });
    }
}

/// Windows that stop at different places, from either side: less and less has to be made.
TEST(AsyncFolding, windows_that_come_to_an_end) {
    for (const int direction : {1, -1}) {
        Func f("f"), g("g");
        f(x) = slowly(x);
        g(x) = slowly(f(direction * min(x - 1, 15)) + f(direction * min(x + 1, 17)));
        f.store_root().compute_at(g, x).fold_storage(x, 8, direction > 0).async();
        Buffer<int> result = g.realize({100});
        result.for_each_element([&](int i) {
            ASSERT_EQ(result(i), direction * (std::min(i - 1, 15) + std::min(i + 1, 17))) << i;
        });
    }
}

/// All room is taken in the first iteration of a loop, and none in others.
TEST(AsyncFolding, all_of_it_at_once) {
    Func f("f"), g("g");
    f(x, y) = slowly(x + 10 * y);
    g(x, y) = f(x % 21, y % 13) + f((x + 5) % 21, (y + x) % 13);
    f.store_at(g, y).compute_at(g, x).fold_storage(y, 16).async();
    g.never_partition_all();  // the first iteration is not taken out of the loop
    for (int again = 0; again < 10; again++) {
        Buffer<int> result = g.realize({40, 20});
        result.for_each_element([&](int i, int j) {
            ASSERT_EQ(result(i, j), i % 21 + 10 * (j % 13) + (i + 5) % 21 + 10 * ((j + i) % 13));
        });
    }
}

/// What is computed again in several steps is between them not what it was.
TEST(AsyncFolding, updates_of_what_is_stored_already) {
    Func f("f"), g("g");
    f(x, y) = slowly(x + 10 * y);
    f(x, y) += 1000;
    g(x, y) = slowly(f(x, -y) + f(x, y + 1));
    f.store_root().compute_at(g, y).async();
    for (int again = 0; again < 20; again++) {
        Buffer<int> result = g.realize({50, 20});
        result.for_each_element([&](int i, int j) { ASSERT_EQ(result(i, j), 2 * i + 2010); });
    }
}

TEST(AsyncFolding, rows_of_which_points_slide) {
    for (const bool by_points : {false, true}) {
        Func f("f"), g("g");
        f(x, y) = slowly(x + 10 * y);
        g(x, y) = f(x - 1, y - 1) + f(x + 1, y + 1);
        by_points ? f.compute_at(g, x) : f.compute_at(g, y);
        f.store_root().fold_storage(y, 4).async();
        for (int again = 0; again < 10; again++) {
            Buffer<int> result = g.realize({16, 30});
            result.for_each_element(
                [&](int i, int j) { ASSERT_EQ(result(i, j), 2 * (i + 10 * j)); });
        }
    }
}

/// The inner loop runs again and again, each time with all of the storage.
TEST(AsyncFolding, along_an_inner_loop) {
    Func f("f"), g("g");
    f(x, y) = slowly(x + 10 * y);
    g(x, y) = f(x, y) + f(x + 3, y);
    f.store_at(g, y).compute_at(g, x).fold_storage(x, 5).async();
    for (int again = 0; again < 10; again++) {
        Buffer<int> result = g.realize({13, 20});
        result.for_each_element(
            [&](int i, int j) { ASSERT_EQ(result(i, j), 2 * (i + 10 * j) + 3); });
    }
}

TEST(AsyncFolding, one_behind_another) {
    Func f("f"), g("g"), h("h");
    f(x, y) = slowly(x + 10 * y);
    g(x, y) = f(x, y - 1) + f(x, y + 1);
    h(x, y) = g(x - 1, y) + g(x + 1, y + 1);
    f.store_root().compute_at(h, y).fold_storage(y, 4).async();
    g.store_root().compute_at(h, y).fold_storage(y, 2).async();
    for (int again = 0; again < 10; again++) {
        Buffer<int> result = h.realize({16, 30});
        result.for_each_element(
            [&](int i, int j) { ASSERT_EQ(result(i, j), 4 * (i + 10 * j) + 20); });
    }
}

/// Both the next stage and the one after it read what runs ahead.
TEST(AsyncFolding, for_two_consumers) {
    Func f("f"), g("g"), h("h");
    f(x, y) = slowly(x + 10 * y);
    g(x, y) = f(x, y) + 1;
    h(x, y) = g(x, y) + f(x, y - 1) + f(x, y);
    f.store_root().compute_at(h, y).fold_storage(y, 4).async();
    g.store_root().compute_at(h, y).fold_storage(y, 2).async();
    for (int again = 0; again < 10; again++) {
        Buffer<int> result = h.realize({16, 30});
        result.for_each_element(
            [&](int i, int j) { ASSERT_EQ(result(i, j), 3 * (i + 10 * j) - 10 + 1); });
    }
}

/// The first producer is computed and stored inside of the loop over which the second one slides.
TEST(AsyncFolding, for_a_producer_that_slides) {
    Func f("f"), g("g"), h("h");
    f(x, y) = slowly(x + y);
    g(x, y) = f(x, y);
    h(x, y) = slowly(g(x, y - 1) + g(x, y + 1));
    f.compute_at(h, y).async();
    g.store_root().compute_at(h, y).async();
    for (int again = 0; again < 20; again++) {
        Buffer<int> result = h.realize({16, 16});
        result.for_each_element([&](int i, int j) { ASSERT_EQ(result(i, j), 2 * (i + j)); });
    }
}

/// Copies are extern stages: they are given the places that are theirs, at their own coordinates.
void copy_in_a_chain(bool nested, const Target &target, bool to_device, bool to_host) {
    Func f("f"), g("g");
    f(x, y) = slowly(x + y);
    g(x, y) = f(x, y);
    Func first = f.in(), second = f.in().in();
    nested ? f.compute_at(first, Var::outermost()) : f.compute_at(g, y);
    nested ? first.compute_at(second, Var::outermost()) : first.compute_at(g, y);
    second.compute_at(g, y);
    for (Func stage : {f, first, second}) {
        stage.store_root().fold_storage(y, 2).async();
    }
    if (to_device) {
        first.copy_to_device();
    }
    if (to_host) {
        second.copy_to_host();
    }
    for (int again = 0; again < 5; again++) {
        Buffer<int> result = g.realize({16, 30}, target);
        result.for_each_element([&](int i, int j) { ASSERT_EQ(result(i, j), i + j); });
    }
}

TEST(AsyncFolding, around_copies) {
    for (const bool nested : {false, true}) {
        copy_in_a_chain(nested, get_host_target(), false, true);
    }
}

/// What one side writes on the device and the other reads on the host is copied in each iteration,
/// whatever the dirty bits say.
TEST(AsyncFolding, around_copies_to_a_device) {
    const Target target = get_host_target().with_feature(Target::OpenCL);
    if (!host_supports_target_device(target)) {
        GTEST_SKIP() << "no OpenCL device";
    }
    for (const bool nested : {false, true}) {
        copy_in_a_chain(nested, target, true, true);
        copy_in_a_chain(nested, target, true, false);
        copy_in_a_chain(nested, target, false, true);
    }
}

TEST(AsyncFolding, copies_may_not_cross_the_seam) {
    Func f("f_with_a_seam"), g("g");
    f(x, y) = x + y;
    g(x, y) = f(x, y) + f(x, y + 1);
    f.store_root().compute_at(g, y).fold_storage(y, 3);
    f.in().compute_at(g, y).copy_to_host();
    std::string message;
    try {
        g.realize({4, 10});
    } catch (const RuntimeError &e) {
        message = e.what();
    }
    EXPECT_EQ(message,
              "extern stage of f_with_a_seam uses [2, 3] in dimension 1, must not cross a multiple "
              "of 3, where its storage is folded");
}

TEST(AsyncFolding, sizes_known_as_it_runs) {
    Param<int> factor("factor");
    Func f("f"), g("g");
    f(x) = slowly(x);
    g(x) = f(x) + f(x - 1);
    f.store_root().compute_at(g, x).fold_storage(x, factor).async();
    for (int places : {2, 3, 9}) {
        factor.set(places);
        Buffer<int> result = g.realize({50});
        result.for_each_element([&](int i) { ASSERT_EQ(result(i), 2 * i - 1); });
    }
}

/// Rings in which each side of a chain is ahead of the next.
TEST(AsyncRings, one_behind_another) {
    Func f("f"), g("g"), h("h");
    f(x, y) = slowly(x + 10 * y);
    g(x, y) = f(x, y) + f(x + 1, y);
    h(x, y) = g(x, y) + 1;
    f.compute_at(h, y).hoist_storage(h, Var::outermost()).ring_buffer(2).async();
    g.compute_at(h, y).hoist_storage(h, Var::outermost()).ring_buffer(2).async();
    for (int again = 0; again < 10; again++) {
        Buffer<int> result = h.realize({16, 30});
        result.for_each_element(
            [&](int i, int j) { ASSERT_EQ(result(i, j), 2 * (i + 10 * j) + 2); });
    }
}

/// An iteration needs more of the ring than the one before, of which a copy is read still.
TEST(AsyncRings, copies_of_different_sizes) {
    Func f("f"), g("g");
    f(x, y) = slowly(x + 10 * y);
    g(x, y) = f(x + 1, y) + f(2 * x, y + 1);
    f.compute_at(g, x).hoist_storage_root().ring_buffer(2).async();
    for (int again = 0; again < 10; again++) {
        Buffer<int> result = g.realize({40, 3});
        result.for_each_element(
            [&](int i, int j) { ASSERT_EQ(result(i, j), 3 * i + 1 + 20 * j + 10); });
    }
}

/// Blocks of two rows, of which one is needed. The other one is the row before, which may not have been
/// read yet when it is computed again, of rows of `f` that are not there any more.
TEST(AsyncRings, blocks_over_rows_that_are_kept) {
    Func f("f"), g("g"), h("h");
    f(x, y) = slowly(x + 10 * y);
    g(x, y) = f(x, y) + 1;
    h(x, y) = g(x, -y) * 2;
    h.split(x, xo, xi, 5, TailStrategy::GuardWithIf);
    g.store_root().compute_at(h, xo).async().vectorize(y, 2, TailStrategy::ShiftInwards);
    f.compute_at(h, xo);
    for (int again = 0; again < 10; again++) {
        Buffer<int> result = h.realize({17, 9});
        result.for_each_element(
            [&](int i, int j) { ASSERT_EQ(result(i, j), 2 * (i - 10 * j) + 2); });
    }
}

/// A memoized Func is found from the second run on: then nothing is read of what it is made of, and no
/// producer may wait for that.
TEST(AsyncRings, within_what_is_memoized) {
    for (const bool is_ring : {true, false}) {
        Func e("e"), f("f"), g("g"), h("h");
        e(x, y) = slowly(x + 10 * y);
        f(x, y) = e(x, y) + 1;
        g(x, y) = f(x, y) + f(x + 1, y) + e(x, y);
        h(x, y) = g(x, y) + g(x, y + 1);
        g.compute_root().memoize();
        for (Func producer : {e, f}) {
            producer.compute_at(g, y).async();
            if (is_ring) {
                producer.hoist_storage_root().ring_buffer(2);
            } else {
                producer.store_root().fold_storage(y, 2);
            }
        }
        for (int again = 0; again < 10; again++) {
            Buffer<int> result = h.realize({16, again < 5 ? 12 : 13});
            result.for_each_element(
                [&](int i, int j) { ASSERT_EQ(result(i, j), 6 * i + 60 * j + 36); });
        }
    }
}

/// The other branch has the producer and its storage again, with consumers of its own: it does not wait
/// for those of the first.
TEST(AsyncRings, in_branches_of_a_specialized_consumer) {
    enum class Storage { Ring, Folded, UsedAgain };
    for (const Storage storage : {Storage::Ring, Storage::Folded, Storage::UsedAgain}) {
        Param<bool> condition("condition");
        Func f("f"), g("g");
        f(x, y) = slowly(x + 10 * y);
        if (storage == Storage::UsedAgain) {
            f(x, y) += 0;
        }
        g(x, y) = f(x, y) + f(x + 3, y);
        g.specialize(condition);
        f.compute_at(g, x).async();
        if (storage == Storage::Ring) {
            f.hoist_storage(g, y).ring_buffer(2);
        } else if (storage == Storage::Folded) {
            f.store_at(g, y).fold_storage(x, 5);
        } else {
            f.store_at(g, y);
        }
        for (const bool choice : {true, false, true}) {
            condition.set(choice);
            Buffer<int> result = g.realize({16, 12});
            result.for_each_element(
                [&](int i, int j) { ASSERT_EQ(result(i, j), 2 * (i + 10 * j) + 3); });
        }
    }
}

/// Two rows of the consumer in each iteration, which need five of every three rows of the producer.
TEST(AsyncFolding, windows_of_unrolled_rows) {
    Func f("f"), g("g");
    f(x, y) = slowly(x + 10 * y);
    g(x, y) = select(y % 2 == 0, f(x, 3 * (y / 2) - 1) + f(x, 3 * (y / 2) + 1),
                     f(x, 3 * (y / 2) + 1) + f(x, 3 * (y / 2) + 3));
    g.compute_root().align_bounds(y, 2).unroll(y, 2);
    f.store_root().fold_storage(y, 8).compute_at(g, y).async();
    Buffer<int> result = g.realize({4, 40});
    result.for_each_element([&](int i, int j) {
        const int middle = 3 * (j / 2) + (j % 2 == 0 ? 0 : 2);
        ASSERT_EQ(result(i, j), 2 * (i + 10 * middle));
    });
}

/// The rows of an iteration fit, but not those that may be needed whatever the choice is.
TEST(AsyncFolding, room_for_either_side_of_a_choice) {
    Param<bool> choice("choice");
    Func f("of_a_choice"), g("chooser");
    f(x, y) = slowly(x + 10 * y);
    g(x, y) = select(choice, f(x, y), f(x, select(y >= 0 && y <= 8, y, 8)));
    f.store_root().fold_storage(y, 4).compute_at(g, y).async();
    for (const bool value : {false, true}) {
        choice.set(value);
        EXPECT_RUNTIME_ERROR(g.realize({4, 20}),
                             "fold factor of of_a_choice in y is 4, must be at least 9 for loop "
                             "chooser.s0.y");
    }
}

}  // namespace
}  // namespace calotype::test
