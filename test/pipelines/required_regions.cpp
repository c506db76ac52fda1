// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a pipeline says it needs of its inputs, before it can read any.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "calotype.h"

namespace calotype {
namespace {

const Var x("x");

/// The first coordinate of an input, and the number of those, that ten elements need.
std::pair<int, int> needed(Func f, const ImageParam &input) {
    f.infer_input_bounds({10});
    const Buffer<void> needed = input.get();
    return {needed.dim(0).min(), needed.dim(0).extent()};
}

TEST(RequiredRegions, of_images_mirrored_at_bounds_that_are_parameters) {
    const ImageParam in(Int(16), 1, "in");
    const Param<int> width("width", 6);
    const Func mirrored = BoundaryConditions::mirror_interior(Func(in), {{1, width}});
    Func f("f");
    f(x) = mirrored(x - 4);
    EXPECT_EQ(needed(f, in), std::pair(1, 6));
    Buffer<int16_t> values(6);
    values.set_min(1);
    for (int i = 1; i <= 6; i++) {
        values(i) = int16_t(i);
    }
    ImageParam(in).set(values);
    const Buffer<int16_t> result = f.realize({10});
    const int expected[] = {6, 5, 4, 3, 2, 1, 2, 3, 4, 5};  // of -4 to 5, around 1
    for (int i = 0; i < 10; i++) {
        EXPECT_EQ(result(i), expected[i]) << i;
    }
}

}  // namespace
}  // namespace calotype
