// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Coordinates of the same value are told apart by what they are made of.
#include <calotype/calotype.h>

#include <gtest/gtest.h>

namespace calotype::test {
namespace {

const Var x("x");

/// 6 - x + x is 6, but for another stage there is no x.
TEST(InlinedPlaces, of_one_value_in_two_stages) {
    Func f("f"), g("g"), h("h");
    RDom r(0, 3, "r");
    g(x) = x * x;
    f(x) = g(6 - x + x);
    h(x) = f(x / 2 + 1);
    h(r) += f(r);
    const Buffer<int> result = h.realize({5});
    for (int i = 0; i < 5; i++) {
        EXPECT_EQ(result(i), i < 3 ? 72 : 36) << i;
    }
}

}  // namespace
}  // namespace calotype::test
