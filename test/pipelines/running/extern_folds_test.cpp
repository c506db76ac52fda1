// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Storage that is folded by hand where an extern stage reads it: what the stage asks for is known
// when the pipeline runs.
#include <calotype/calotype.h>

#include <gtest/gtest.h>

#include <cstdint>
#include <random>

#include "harness/expect_error.h"

namespace calotype::test {
namespace {

const Var x("x"), y("y"), yi("yi");

bool is_query(const calotype_buffer_t *b) {
    return b->host == nullptr && b->device == 0;
}

void ask_for_rows(calotype_buffer_t *in, const calotype_buffer_t *out, int first, int rows) {
    in->dim[0].min = out->dim[0].min;
    in->dim[0].extent = out->dim[0].extent;
    in->dim[1].min = first;
    in->dim[1].extent = rows;
}

/// out(x, y) = 3 * in(x, row_of(y)) + y
template<typename T>
int fill_from(const calotype_buffer_t *in, calotype_buffer_t *out, int (*row_of)(int)) {
    const auto at = [](const calotype_buffer_t *b, int i, int j) -> T & {
        const int coordinates[] = {i, j};
        return *reinterpret_cast<T *>(b->address_of(coordinates));
    };
    for (int j = out->dim[1].min; j < out->dim[1].min + out->dim[1].extent; j++) {
        for (int i = out->dim[0].min; i < out->dim[0].min + out->dim[0].extent; i++) {
            at(out, i, j) = T(3 * at(in, i, row_of(j)) + j);
        }
    }
    return 0;
}

int same_row(int j) {
    return j;
}

/// Needs the rows that it makes.
template<typename T>
int by_rows(calotype_buffer_t *in, calotype_buffer_t *out) {
    if (is_query(in)) {
        ask_for_rows(in, out, out->dim[1].min, out->dim[1].extent);
        return 0;
    }
    return is_query(out) ? 0 : fill_from<T>(in, out, same_row);
}

constexpr int last_row = 40;

int from_the_end(int j) {
    return last_row - j;
}

/// Needs them from the end.
int upside_down(calotype_buffer_t *in, calotype_buffer_t *out) {
    if (is_query(in)) {
        const int rows = out->dim[1].extent;
        ask_for_rows(in, out, from_the_end(out->dim[1].min + rows - 1), rows);
        return 0;
    }
    return is_query(out) ? 0 : fill_from<int>(in, out, from_the_end);
}

/// made -> stage -> result, where `rows` of them are made at a time in folded storage.
struct Chain {
    template<typename T>
    Chain(int (*stage_function)(calotype_buffer_t *, calotype_buffer_t *), int rows, int factor,
          bool forward, T) {
        const Type t = type_of<T>();
        made(x, y) = cast(t, 2 * x + 5 * y);
        stage.define_extern("stage_function", {made}, t, {x, y});
        result(x, y) = cast(t, stage(x, y) + 1);
        result.split(y, y, yi, rows, TailStrategy::RoundUp);
        made.store_root().compute_at(result, y).fold_storage(y, factor, forward);
        stage.compute_at(result, y);
        pipeline = Pipeline(result);
        pipeline.set_jit_externs({{"stage_function", JITExtern(ExternCFunction(stage_function))}});
    }
    Func made{"made"}, stage{"stage"}, result{"result"};
    Pipeline pipeline;
};

template<typename T>
void expect_rows(int rows, int factor, int first_x, int first_y, int width, int tiles) {
    SCOPED_TRACE(testing::Message() << rows << " rows of " << factor << " from (" << first_x << ", "
                                    << first_y << "), " << width << " x " << tiles);
    Chain chain(by_rows<T>, rows, factor, true, T());
    Buffer<T> out(width, rows * tiles);
    out.set_min(first_x, first_y);
    chain.pipeline.realize(out);
    out.for_each_element([&](int i, int j) {
        ASSERT_EQ(out(i, j), T(T(3 * T(2 * i + 5 * j) + j) + 1)) << i << ", " << j;
    });
}

TEST(ExternStagesReadFoldedStorage, as_far_as_they_ask_in_one_iteration) {
    std::mt19937 random(2024);
    const auto choose = [&](int least, int most) {
        return std::uniform_int_distribution<int>(least, most)(random);
    };
    for (int round = 0; round < 9; round++) {
        const int rows = choose(1, 5), factor = rows * choose(1, 3), first_y = rows * choose(-7, 4),
                  first_x = choose(-20, 20);
        const int width = choose(1, 37), tiles = choose(1, 9);
        const auto expect = round % 3 == 0   ? expect_rows<int>
                            : round % 3 == 1 ? expect_rows<uint8_t>
                                             : expect_rows<int16_t>;
        expect(rows, factor, first_x, first_y, width, tiles);
    }
}

TEST(ExternStagesReadFoldedStorage, which_must_hold_what_they_ask_for) {
    Chain chain(by_rows<int>, 6, 5, true, 0);
    EXPECT_RUNTIME_ERROR(chain.pipeline.realize({9, 36}),
                         "fold factor of " + chain.made.name() +
                             " in y is 5, must be at least 6 for loop " + chain.result.name() +
                             ".s0.y.y");
}

TEST(ExternStagesReadFoldedStorage, without_a_seam) {
    Chain chain(by_rows<int>, 4, 6, true, 0);
    EXPECT_RUNTIME_ERROR(chain.pipeline.realize({9, 36}),
                         "extern stage of " + chain.made.name() +
                             " uses [4, 7] in dimension 1, must not cross a multiple "
                             "of 6, where its storage is folded");
}

TEST(ExternStagesReadFoldedStorage, in_one_direction) {
    Chain backward(upside_down, 1, 3, false, 0);
    Buffer<int> out = backward.pipeline.realize({7, last_row + 1});
    out.for_each_element([&](int i, int j) {
        ASSERT_EQ(out(i, j), 3 * (2 * i + 5 * (last_row - j)) + j + 1) << i << ", " << j;
    });
    Chain forward(upside_down, 1, 3, true, 0);
    EXPECT_RUNTIME_ERROR(forward.pipeline.realize({7, last_row + 1}),
                         "storage of " + forward.made.name() +
                             " is folded in y, must be accessed monotonically over loop " +
                             forward.result.name() + ".s0.y.y");
}

}  // namespace
}  // namespace calotype::test
