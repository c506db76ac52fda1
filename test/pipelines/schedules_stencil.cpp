// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One stencil under many schedules: whatever the loops, the result is that of the plain loops.
#include <gtest/gtest.h>

#include <functional>
#include <ostream>

#include "calotype.h"

namespace calotype {
namespace {

const Var x("x"), y("y"), xo("xo"), yo("yo"), xi("xi"), yi("yi"), t("t");

int input_at(int i, int j) {
    return (i * 7 + j * 13 + 1000 * 31) % 31;
}

/// The sum of the nine neighbours.
int expected_at(int i, int j) {
    int sum = 0;
    for (int dj = -1; dj <= 1; dj++) {
        for (int di = -1; di <= 1; di++) {
            sum += input_at(i + di, j + dj);
        }
    }
    return sum;
}

struct Stencil {
    Func in{"in"}, rows{"rows"}, out{"out"};
    Stencil() {
        in(x, y) = (x * 7 + y * 13) % 31;
        rows(x, y) = in(x - 1, y) + in(x, y) + in(x + 1, y);
        out(x, y) = rows(x, y - 1) + rows(x, y) + rows(x, y + 1);
    }
};

struct Case {
    const char *name;
    std::function<void(Stencil &)> schedule;
    int width = 96, height = 64;
};

std::ostream &operator<<(std::ostream &out, const Case &c) {
    return out << c.name;
}

class StencilSchedules : public ::testing::TestWithParam<Case> {};

TEST_P(StencilSchedules, give_the_same_result) {
    Stencil s;
    GetParam().schedule(s);
    Buffer<int> result = s.out.realize({GetParam().width, GetParam().height});
    for (int j = 0; j < result.height(); j++) {
        for (int i = 0; i < result.width(); i++) {
            ASSERT_EQ(result(i, j), expected_at(i, j)) << "at " << i << ", " << j;
        }
    }
}

const TailStrategy guard = TailStrategy::GuardWithIf, predicate = TailStrategy::Predicate,
                   round_up = TailStrategy::RoundUp;

const Case levels[] = {
    {"inlined",
     [](Stencil &) {
     }},
    {"root",
     [](Stencil &s) {
         s.rows.compute_root();
     }},
    {"compute_at_y",
     [](Stencil &s) {
         s.rows.compute_at(s.out, y);
     }},
    {"compute_at_x",
     [](Stencil &s) {
         s.rows.compute_at(s.out, x);
     }},
    {"in_a_tile",
     [](Stencil &s) {
         s.out.tile(x, y, xo, yo, xi, yi, 32, 16).vectorize(xi, 8).parallel(yo);
         s.rows.compute_at(s.out, xo).vectorize(x, 8);
     }},
    {"in_a_guarded_tile",
     [](Stencil &s) {
         s.out.tile(x, y, xo, yo, xi, yi, 32, 16, guard).vectorize(xi, 8).parallel(yo);
         s.rows.compute_at(s.out, xo).vectorize(x, 8);
     },
     97, 61},
    {"fused_tiles",
     [](Stencil &s) {
         s.out.tile(x, y, xo, yo, xi, yi, 16, 16).fuse(xo, yo, t).parallel(t);
         s.rows.compute_at(s.out, t);
     }},
};

const Case windows[] = {
    {"slides_over_y",
     [](Stencil &s) {
         s.rows.store_root().compute_at(s.out, y);
     }},
    {"slides_over_y_and_x",
     [](Stencil &s) {
         s.rows.store_root().compute_at(s.out, x);
     }},
    {"both_slide",
     [](Stencil &s) {
         s.rows.store_root().compute_at(s.out, y);
         s.in.store_root().compute_at(s.out, y);
     }},
    {"both_slide_over_x",
     [](Stencil &s) {
         s.rows.store_root().compute_at(s.out, x);
         s.in.store_root().compute_at(s.out, x);
     }},
    {"input_slides_in_rows",
     [](Stencil &s) {
         s.rows.store_root().compute_at(s.out, y);
         s.in.store_at(s.out, y).compute_at(s.rows, x);
     }},
    {"slides_in_strips",
     [](Stencil &s) {
         s.out.split(y, yo, yi, 8).parallel(yo).vectorize(x, 8);
         s.rows.store_at(s.out, yo).compute_at(s.out, yi).vectorize(x, 8);
     }},
    {"slides_in_guarded_strips",
     [](Stencil &s) {
         s.out.split(y, yo, yi, 8, guard).parallel(yo).vectorize(x, 8);
         s.rows.store_at(s.out, yo).compute_at(s.out, yi).vectorize(x, 8);
     },
     100, 59},
    {"slides_in_shifted_strips",
     [](Stencil &s) {
         s.out.split(y, yo, yi, 8).vectorize(x, 8);
         s.rows.store_root().compute_at(s.out, yi).vectorize(x, 8);
     },
     100, 59},
    {"slides_in_tiles",
     [](Stencil &s) {
         s.out.tile(x, y, xo, yo, xi, yi, 32, 16).vectorize(xi, 8).parallel(yo);
         s.rows.store_at(s.out, xo).compute_at(s.out, yi).vectorize(x, 8);
     }},
    {"folded_by_hand",
     [](Stencil &s) {
         s.rows.store_root().compute_at(s.out, y).fold_storage(y, 5);
     }},
};

const Case loops[] = {
    {"vectorized",
     [](Stencil &s) {
         s.out.vectorize(x, 8);
         s.rows.compute_root().vectorize(x, 8);
     }},
    {"vectorized_guarded",
     [](Stencil &s) {
         s.out.vectorize(x, 8, guard);
         s.rows.store_root().compute_at(s.out, y).vectorize(x, 8, guard);
     },
     101, 37},
    {"vectorized_predicated",
     [](Stencil &s) {
         s.out.vectorize(x, 8, predicate);
         s.rows.compute_root().vectorize(x, 8, predicate);
     },
     101, 37},
    {"vectorized_rounded_up",
     [](Stencil &s) {
         s.out.vectorize(x, 8);
         s.rows.compute_root().vectorize(x, 8, round_up);
     },
     101, 37},
    {"vectorized_twice",
     [](Stencil &s) {
         s.out.tile(x, y, xo, yo, xi, yi, 8, 4).vectorize(xi).vectorize(yi);
         s.rows.compute_root();
     }},
    {"vectorized_over_y",
     [](Stencil &s) {
         s.out.vectorize(y, 4);
         s.rows.compute_at(s.out, x);
     }},
    {"computed_in_a_vectorized_loop",
     [](Stencil &s) {
         s.out.split(x, xo, xi, 8).vectorize(xi);
         s.rows.compute_at(s.out, xi);
     }},
    {"computed_in_a_guarded_vectorized_loop",
     [](Stencil &s) {
         s.out.split(x, xo, xi, 8, guard).vectorize(xi);
         s.rows.compute_at(s.out, xi);
     },
     97, 64},
    {"unrolled",
     [](Stencil &s) {
         s.out.unroll(x, 4).unroll(y, 2);
         s.rows.compute_at(s.out, y).unroll(x, 3);
     }},
    {"unrolled_guarded",
     [](Stencil &s) {
         s.out.unroll(x, 4, guard).unroll(y, 2, guard);
         s.rows.compute_at(s.out, y).unroll(x, 3, guard);
     },
     97, 61},
    {"unrolled_in_a_guarded_loop",
     [](Stencil &s) {
         s.out.split(y, yo, yi, 4, guard).reorder(yi, x, yo).unroll(yi);
         s.rows.compute_at(s.out, x).unroll(y).unroll(x);
     },
     97, 61},
    {"never_partitioned",
     [](Stencil &s) {
         s.out.never_partition(x, y).vectorize(x, 8);
     }},
    {"specialized",
     [](Stencil &s) {
         s.rows.compute_root();
         s.out.specialize(s.out.output_buffer().width() > 50).vectorize(x, 8);
     }},
};

const Case storage[] = {
    {"reordered",
     [](Stencil &s) {
         s.rows.compute_root().reorder_storage(y, x);
     }},
    {"aligned",
     [](Stencil &s) {
         s.rows.compute_root().align_storage(x, 64);
     }},
    {"hoisted_to_root",
     [](Stencil &s) {
         s.rows.hoist_storage_root().compute_at(s.out, y);
     }},
    {"hoisted",
     [](Stencil &s) {
         s.out.split(y, yo, yi, 8);
         s.rows.hoist_storage(s.out, yo).compute_at(s.out, yi);
     }},
    {"prefetched",
     [](Stencil &s) {
         s.rows.compute_root();
         s.out.prefetch(s.rows, y, y, 2);
     }},
    {"ring",
     [](Stencil &s) {
         s.rows.hoist_storage_root().compute_at(s.out, y).ring_buffer(3);
     }},
    {"memoized",
     [](Stencil &s) {
         s.rows.compute_root().memoize();
     }},
    {"memoized_in_a_loop",
     [](Stencil &s) {
         s.rows.compute_at(s.out, y).memoize();
     }},
};

const Case tasks[] = {
    {"async",
     [](Stencil &s) {
         s.rows.compute_root().async();
     }},
    {"async_sliding",
     [](Stencil &s) {
         s.rows.store_root().compute_at(s.out, y).async();
     }},
    {"async_hoisted",
     [](Stencil &s) {
         s.rows.hoist_storage_root().compute_at(s.out, y).async();
     }},
    {"async_ring",
     [](Stencil &s) {
         s.rows.hoist_storage_root().compute_at(s.out, y).async().ring_buffer(3);
     }},
    {"async_ring_in_strips",
     [](Stencil &s) {
         s.out.split(y, yo, yi, 8).parallel(yo);
         s.rows.hoist_storage(s.out, yo).compute_at(s.out, yi).async().ring_buffer(2);
     }},
    {"both_async",
     [](Stencil &s) {
         s.rows.store_root().compute_at(s.out, y).async();
         s.in.store_root().compute_at(s.out, y).async();
     }},
};

const auto name_of = [](const auto &info) {
    return std::string(info.param.name);
};
INSTANTIATE_TEST_SUITE_P(Levels, StencilSchedules, ::testing::ValuesIn(levels), name_of);
INSTANTIATE_TEST_SUITE_P(Windows, StencilSchedules, ::testing::ValuesIn(windows), name_of);
INSTANTIATE_TEST_SUITE_P(Loops, StencilSchedules, ::testing::ValuesIn(loops), name_of);
INSTANTIATE_TEST_SUITE_P(Storage, StencilSchedules, ::testing::ValuesIn(storage), name_of);
INSTANTIATE_TEST_SUITE_P(Tasks, StencilSchedules, ::testing::ValuesIn(tasks), name_of);

}  // namespace
}  // namespace calotype
