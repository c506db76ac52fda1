// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Floats rounded to integers, where x86-64 has instructions for it and where not.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ir/operators.h"
#include "unit/codegen/kernel.h"

namespace calotype::internal {
namespace {

template<typename T>
std::vector<T> numbers() {
    const T whole = sizeof(T) == 4 ? T(0x1p23) : T(0x1p52);
    std::vector<T> all = {T(0), std::numeric_limits<T>::denorm_min(), std::numeric_limits<T>::max(),
                          std::numeric_limits<T>::infinity(), std::numeric_limits<T>::quiet_NaN()};
    for (const T center : {T(0), T(1), T(2), T(3), T(1000), whole / 2, whole, 2 * whole, T(1e30)}) {
        for (const T distance : {T(0), T(0.25), T(0.5), T(0.75)}) {
            const T x = center + distance;
            all.insert(all.end(), {x, std::nextafter(x, T(0)), std::nextafter(x, T(1e38))});
        }
    }
    const size_t positive = all.size();
    for (size_t i = 0; i < positive; i++) {
        all.push_back(-all[i]);
    }
    all.resize((all.size() + 7) / 8 * 8);
    return all;
}

template<typename T>
void expect_rounded() {
    struct Row {
        Expr (*operation)(Expr);
        T (*expected)(T);
    };
    const Row rows[] = {{[](Expr e) { return round(e); },
                         [](T v) {
                             return std::nearbyint(v);
                         }},
                        {[](Expr e) { return floor(e); },
                         [](T v) {
                             return std::floor(v);
                         }},
                        {[](Expr e) { return ceil(e); },
                         [](T v) {
                             return std::ceil(v);
                         }},
                        {[](Expr e) { return trunc(e); },
                         [](T v) {
                             return std::trunc(v);
                         }}};
    const std::vector<T> x = numbers<T>();
    for (const char *target : {"x86-64-linux", "x86-64-linux-sse41"}) {
        for (const int lanes : {1, 8}) {
            for (const Row &row : rows) {
                const std::vector<T> got = map1<T, T>(Target(target), lanes, x, row.operation);
                for (size_t i = 0; i < x.size(); i++) {
                    const T expected = row.expected(x[i]);
                    ASSERT_TRUE(got[i] == expected || (std::isnan(got[i]) && std::isnan(expected)))
                        << x[i] << " on " << target << ": " << got[i];
                    ASSERT_TRUE(std::isnan(expected) ||
                                std::signbit(got[i]) == std::signbit(expected))
                        << x[i] << " on " << target;
                }
            }
        }
    }
}

TEST(Roundings, AreExactWithTheirSigns) {
    expect_rounded<float>();
    expect_rounded<double>();
}

TEST(Roundings, CallNoFunctions) {
    for (const Expr &e : {round(load(Float(32, 4), "a")), floor(load(Float(32, 8), "a")),
                          ceil(load(Float(64, 2), "a")), trunc(load(Float(64, 4), "a"))}) {
        EXPECT_EQ(count(assembly("x86-64-linux", e), "call"), 0u);
        EXPECT_GT(count(assembly("x86-64-linux-sse41", e), "roundp"), 0u);
    }
}

}  // namespace
}  // namespace calotype::internal
