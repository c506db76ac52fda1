// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conversions between all types, alone and in vectors, on each target.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "operations.h"
#include "targets.h"

namespace calotype::test {
namespace {

const std::vector<Type> integers = {Int(8),  UInt(8),  Int(16), UInt(16),
                                    Int(32), UInt(32), Int(64), UInt(64)};

std::string name_of(const ::testing::TestParamInfo<Type> &info) {
    return (info.param.is_int() ? "int" : "uint") + std::to_string(info.param.bits());
}

class IntegerCasts : public ::testing::TestWithParam<Type> {};

TEST_P(IntegerCasts, wrap_or_saturate) {
    const Type from = GetParam();
    std::vector<Operation> list;
    for (const Type &to : integers) {
        // Nothing is undefined here: the meaning is of the type already.
        list.push_back({"cast to " + std::to_string(to.bits()),
                        [to](Expr a, Expr) { return cast(to, a); },
                        [to](Wide a, Wide) {
                            return wrapped(to, a);
                        }});
        list.push_back({"saturating_cast to " + std::to_string(to.bits()),
                        [to](Expr a, Expr) { return saturating_cast(to, a); },
                        [to](Wide a, Wide) {
                            return saturated(to, a);
                        }});
    }
    list.push_back({"cast to bool", [](Expr a, Expr) { return cast<bool>(a); },
                    [](Wide a, Wide) {
                        return a & 1;
                    }});
    check_operations(from, from, values_of(from), {0}, list, {1, 16});
}

INSTANTIATE_TEST_SUITE_P(Types, IntegerCasts, ::testing::ValuesIn(integers), name_of);

/// Values that every float type holds exactly, and that are in the range of every signed integer
/// type.
const std::vector<float> exact = {0, 1, -1, 2, 3, 5, -7, 16, 31, 64, 100, -100, 127, -128};

template<typename To, typename From>
void check_float_cast(const std::vector<float> &values) {
    ImageParam in(type_of<From>(), 1, "in");
    Buffer<From> source(int(values.size()));
    for (size_t i = 0; i < values.size(); i++) {
        source(int(i)) = From(values[i]);
    }
    in.set(source);
    for (int lanes : {1, 8}) {
        Var x("x");
        Func f("f");
        f(x) = cast<To>(in(x));
        f.vectorize(x, lanes, TailStrategy::GuardWithIf);
        for (const Target &t : targets()) {
            Buffer<To> result = f.realize({int(values.size())}, t);
            for (size_t i = 0; i < values.size(); i++) {
                ASSERT_EQ(float(result(int(i))), float(To(values[i])))
                    << type_of<From>() << " to " << type_of<To>() << ", " << lanes << " lanes on "
                    << t.to_string();
            }
        }
    }
}

template<typename F>
void check_float_type() {
    std::vector<float> positive = exact;
    for (float &v : positive) {
        v = std::abs(v);
    }
    check_float_cast<int8_t, F>(exact);
    check_float_cast<int32_t, F>(exact);
    check_float_cast<int64_t, F>(exact);
    check_float_cast<uint8_t, F>(positive);
    check_float_cast<uint32_t, F>(positive);
    check_float_cast<uint64_t, F>(positive);
    check_float_cast<F, int8_t>(exact);
    check_float_cast<F, int32_t>(exact);
    check_float_cast<F, int64_t>(exact);
    check_float_cast<F, uint16_t>(positive);
    check_float_cast<F, uint32_t>(positive);
}

TEST(FloatCasts, float32) {
    check_float_type<float>();
}

TEST(FloatCasts, float64) {
    check_float_type<double>();
}

TEST(FloatCasts, float16) {
    check_float_type<float16_t>();
}

TEST(FloatCasts, bfloat16) {
    check_float_type<bfloat16_t>();
}

TEST(FloatCasts, between_float_types) {
    // Not all are exact in 16 bits, and then both round to nearest.
    std::vector<float> values = exact;
    for (float v : {0.1f, -0.3f, 1.0009765625f, 1.00048828125f, 3.14159f, 1000.5f, 1e-3f,
                    1.00390625f, 1.01171875f}) {
        values.push_back(v);
    }
    check_float_cast<float16_t, float>(values);
    check_float_cast<bfloat16_t, float>(values);
    check_float_cast<float, double>(values);
    check_float_cast<double, float>(values);
    check_float_cast<float, float16_t>(exact);
    check_float_cast<float, bfloat16_t>(exact);
    check_float_cast<bfloat16_t, float16_t>(exact);
}

TEST(FloatCasts, fractions_are_cut_off) {
    check_float_cast<int32_t, float>({0.5f, -0.5f, 1.99f, -1.99f, 2.5f, -2.5f, 1e6f});
    check_float_cast<int16_t, double>({0.5f, -0.5f, 1.99f, -1.99f, 2.5f, -2.5f});
}

TEST(FloatCasts, saturating) {
    const std::vector<float> values = {0,      1.7f, -1.7f, 127.5f, 128,  -128.5f, -129,
                                       255.9f, 256,  1e6f,  -1e6f,  3e9f, -3e9f};
    Buffer<float> in(int(values.size()));
    std::copy(values.begin(), values.end(), in.data());
    for (const Target &t : targets()) {
        Var x("x");
        Func f("f");
        f(x) = Tuple(saturating_cast<uint8_t>(in(x)), saturating_cast<int8_t>(in(x)),
                     saturating_cast<int16_t>(in(x)));
        f.vectorize(x, 8, TailStrategy::GuardWithIf);
        Realization r = f.realize({in.width()}, t);
        Buffer<uint8_t> u8 = r[0];
        Buffer<int8_t> i8 = r[1];
        Buffer<int16_t> i16 = r[2];
        for (int i = 0; i < in.width(); i++) {
            EXPECT_EQ(u8(i), uint8_t(std::clamp(in(i), 0.0f, 255.0f))) << in(i);
            EXPECT_EQ(i8(i), int8_t(std::clamp(in(i), -128.0f, 127.0f))) << in(i);
            EXPECT_EQ(i16(i), int16_t(std::clamp(in(i), -32768.0f, 32767.0f))) << in(i);
        }
    }
}

/// What programs that divide zero by zero before such a cast come to see: the largest integer of
/// fewer bits than the float, else the smallest.
TEST(FloatCasts, saturating_of_nan) {
    Buffer<float> in(8);
    in.fill(std::numeric_limits<float>::quiet_NaN());
    in(1) = 3.5f;
    in(2) = std::numeric_limits<float>::infinity();
    for (const Target &t : targets()) {
        for (int lanes : {1, 8}) {
            Var x("x");
            Func f("f");
            const Expr v = in(x), wide = cast<double>(v);
            f(x) = Tuple(saturating_cast<uint8_t>(v), saturating_cast<int16_t>(v),
                         saturating_cast<int32_t>(v), saturating_cast<uint32_t>(v),
                         saturating_cast<int32_t>(wide), saturating_cast<int64_t>(wide));
            f.vectorize(x, lanes);
            Realization r = f.realize({8}, t);
            const int32_t least = std::numeric_limits<int32_t>::min(), most = ~least;
            EXPECT_EQ(int(Buffer<uint8_t>(r[0])(0)), 255);
            EXPECT_EQ(int(Buffer<int16_t>(r[1])(0)), 32767);
            EXPECT_EQ(Buffer<int32_t>(r[2])(0), least);
            EXPECT_EQ(Buffer<uint32_t>(r[3])(0), 0u);
            EXPECT_EQ(Buffer<int32_t>(r[4])(0), most);
            EXPECT_EQ(Buffer<int64_t>(r[5])(0), std::numeric_limits<int64_t>::min());
            EXPECT_EQ(Buffer<int32_t>(r[2])(1), 3);
            EXPECT_EQ(Buffer<int32_t>(r[2])(2), most);
            EXPECT_EQ(Buffer<uint32_t>(r[3])(2), ~0u);
            EXPECT_EQ(Buffer<int64_t>(r[5])(2), std::numeric_limits<int64_t>::max());
        }
    }
}

}  // namespace
}  // namespace calotype::test
