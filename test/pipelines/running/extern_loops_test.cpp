// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Extern stages that are called for parts of their region, that compute more than is asked for, and
// that read images.
#include <calotype/calotype.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include "harness/expect_error.h"

namespace calotype::test {
namespace {

const Var x("x"), y("y"), xo("xo"), yo("yo"), xi("xi"), yi("yi");

/// Of calls that compute: how many, and the greatest extents.
std::atomic<int> calls, widest, highest;

bool is_query(const calotype_buffer_t *b) {
    return b->host == nullptr && b->device == 0;
}

int &at(calotype_buffer_t *b, int i, int j) {
    int coordinates[] = {i, j};
    return *reinterpret_cast<int *>(b->address_of(coordinates));
}

void raise(std::atomic<int> &most, int value) {
    int before = most;
    while (before < value && !most.compare_exchange_weak(before, value)) {
    }
}

/// out(x, y) = in(x, y) + x
int plus_x(calotype_buffer_t *in, calotype_buffer_t *out) {
    if (is_query(in)) {
        for (int d = 0; d < 2; d++) {
            in->dim[d].min = out->dim[d].min;
            in->dim[d].extent = out->dim[d].extent;
        }
        return 0;
    }
    if (is_query(out)) {
        return 0;
    }
    calls++;
    raise(widest, out->dim[0].extent);
    raise(highest, out->dim[1].extent);
    for (int j = out->dim[1].min; j < out->dim[1].min + out->dim[1].extent; j++) {
        for (int i = out->dim[0].min; i < out->dim[0].min + out->dim[0].extent; i++) {
            at(out, i, j) = at(in, i, j) + i;
        }
    }
    return 0;
}

/// What schedules of the stage give for x * y + x, and how it was called.
class ExternLoops : public testing::Test {
protected:
    ExternLoops() {
        calls = widest = highest = 0;
        in(x, y) = x * y;
        out.define_extern("plus_x", {in}, Int(32), {x, y});
        in.compute_root();
    }

    void run(int width, int height) {
        Pipeline p(out);
        p.set_jit_externs({{"plus_x", JITExtern(ExternCFunction(plus_x))}});
        Buffer<int> result = p.realize({width, height});
        ASSERT_EQ(result.width(), width);
        ASSERT_EQ(result.height(), height);
        result.for_each_element([&](int i, int j) { ASSERT_EQ(result(i, j), i * j + i); });
    }

