// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conversions of vectors to narrower types.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

#include "ir/constants.h"
#include "ir/language/math.h"
#include "unit/codegen/kernel.h"

namespace calotype::internal {
namespace {

size_t masks(const Expr &e) {
    const std::string text = assembly("x86-64-linux-avx2-fma", e);
    return count(text, "vpand") + count(text, "vpblendw") + count(text, "vpshufb");
}

TEST(X86, FloatsThatFitArePackedWithoutMasks) {
    const auto known = [](Type to, float most) {
        return cast(to, clamp(load(Float(32, to.lanes()), "a"), 0.0f, most) + 0.5f);
    };
    EXPECT_EQ(masks(known(UInt(8, 32), 255)), 0u);
    EXPECT_EQ(masks(known(UInt(16, 16), 65535)), 0u);
    EXPECT_GT(masks(known(UInt(8, 32), 256)), 0u);
}

/// Packing makes zero of what is less, also of what no integer is small enough for.
TEST(X86, FloatsAreKeptFromBelowZeroByPacking) {
    const auto limits = [](Type to, const char *instruction) {
        const Expr e = cast(to, clamp(load(Float(32, to.lanes()), "a"), 0.0f, 250.0f));
        return count(assembly("x86-64-linux-avx2-fma", e), instruction);
    };
    EXPECT_EQ(limits(UInt(8, 32), "vmaxps"), 0u);
    EXPECT_EQ(limits(UInt(8, 32), "vminps"), 4u);
    EXPECT_EQ(limits(UInt(16, 16), "vmaxps"), 0u);
    EXPECT_EQ(limits(Int(16, 16), "vmaxps"), 2u);
    const float infinity = std::numeric_limits<float>::infinity();
    std::vector<float> a = {-infinity, -3e38f, -1e10f, -2147483648.0f, -40000.0f,
                            -300.0f,   -0.5f,  -0.0f,  0.9f,           200.7f,
                            250.0f,    251.0f, 3e9f,   infinity};
    a.resize(32, 7.5f);
    for (const Target &target : runnable_targets()) {
        for (const int lanes : {4, 8, 16, 32}) {
            const auto got = map1<uint8_t, float>(target, lanes, a, [](const Expr &x) {
                return cast(UInt(8, x.type().lanes()), clamp(x, 0.0f, 250.0f));
            });
            for (size_t i = 0; i < a.size(); i++) {
                EXPECT_EQ(got[i], uint8_t(std::clamp(a[i], 0.0f, 250.0f)))
                    << target.to_string() << ", " << lanes << " lanes: " << a[i];
            }
        }
    }
}

TEST(X86, IntegersThatFitArePackedWithoutMasks) {
    const auto sum = [](Type narrow, Type wide, int a, int b, int shift) {
        const auto value = [&](const char *name) {
            return cast(wide, load(narrow, name));
        };
        return cast(narrow, (value("a") * a + value("b") * b) >> cast(wide, shift));
    };
    EXPECT_EQ(masks(sum(UInt(8, 32), UInt(16, 32), 3, 13, 4)), 0u);
    EXPECT_EQ(masks(sum(Int(8, 32), Int(16, 32), 3, 13, 4)), 0u);
    EXPECT_EQ(masks(sum(UInt(16, 16), UInt(32, 16), 3, 13, 4)), 0u);
    EXPECT_EQ(masks(sum(Int(16, 16), Int(32, 16), 3, 13, 4)), 0u);
    EXPECT_GT(masks(sum(UInt(8, 32), UInt(16, 32), 3, 14, 4)), 0u);
}

template<typename T, typename Wide>
void expect_mean(const Target &target, int lanes) {
    std::mt19937 random(unsigned(lanes) + sizeof(Wide));
    std::uniform_int_distribution<int> values(std::numeric_limits<T>::min(),
                                              std::numeric_limits<T>::max());
    std::vector<T> a(256), b(256);
    for (size_t i = 0; i < a.size(); i++) {
        a[i] = i < 4 ? T(i < 2 ? values.min() : values.max()) : T(values(random));
        b[i] = i < 4 ? T(i % 2 ? values.min() : values.max()) : T(values(random));
    }
    const auto got = map2<T, T, T>(target, lanes, a, b, [](const Expr &x, const Expr &y) {
        const Type wide = type_of<Wide>().with_lanes(x.type().lanes());
        return cast(x.type(), (cast(wide, x) * 3 + cast(wide, y) * 13) >> make_const(wide, 4));
    });
    for (size_t i = 0; i < a.size(); i++) {
        ASSERT_EQ(T((Wide(a[i]) * 3 + Wide(b[i]) * 13) >> 4), got[i])
            << target.to_string() << ", " << lanes << " lanes of " << type_of<T>() << ": " << +a[i]
            << ", " << +b[i];
    }
}

TEST(Packing, KeepsValues) {
    for (const Target &target : runnable_targets()) {
        for (const int lanes : {4, 8, 16, 32, 64}) {
            expect_mean<uint8_t, uint16_t>(target, lanes);
            expect_mean<int8_t, int16_t>(target, lanes);
            expect_mean<uint8_t, uint32_t>(target, lanes);
            expect_mean<uint8_t, int32_t>(target, lanes);
            expect_mean<int8_t, int32_t>(target, lanes);
            expect_mean<uint16_t, uint32_t>(target, lanes);
            expect_mean<int16_t, int32_t>(target, lanes);
        }
    }
}

/// Nothing is packed that is made wide again.
TEST(X86, WhatFitsANarrowTypeIsNotMadeNarrowOnTheWay) {
    const Expr bounded = clamp(load(Float(32, 8), "a"), 0.0f, 255.0f);
    const auto wide = [](const char *name) {
        return cast(UInt(16, 16), load(UInt(8, 16), name));
    };
    const auto packs = [](const Expr &e) {
        const std::string text = assembly("x86-64-linux-avx2-fma", e);
        return count(text, "vpack") + count(text, "vpand") + count(text, "vandps") +
               count(text, "vpshufb");
    };
    EXPECT_EQ(packs(cast(Int(32, 8), cast(UInt(8, 8), bounded))), 0u);
    EXPECT_EQ(packs(cast(Float(32, 8), cast(UInt(16, 8), bounded))), 0u);
    const auto again = [&](int b) {
        return cast(UInt(16, 16), cast(UInt(8, 16), (wide("a") * 3 + wide("b") * b) >>
                                                        make_const(UInt(16, 16), 4)));
    };
    EXPECT_EQ(packs(again(13)), 0u);
    EXPECT_GT(packs(again(14)), 0u);
    EXPECT_GT(packs(cast(Int(32, 8), cast(UInt(8, 8), bounded + 1.0f))), 0u);
    // Of functions the narrow type keeps what is not a number out of indices.
    EXPECT_GT(packs(cast(Int(32, 8), cast(UInt(8, 8), clamp(sin(bounded), 0.0f, 1.0f)))), 0u);
}

/// a / 4 + 3, saturated, with constants in front of the clamp or behind it.
std::vector<Expr> saturated(const Expr &a, Type to) {
    const Type t = a.type();
    const auto constant = [&](int64_t x) {
        return make_const(t, x);
    };
    const int64_t least = to.is_uint() ? 0 : to.element_of().imin(),
                  most = to.is_uint() ? int64_t(to.element_of().umax()) : to.element_of().imax();
    const Expr quotient = Div::make(Add::make(a, constant(2)), constant(4));
    const auto clamped = [&](const Expr &e, int64_t lower, int64_t upper) {
        return Max::make(Min::make(e, constant(upper)), constant(lower));
    };
    const auto negative = Sub::make(constant(3), clamped(quotient, 3 - most, 3 - least));
    return {Cast::make(to, clamped(Add::make(quotient, constant(3)), least, most)),
            Cast::make(to, Add::make(clamped(quotient, least - 3, most - 3), constant(3))),
            Cast::make(to, negative)};
}

TEST(X86, ClampsToTheLimitsOfATypeAreLeftToPacking) {
    for (const Type &to : {UInt(8, 32), Int(8, 32), Int(16, 32), UInt(16, 32)}) {
        for (const Expr &e : saturated(load(Int(32, 32), "a"), to)) {
            const std::string text = assembly("x86-64-linux-avx2-fma", e);
            EXPECT_EQ(count(text, "vpmin") + count(text, "vpmax"), 0u) << text;
        }
    }
    // Other limits stay.
    const Expr wide = load(Int(32, 32), "a");
    const Expr other = min(max(wide, make_const(wide.type(), 0)), make_const(wide.type(), 254));
    const std::string text = assembly("x86-64-linux-avx2-fma", cast(UInt(8, 32), other));
    EXPECT_GT(count(text, "vpmin"), 0u) << text;
}

/// Where a sum could exceed 32 bits, it is behind the clamp still.
TEST(X86, ClampsOfAnythingStayInFrontOfSums) {
    const Expr any = load(Int(32, 32), "a");
    const Expr clamped =
        Max::make(Min::make(any, make_const(any.type(), 252)), make_const(any.type(), -3));
    const std::string text = assembly(
        "x86-64-linux-avx2-fma", cast(UInt(8, 32), Add::make(clamped, make_const(any.type(), 3))));
    EXPECT_GT(count(text, "vpmin"), 0u) << text;
}

template<typename T>
void expect_saturated(const Target &target, int lanes) {
    std::vector<int32_t> a(256);
    for (size_t i = 0; i < a.size(); i++) {
        const int64_t steps = int64_t(i) - 128;
        a[i] = i % 2 ? int32_t(steps * 12) : int32_t(steps * (INT32_MAX / 128) + (steps < 0));
    }
    for (size_t form = 0; form < 3; form++) {
        const auto got = map1<T, int32_t>(target, lanes, a, [&](const Expr &x) {
            return saturated(x, type_of<T>().with_lanes(x.type().lanes()))[form];
        });
        for (size_t i = 0; i < a.size(); i++) {
            const int64_t sum = int64_t(a[i]) + 2;
            const int64_t quotient = sum >= 0 ? sum / 4 : -((-sum + 3) / 4);
            const int64_t value = form == 2 ? 3 - quotient : quotient + 3;
            ASSERT_EQ(T(std::clamp<int64_t>(value, std::numeric_limits<T>::min(),
                                            std::numeric_limits<T>::max())),
                      got[i])
                << target.to_string() << ", " << lanes << " lanes of " << type_of<T>() << ": "
                << a[i] << ", form " << form;
        }
    }
}

TEST(Packing, SaturatesWhereItIsToldTo) {
    for (const Target &target : runnable_targets()) {
        for (const int lanes : {1, 4, 8, 16, 32}) {
            expect_saturated<uint8_t>(target, lanes);
            expect_saturated<int8_t>(target, lanes);
            expect_saturated<uint16_t>(target, lanes);
            expect_saturated<int16_t>(target, lanes);
        }
    }
}

}  // namespace
}  // namespace calotype::internal
