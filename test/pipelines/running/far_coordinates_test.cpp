// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Buffers that begin far from the origin. The address of a row is computed from a product that int32 cannot hold, in and
// outside of the bodies of parallel loops.
#include <gtest/gtest.h>

#include <calotype/calotype.h>

#include <regex>
#include <string>
#include <vector>

#include "harness/expect_error.h"

namespace calotype::test {
namespace {

constexpr int width = 40, height = 9;

uint8_t value_at(int x, int y) {
    return uint8_t(x * 7 + y * 13);
}

/// Sums of two neighbours, where the output begins at (x, y).
void check_at(int min_x, int min_y, bool in_parallel, bool in_vectors) {
    ImageParam in(UInt(8), 2);
    Var x("x"), y("y");
    Func sum("sum"), out("out");
    sum(x, y) = in(x - 1, y) + in(x + 1, y + 1);
    out(x, y) = sum(x, y) * cast<uint8_t>(2);
    sum.compute_root();
    for (Func f : {sum, out}) {
        if (in_parallel) {
            f.parallel(y);
        }
        if (in_vectors) {
            f.vectorize(x, 8, TailStrategy::GuardWithIf);
        }
    }
    Buffer<uint8_t> input(width + 2, height + 1), output(width, height);
    input.for_each_element([&](int i, int j) { input(i, j) = value_at(i, j); });
    input.set_min(min_x - 1, min_y);
    output.set_min(min_x, min_y);
    in.set(input);
    out.realize(output);
    for (int j = 0; j < height; j++) {
        for (int i = 0; i < width; i++) {
            ASSERT_EQ(output(min_x + i, min_y + j),
                      uint8_t(2 * (value_at(i, j) + value_at(i + 2, j + 1))))
                << i << ", " << j << " from " << min_x << ", " << min_y;
        }
    }
}

TEST(FarCoordinates, rows_are_found) {
    for (const auto &[min_x, min_y] :
         {std::pair(1 << 30, (1 << 30) + 5), std::pair(-(1 << 30), -(1 << 30) - 5),
          std::pair(INT32_MAX - 100, INT32_MAX - 100), std::pair(3, 1500000000)}) {
        for (bool in_parallel : {false, true}) {
            check_at(min_x, min_y, in_parallel, false);
            check_at(min_x, min_y, in_parallel, true);
        }
    }
}

TEST(FarCoordinates, the_last_one_is_not_taken_for_the_first) {
    for (int place : {INT32_MAX, INT32_MAX - 1, INT32_MIN, INT32_MIN + 1}) {
        ImageParam in(Int(32), 1, "far");
        Func f("f");
        f(Var("x")) = in(place);
        Buffer<int> input(40), output(4);
        input.set_min(-16);
        in.set(input);
        EXPECT_RUNTIME_ERROR(f.realize(output),
                             "input buffer far covers [-16, 23] in dimension 0, must cover [" +
                                 std::to_string(place) + ", " + std::to_string(place) + "]");
    }
}

using Schedule = void (*)(Func &, const Var &x);

void in_blocks(Func &f, const Var &x, TailStrategy tail) {
    Var outer("outer"), inner("inner");
    f.split(x, outer, inner, 16, tail).parallel(outer).vectorize(inner);
}

constexpr Schedule loops[] = {
    [](Func &, const Var &) {},
    [](Func &f, const Var &x) { f.parallel(x); },
    [](Func &f, const Var &x) { f.vectorize(x, 16); },
    [](Func &f, const Var &x) { f.unroll(x, 4); },
    [](Func &f, const Var &x) { in_blocks(f, x, TailStrategy::ShiftInwards); },
    [](Func &f, const Var &x) { in_blocks(f, x, TailStrategy::GuardWithIf); },
};

/// What f(x) = in(x) or, without an input, f(x) = x says in a run over [min, min + extent). Memory is that of the first
/// 100 elements.
std::string run_at(int min, int extent, bool has_input, Schedule schedule) {
    ImageParam in(UInt(8), 1);
    Var x("x");
    Func f;
    f(x) = has_input ? in(x) : cast<uint8_t>(x);
    schedule(f, x);
    const std::vector<uint8_t> values(100, 7);
    std::vector<uint8_t> result(100);
    const calotype_dimension_t shape(min, extent, 1);
    Buffer<uint8_t> input(const_cast<uint8_t *>(values.data()), 1, &shape);
    Buffer<uint8_t> output(result.data(), 1, &shape);
    in.set(input);
    try {
        f.realize(output);
    } catch (const RuntimeError &e) {
        return std::regex_replace(e.what(), std::regex("buffer \\S+"), "buffer");
    }
    for (int i = 0; i < extent; i++) {
        EXPECT_EQ(result[size_t(i)], has_input ? 7 : uint8_t(min + i)) << i << " from " << min;
    }
    return "";
}

TEST(FarCoordinates, beyond_int32_are_refused_whatever_the_loops) {
    for (Schedule schedule : loops) {
        for (bool has_input : {false, true}) {
            // The last block of 16 ends with the last coordinate there is.
            EXPECT_EQ(run_at(INT32_MAX - 111, 100, has_input, schedule), "");
            EXPECT_EQ(run_at(INT32_MIN, 100, has_input, schedule), "");
            EXPECT_EQ(
                run_at(INT32_MAX - 9, 100, has_input, schedule),
                std::string(has_input ? "input" : "output") +
                    " buffer begins at 2147483638 in dimension 0 and has extent 100: its last "
                    "coordinate is 2147483737, must be at most 2147483647");
        }
    }
}

}  // namespace
}  // namespace calotype::test