    Func in{"in"}, out{"out"};
};

TEST_F(ExternLoops, rows) {
    out.serial(y);
    in.compute_at(out, y);
    run(20, 10);
    EXPECT_EQ(calls, 10);
    EXPECT_EQ(widest, 20);
    EXPECT_EQ(highest, 1);
}

TEST_F(ExternLoops, columns) {
    out.reorder(y, x).serial(x);
    in.compute_at(out, x);
    run(20, 10);
    EXPECT_EQ(calls, 20);
    EXPECT_EQ(widest, 1);
    EXPECT_EQ(highest, 10);
}

TEST_F(ExternLoops, tiles_with_a_rest) {
    out.tile(x, y, xo, yo, xi, yi, 8, 8).parallel(yo);
    in.compute_at(out, xo);
    run(27, 19);
    EXPECT_EQ(calls, 4 * 3);
    EXPECT_EQ(widest, 8);
    EXPECT_EQ(highest, 8);
}

TEST_F(ExternLoops, guarded_tiles) {
    out.split(x, xo, xi, 8, TailStrategy::GuardWithIf).reorder(xi, y, xo);
    in.compute_at(out, xo);
    run(27, 5);
    EXPECT_EQ(calls, 4);
    EXPECT_EQ(highest, 5);
}

TEST_F(ExternLoops, fused_tiles) {
    Var tile("tile");
    out.tile(x, y, xo, yo, xi, yi, 4, 4, TailStrategy::GuardWithIf).fuse(xo, yo, tile);
    in.compute_at(out, tile);
    run(12, 7);
    EXPECT_EQ(calls, 3 * 2);
}

TEST_F(ExternLoops, outermost) {
    in.compute_at(out, Var::outermost());
    run(6, 4);
    EXPECT_EQ(calls, 1);
}

/// Computes whole blocks of 16.
int blocks(calotype_buffer_t *out) {
    calotype_dimension_t &d = out->dim[0];
    if (is_query(out)) {
        d.extent = (d.extent + 15) / 16 * 16;
        return 0;
    }
    if (d.extent % 16 != 0) {
        return -1;
    }
    for (int i = d.min; i < d.min + d.extent; i++) {
        reinterpret_cast<int *>(out->host)[(i - d.min) * d.stride] = i;
    }
    return 0;
}

TEST(ExternStagesThatGrow, have_room_for_what_they_compute) {
    for (const bool in_loop : {false, true}) {
        Func f("f"), g("g");
        f.define_extern("blocks", {}, Int(32), {x});
        g(x) = f(x) * 2;
        g.split(x, xo, xi, 10);
        in_loop ? f.compute_at(g, xo) : f.compute_root();
        Pipeline p(g);
        p.set_jit_externs({{"blocks", JITExtern(ExternCFunction(blocks))}});
        Buffer<int> result = p.realize({50});
        for (int i = 0; i < 50; i++) {
            ASSERT_EQ(result(i), 2 * i);
        }
    }
}

TEST(ExternStagesThatGrow, as_outputs) {
    Func f("f");
    f.define_extern("blocks", {}, Int(32), {x});
    Pipeline p(f);
    p.set_jit_externs({{"blocks", JITExtern(ExternCFunction(blocks))}});
    Buffer<int> result = p.realize({20});
    ASSERT_EQ(result.width(), 20);
    for (int i = 0; i < 20; i++) {
        EXPECT_EQ(result(i), i);
    }
}

TEST(ExternStagesOfImages, ask_for_what_they_need) {
    ImageParam in(Int(32), 2, "in");
    Func f("f"), g("g");
    f.define_extern("plus_x", {in}, Int(32), {x, y});
    g(x, y) = f(x + 3, y) + in(x, y + 2);
    f.compute_at(g, y);
    Pipeline p(g);
    p.set_jit_externs({{"plus_x", JITExtern(ExternCFunction(plus_x))}});
    p.infer_input_bounds({10, 5});
    Buffer<int> asked = in.get();
    EXPECT_EQ(asked.dim(0).min(), 0);
    EXPECT_EQ(asked.dim(0).extent(), 13);
    EXPECT_EQ(asked.dim(1).extent(), 7);
    Buffer<int> small(10, 7);
    small.fill(1);
    in.set(small);
    EXPECT_RUNTIME_ERROR(p.realize({10, 5}),
                         "input buffer in covers [0, 9] in dimension 0, must cover [0, 12]");
}

/// Two values: x + y, and x * y.
int sum_and_product(calotype_buffer_t *sum, calotype_buffer_t *product) {
    for (int j = sum->dim[1].min; !is_query(sum) && j < sum->dim[1].min + sum->dim[1].extent; j++) {
        for (int i = sum->dim[0].min; i < sum->dim[0].min + sum->dim[0].extent; i++) {
            at(sum, i, j) = i + j;
            at(product, i, j) = i * j;
        }
    }
    return 0;
}

// Funcs that are nothing but the values of others stand for these, so they need no buffer.
TEST(ExternStagesOfWrappers, take_what_is_wrapped) {
    ImageParam image(Int(32), 2, "image");
    Buffer<int> constant(20, 20);
    constant.fill(7);
    Func two("two"), first("first"), second("second"), again("again"), whole("whole");
    two.define_extern("sum_and_product", {}, {Int(32), Int(32)}, 2);
    two.compute_root();
    first(_) = two(_)[0];
    second(x, y) = two(x, y)[1];
    again(y, x) = second(y, x);
    whole(_) = image(_);
    Func wrapped("wrapped");
    wrapped(_) = constant(_);
    Func computed("computed"), wrapper = [&] {
        computed(x, y) = x * 10 + y;
        computed.compute_root();
        return computed.in();
    }();
    const std::vector<std::pair<Func, std::function<int(int, int)>>> cases = {
        {computed,
         [](int i, int j) {
             return i * 10 + j;
         }},
        {wrapper,
         [](int i, int j) {
             return i * 10 + j;
         }},
        {first,
         [](int i, int j) {
             return i + j;
         }},
        {again,
         [](int i, int j) {
             return i * j;
         }},
        {whole,
         [](int, int) {
             return 5;
         }},
        {wrapped, [](int, int) {
             return 7;
         }}};
    Buffer<int> given(20, 20);
    given.fill(5);
    image.set(given);
    for (const auto &[f, value] : cases) {
        SCOPED_TRACE(f.name());
        Func out;
        out.define_extern("plus_x", {f}, Int(32), {x, y});
        Pipeline p(out);
        p.set_jit_externs({{"plus_x", JITExtern(ExternCFunction(plus_x))},
                           {"sum_and_product", JITExtern(ExternCFunction(sum_and_product))}});
        Buffer<int> result = p.realize({6, 4});
        result.for_each_element(
            [&, &value = value](int i, int j) { ASSERT_EQ(result(i, j), value(i, j) + i); });
    }
}

/// Fills with a value that an input holds.
int fill_with(int value, calotype_buffer_t *out) {
    if (!is_query(out)) {
        for (int i = 0; i < out->dim[0].extent; i++) {
            reinterpret_cast<int *>(out->host)[i * out->dim[0].stride] = value;
        }
    }
    return 0;
}

TEST(ExternStagesOfImages, take_values_from_them) {
    ImageParam in(Int(32), 1, "in");
    Func f("f"), g("g");
    f.define_extern("fill_with", {in(2)}, Int(32), {x});
    f.compute_root();
    g(x) = f(x) + 1;
    Pipeline p(g);
    p.set_jit_externs({{"fill_with", JITExtern(ExternCFunction(fill_with))}});
    Buffer<int> image(3);
    image(2) = 41;
    in.set(image);
    Buffer<int> result = p.realize({4});
    EXPECT_EQ(result(3), 42);
}

/// Says for parts of a region that it needs what it did not ask for when asked for all of it.
int asks_otherwise(calotype_buffer_t *in, calotype_buffer_t *out) {
    if (is_query(in)) {
        for (int d = 0; d < 2; d++) {
            in->dim[d].min = out->dim[d].min;
            in->dim[d].extent = out->dim[d].extent;
        }
        if (out->dim[1].extent == 1) {
            in->dim[0].min += 5;
            in->dim[0].extent += 100;
        }
    } else if (!is_query(out)) {
        raise(widest, in->dim[0].extent);
        at(out, out->dim[0].min, out->dim[1].min) = in->dim[0].min;
    }
    return 0;
}

TEST(ExternStagesInLoops, keep_to_what_was_asked_for_the_whole) {
    widest = 0;
    ImageParam image(Int(32), 2, "image");
    Func f("f"), g("g"), h("h");
    f(x, y) = image(x, y);
    g.define_extern("asks_otherwise", {f}, Int(32), {x, y});
    h(x, y) = g(x, y);
    g.compute_at(h, y);
    f.compute_at(h, y);
    Pipeline p(h);
    p.set_jit_externs({{"asks_otherwise", JITExtern(ExternCFunction(asks_otherwise))}});
    Buffer<int> input(20, 3);
    input.fill(0);
    image.set(input);
    Buffer<int> result = p.realize({20, 3});
    EXPECT_EQ(widest, 15);
    EXPECT_EQ(result(0, 1), 5);
}

TEST(RealizeOfSizes, has_room_for_what_the_schedule_adds) {
    Func f("f");
    f(x) = 3 * x;
    f.vectorize(x, 8, TailStrategy::ShiftInwards);
    Buffer<int> result = f.realize({5});
    ASSERT_EQ(result.dim(0).min(), 0);
    ASSERT_EQ(result.width(), 5);
    for (int i = 0; i < 5; i++) {
        EXPECT_EQ(result(i), 3 * i);
    }
}

TEST(AtomicTuples, need_no_lock_where_values_are_independent) {
    Func index("index"), counts("counts");
    RDom r(0, 5000, "r");
    index(x) = (x * x) % 7;
    counts(x) = Tuple(0, cast<uint8_t>(0));
    counts(index(r)) += Tuple(1, cast<uint8_t>(2));
    counts.update().atomic().parallel(r);
    int first[7] = {};
    uint8_t second[7] = {};
    for (int i = 0; i < 5000; i++) {
        first[i * i % 7]++;
        second[i * i % 7] = uint8_t(second[i * i % 7] + 2);
    }
    for (int again = 0; again < 10; again++) {
        Realization result = counts.realize({7});
        Buffer<int> a = result[0];
        Buffer<uint8_t> b = result[1];
        for (int i = 0; i < 7; i++) {
            ASSERT_EQ(a(i), first[i]);
            ASSERT_EQ(b(i), second[i]);
        }
    }
}

TEST(Fuse, names_may_be_used_again) {
    Func f("f");
    f(x, y) = x + 100 * y;
    f.tile(x, y, xo, yo, xi, yi, 3, 5, TailStrategy::GuardWithIf)
        .fuse(xo, yo, y)
        .fuse(xi, yi, x)
        .tile(x, y, xo, yo, xi, yi, 7, 6, TailStrategy::GuardWithIf)
        .fuse(xo, yo, y)
        .fuse(xi, yi, x);
    Buffer<int> result = f.realize({17, 13});
    result.for_each_element([&](int i, int j) { ASSERT_EQ(result(i, j), i + 100 * j); });
}

TEST(UpdatesOnADiagonal, may_read_beside_it) {
    Func f("f"), g("g");
    f(x, y) = select(y == 0, x, 0);
    f(x, x) = f(x, x - 1) + 10;
    f(y, y) = f(y - 1, y) + f(y, y);
    f.compute_root();
    g(x, y) = f(x, y);
    Buffer<int> result = g.realize({6, 3});
    EXPECT_EQ(result(0, 0), 9);
    EXPECT_EQ(result(1, 1), 1 + 10);
    EXPECT_EQ(result(2, 2), 10);
}

}  // namespace
}  // namespace calotype::test
