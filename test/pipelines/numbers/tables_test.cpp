// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tables that vectors of indices look up: elements of all sizes at indices of all types, negative ones among them, two tables at
// one index, in vectors of sizes that fit registers and that do not.
#include <gtest/gtest.h>

#include <string>

#include "calotype.h"
#include "pipelines/numbers/targets.h"

namespace calotype {
namespace {

const Var x("x");
constexpr int room = 131, first = -130, entries = 400;

int64_t index_at(const Type &type, int i) {
    const int value = (i * 73 + 19) % 256;
    return type.is_int() ? value - 128 : value;
}
int64_t entry(int64_t i) {
    return (i - first) * 29 % 113;
}

template<typename Index>
Buffer<Index> indices() {
    Buffer<Index> result(room);
    for (int i = 0; i < room; i++) {
        result(i) = Index(index_at(type_of<Index>(), i));
    }
    return result;
}

template<typename Element>
Buffer<Element> table() {
    Buffer<Element> result(entries);
    result.set_min(first);
    for (int i = first; i < first + entries; i++) {
        result(i) = Element(entry(i));
    }
    return result;
}

template<typename Element, typename Index>
void expect_entries() {
    const Type type = type_of<Index>();
    const Buffer<Index> at = indices<Index>();
    Buffer<Element> one = table<Element>();
    for (const Target &target : test::targets()) {
        for (int lanes : {2, 3, 8, 16, 33}) {
            Func f("f");
            const Expr index = clamp(cast<int>(at(x)), first, first + entries - 4);
            f(x) = one(index) * cast<Element>(2) + one(index + 3);
            f.vectorize(x, lanes, TailStrategy::GuardWithIf);
            const Buffer<Element> result = f.realize({room}, target);
            for (int i = 0; i < room; i++) {
                const int64_t k = index_at(type, i);
                ASSERT_EQ(result(i), Element(Element(entry(k)) * 2 + entry(k + 3)))
                    << "at " << i << ", index of " << type << ", " << lanes << " lanes, "
                    << target.to_string();
            }
        }
    }
}

template<typename T>
class Tables : public ::testing::Test {};
using Types = ::testing::Types<uint8_t, int16_t, uint32_t, float, double>;
TYPED_TEST_SUITE(Tables, Types);

TYPED_TEST(Tables, AtIndicesOfBytes) {
    expect_entries<TypeParam, uint8_t>();
    expect_entries<TypeParam, int8_t>();
}

TYPED_TEST(Tables, AtIndicesOfWords) {
    expect_entries<TypeParam, uint16_t>();
    expect_entries<TypeParam, int16_t>();
}

TYPED_TEST(Tables, AtWideIndices) {
    expect_entries<TypeParam, int32_t>();
    expect_entries<TypeParam, uint32_t>();
}

}  // namespace
}  // namespace calotype
