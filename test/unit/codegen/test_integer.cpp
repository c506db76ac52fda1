// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integer arithmetic on vectors of many lengths against C++, with all the corner values.
#include <gtest/gtest.h>

#include <limits>
#include <numeric>
#include <random>

#include "ir/constants.h"
#include "ir/language/bits.h"
#include "ir/language/fixed_point.h"
#include "unit/codegen/kernel.h"

namespace calotype::internal {
namespace {

constexpr int count = 240;  // a multiple of all lane counts in use

template<typename T>
std::vector<T> samples(unsigned seed) {
    using L = std::numeric_limits<T>;
    std::vector<T> values = {T(0),
                             T(1),
                             T(-1),
                             T(2),
                             T(3),
                             T(7),
                             T(-2),
                             T(-3),
                             L::min(),
                             L::max(),
                             T(L::min() + 1),
                             T(L::max() - 1),
                             T(L::max() / 2),
                             T(L::min() / 2)};
    std::mt19937_64 random(seed);
    while (values.size() < size_t(count)) {
        values.push_back(T(random() >> (random() % 64)));
    }
    std::shuffle(values.begin(), values.end(), random);
    return values;
}

template<typename T>
T euclidean_quotient(T a, T b) {
    if (b == 0) {
        return 0;
    }
    __int128 x = a, y = b, q = x / y, r = x % y;
    if (r < 0) {
        q += y > 0 ? -1 : 1;
    }
    return T(q);
}

template<typename T>
class Division : public testing::Test {};
using IntegerTypes =
    testing::Types<int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t>;
TYPED_TEST_SUITE(Division, IntegerTypes);

// The smallest number by -1 overflows: only types that wrap say what that is.
template<typename T>
bool defined(T a, T b) {
    return sizeof(T) < 4 || std::is_unsigned_v<T> || b != T(-1) ||
           a != std::numeric_limits<T>::min();
}

TYPED_TEST(Division, ByVariable) {
    using T = TypeParam;
    std::vector<T> a = samples<T>(1), b = samples<T>(2);
    for (const Target &target : runnable_targets()) {
        for (int lanes : {1, 3, 4, 8, 16}) {
            auto q = map2<T, T, T>(target, lanes, a, b, [](Expr x, Expr y) { return x / y; });
            auto r = map2<T, T, T>(target, lanes, a, b, [](Expr x, Expr y) { return x % y; });
            for (size_t i = 0; i < a.size(); i++) {
                if (!defined(a[i], b[i])) {
                    continue;
                }
                T expected = euclidean_quotient(a[i], b[i]);
                ASSERT_EQ(q[i], expected) << +a[i] << " / " << +b[i] << " lanes " << lanes;
                ASSERT_EQ(r[i], b[i] == 0 ? T(0) : T(__int128(a[i]) - __int128(expected) * b[i]))
                    << +a[i] << " % " << +b[i] << " lanes " << lanes;
            }
        }
    }
}

TYPED_TEST(Division, ByConstant) {
    using T = TypeParam;
    using L = std::numeric_limits<T>;
    std::vector<T> a = samples<T>(3);
    const Target &target = runnable_targets().back();
    for (T d : {T(0), T(1), T(2), T(3), T(5), T(7), T(10), T(16), T(100), T(-1), T(-3), T(-8),
                L::max(), L::min(), T(L::max() - 1), T(L::min() + 1)}) {
        for (int lanes : {1, 8, 16}) {
            Expr divisor = make_const(type_of<T>().with_lanes(lanes), int64_t(d));
            if (!type_of<T>().is_int()) {
                divisor = make_const(type_of<T>().with_lanes(lanes), uint64_t(d));
            }
            auto q = map1<T, T>(target, lanes, a, [&](Expr x) { return Div::make(x, divisor); });
            auto r = map1<T, T>(target, lanes, a, [&](Expr x) { return Mod::make(x, divisor); });
            for (size_t i = 0; i < a.size(); i++) {
                if (!defined(a[i], d)) {
                    continue;
                }
                T expected = euclidean_quotient(a[i], d);
                ASSERT_EQ(q[i], expected) << +a[i] << " / " << +d << " lanes " << lanes;
                ASSERT_EQ(r[i], d == 0 ? T(0) : T(__int128(a[i]) - __int128(expected) * d))
                    << +a[i] << " % " << +d;
            }
        }
    }
}

/// Bytes are divided by a product of 16 bits, two in a word of a register: all bytes, by all constants.
TEST(Division, OfBytesByConstants) {
    std::vector<uint8_t> bytes(256);
    std::iota(bytes.begin(), bytes.end(), uint8_t(0));
    const auto expect = [&](const Target &target, int lanes, Type wide, int d) {
        const auto divided = [&](bool by_remainder) {
            return map1<uint8_t, uint8_t>(target, lanes, bytes, [&](const Expr &x) {
                const Type t = wide.with_lanes(lanes);
                const Expr a = cast(t, x), b = make_const(t, uint64_t(d));
                return cast(x.type(), by_remainder ? Mod::make(a, b) : Div::make(a, b));
            });
        };
        const std::vector<uint8_t> quotients = divided(false), rests = divided(true);
        for (int x = 0; x < 256; x++) {
            ASSERT_EQ(quotients[size_t(x)], x / d) << x << " / " << d << ", " << lanes << " lanes";
            ASSERT_EQ(rests[size_t(x)], x % d) << x << " % " << d << ", " << lanes << " lanes";
        }
    };
    for (const Target &target : runnable_targets()) {
        for (int lanes : {2, 4, 16, 64}) {
            for (int d : {3, 7, 9, 11, 100, 129, 255}) {
                expect(target, lanes, UInt(8), d);
                expect(target, lanes, UInt(16), d);
                expect(target, lanes, UInt(32), d);
            }
        }
    }
    for (int d = 1; d < 256; d++) {
        expect(runnable_targets().back(), 32, UInt(8), d);
        expect(runnable_targets().back(), 8, UInt(16), d);
    }
}

TEST(X86, BytesAreDividedByOneProduct) {
    const Expr bytes = load(UInt(8, 8), "a"), many = load(UInt(8, 32), "a");
    const Expr quotient = cast(UInt(16, 8), bytes) / make_const(UInt(16, 8), 7);
    const std::string words = assembly("x86-64-linux-avx2", quotient);
    EXPECT_EQ(internal::count(words, "vpmulhuw"), 1u) << words;
    EXPECT_EQ(internal::count(words, "vpsrlw") + internal::count(words, "vpmullw"), 0u) << words;
    const std::string pairs = assembly("x86-64-linux-avx2", many / make_const(UInt(8, 32), 7));
    EXPECT_EQ(internal::count(pairs, "vpmulhuw"), 2u) << pairs;
    EXPECT_EQ(internal::count(pairs, "vpunpck") + internal::count(pairs, "vpack"), 0u) << pairs;
}

template<typename T>
class FixedPoint : public testing::Test {};
using NarrowTypes = testing::Types<int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t>;
TYPED_TEST_SUITE(FixedPoint, NarrowTypes);

template<typename T>
T saturated(__int128 x) {
    using L = std::numeric_limits<T>;
    return x < L::min() ? L::min() : x > L::max() ? L::max() : T(x);
}

TYPED_TEST(FixedPoint, AgainstWideArithmetic) {
    using T = TypeParam;
    struct Row {
        const char *name;
        std::function<Expr(Expr, Expr)> make;
        std::function<T(__int128, __int128)> expected;
    };
    constexpr int bits = sizeof(T) * 8;
    const Row rows[] = {
        {"saturating_add", [](Expr a, Expr b) { return saturating_add(a, b); },
         [](auto a, auto b) {
             return saturated<T>(a + b);
         }},
        {"saturating_sub", [](Expr a, Expr b) { return saturating_sub(a, b); },
         [](auto a, auto b) {
             return saturated<T>(a - b);
         }},
        {"halving_add", [](Expr a, Expr b) { return halving_add(a, b); },
         [](auto a, auto b) {
             return T((a + b) >> 1);
         }},
        {"rounding_halving_add", [](Expr a, Expr b) { return rounding_halving_add(a, b); },
         [](auto a, auto b) {
             return T((a + b + 1) >> 1);
         }},
        {"halving_sub", [](Expr a, Expr b) { return halving_sub(a, b); },
         [](auto a, auto b) {
             return T((a - b) >> 1);
         }},
        {"mul_shift_right", [](Expr a, Expr b) { return mul_shift_right(a, b, int(bits)); },
         [](auto a, auto b) {
             return saturated<T>((a * b) >> bits);
         }},
        {"mul_shift_right less", [](Expr a, Expr b) { return mul_shift_right(a, b, 3); },
         [](auto a, auto b) {
             return saturated<T>((a * b) >> 3);
         }},
        {"rounding_mul_shift_right",
         [](Expr a, Expr b) { return rounding_mul_shift_right(a, b, bits - 1); },
         [](auto a, auto b) {
             return saturated<T>((a * b + (__int128(1) << (bits - 2))) >> (bits - 1));
         }},
        {"rounding_mul_shift_right by half of the bits",
         [](Expr a, Expr b) { return rounding_mul_shift_right(a, b, bits / 2); },
         [](auto a, auto b) {
             return saturated<T>((a * b + (__int128(1) << (bits / 2 - 1))) >> (bits / 2));
         }},
        {"absd", [](Expr a, Expr b) { return cast<T>(absd(a, b)); },
         [](auto a, auto b) {
             return T(a > b ? a - b : b - a);
         }},
        {"narrowing sum", [](Expr a, Expr b) { return saturating_cast<T>(widening_add(a, b)); },
         [](auto a, auto b) {
             return saturated<T>(a + b);
         }},
        {"rounding_shift_right by a constant",
         [](Expr a, Expr) { return rounding_shift_right(a, 3); },
         [](auto a, auto) {
             return T((a + 4) >> 3);
         }},
        {"rounding_shift_right",
         [](Expr a, Expr b) { return rounding_shift_right(a, b & (bits - 1)); },
         [](auto a, auto b) {
             int s = int(b & (bits - 1));
             return saturated<T>(s ? (a + (__int128(1) << (s - 1))) >> s : a);
         }},
        {"rounding_shift_left", [](Expr a, Expr b) { return rounding_shift_left(a, b & 3); },
         [](auto a, auto b) {
             return T(a * (1 << int(b & 3)));
         }},
    };
    std::vector<T> a = samples<T>(4), b = samples<T>(5);
    for (const Target &target : runnable_targets()) {
        for (const Row &row : rows) {
            for (int lanes : {1, 5, 16}) {
                auto out = map2<T, T, T>(target, lanes, a, b, row.make);
                for (size_t i = 0; i < a.size(); i++) {
                    ASSERT_EQ(out[i], row.expected(a[i], b[i]))
                        << row.name << " of " << +a[i] << ", " << +b[i] << " lanes " << lanes;
                }
            }
        }
    }
}

}  // namespace
}  // namespace calotype::internal
