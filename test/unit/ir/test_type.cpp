// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include "ir/constants.h"
#include "ir/equality.h"
#include "ir/expr.h"

struct TypeTestStruct;
CALOTYPE_DECLARE_EXTERN_STRUCT_TYPE(TypeTestStruct);

namespace calotype {

using namespace internal;

namespace {

TEST(Type, OfCppTypes) {
    EXPECT_EQ(type_of<float>(), Float(32));
    EXPECT_EQ(type_of<double>(), Float(64));
    EXPECT_EQ(type_of<bool>(), Bool());
    EXPECT_EQ(type_of<int8_t>(), Int(8));
    EXPECT_EQ(type_of<uint64_t>(), UInt(64));
    EXPECT_EQ(type_of<float16_t>(), Float(16));
    EXPECT_EQ(type_of<bfloat16_t>(), BFloat(16));
    EXPECT_TRUE(type_of<void *>().is_handle());
}

class Undeclared;

TEST(Type, HandlesKnowTheirPointee) {
    ASSERT_NE(type_of<TypeTestStruct *>().handle_type, nullptr);
    EXPECT_EQ(type_of<TypeTestStruct *>().handle_type->cpp_name, "struct TypeTestStruct *");
    EXPECT_EQ(type_of<const TypeTestStruct *>().handle_type->cpp_name,
              "struct TypeTestStruct const *");
    EXPECT_NE(type_of<TypeTestStruct *>(), type_of<const TypeTestStruct *>());
    EXPECT_EQ(type_of<void *>(), Handle());
    EXPECT_EQ(type_of<const void *>().handle_type->cpp_name, "void const *");
    EXPECT_EQ(type_of<Undeclared *>(), Handle());
    EXPECT_EQ(type_of<const Undeclared *>(), type_of<const void *>());
    EXPECT_EQ(type_of<TypeTestStruct *>(), type_of<TypeTestStruct *>());
}

TEST(Type, TextBothWays) {
    for (Type t : {Int(8), UInt(16), Float(32), BFloat(16), Bool(), Bool(4), Handle(), Int(64, 3),
                   Float(16, 128)}) {
        Type back;
        ASSERT_TRUE(parse_type(to_string(t), &back)) << t;
        EXPECT_EQ(back, t);
    }
    EXPECT_EQ(to_string(Bool(8)), "boolx8");
    Type ignored;
    for (const char *text :
         {"", "int", "int32x", "float320", "uint8x70000", "int32 ", "integer", "int0", "boolean"}) {
        EXPECT_FALSE(parse_type(text, &ignored)) << text;
    }
}

TEST(Type, Limits) {
    EXPECT_EQ(Int(8).imax(), 127);
    EXPECT_EQ(Int(64).imin(), INT64_MIN);
    EXPECT_EQ(UInt(64).umax(), UINT64_MAX);
    EXPECT_EQ(Bool().umax(), 1u);
    EXPECT_TRUE(Int(16).is_max(int64_t(32767)));
    EXPECT_TRUE(Int(16).is_min(int64_t(-32768)));
    EXPECT_FALSE(UInt(8).is_max(int64_t(-1)));
    EXPECT_TRUE(is_const(UInt(8).max(), 255));
    EXPECT_TRUE(is_const(Int(8, 4).min(), -128));
    EXPECT_EQ(as_const_float(Float(32).max()), std::numeric_limits<double>::infinity());
}

TEST(Type, CanRepresentTypes) {
    EXPECT_TRUE(Int(16).can_represent(UInt(8)));
    EXPECT_FALSE(Int(8).can_represent(UInt(8)));
    EXPECT_FALSE(UInt(32).can_represent(Int(8)));
    EXPECT_TRUE(Float(32).can_represent(Int(16)));
    EXPECT_FALSE(Float(32).can_represent(Int(32)));
    EXPECT_TRUE(Float(64).can_represent(UInt(32)));
    EXPECT_TRUE(Float(32).can_represent(BFloat(16)));
    EXPECT_FALSE(Float(16).can_represent(BFloat(16)));
    EXPECT_TRUE(Float(16).can_represent(UInt(8)));
    EXPECT_TRUE(BFloat(16).can_represent(Int(8)));
    EXPECT_FALSE(BFloat(16).can_represent(UInt(16)));
}

TEST(Type, CanRepresentValues) {
    EXPECT_TRUE(UInt(8).can_represent(255));
    EXPECT_FALSE(UInt(8).can_represent(-1));
    EXPECT_FALSE(Int(8).can_represent(uint64_t(128)));
    EXPECT_TRUE(Float(32).can_represent(int64_t(1) << 24));
    EXPECT_FALSE(Float(32).can_represent((int64_t(1) << 24) + 1));
    EXPECT_FALSE(Float(64).can_represent(INT64_MAX));
    EXPECT_TRUE(Float(64).can_represent(INT64_MIN));
    EXPECT_FALSE(Float(64).can_represent(UINT64_MAX));
    EXPECT_TRUE(Int(32).can_represent(3.0));
    EXPECT_FALSE(Int(32).can_represent(3.5));
    EXPECT_FALSE(Int(64).can_represent(9.3e18));
    EXPECT_TRUE(Float(16).can_represent(0.5));
    EXPECT_FALSE(Float(16).can_represent(1e6));
}

TEST(Constants, WrapRoundAndBroadcast) {
    EXPECT_TRUE(is_const(make_const(UInt(8), -1), 255));
    EXPECT_TRUE(is_const(make_const(Int(8), 200), -56));
    EXPECT_EQ(as_const_float(make_const(Float(16), 0.1)), double(float16_t(0.1)));
    EXPECT_TRUE(is_const(make_const(Bool(), 7), 1));
    EXPECT_EQ(make_const(Int(32, 4), 3).type(), Int(32, 4));
    EXPECT_TRUE(is_const(make_const(Int(32, 4), 3), 3));
    EXPECT_TRUE(is_const(make_const(Int(32), 2.9), 2));
    EXPECT_TRUE(make_zero(Handle()).type().is_handle());
    EXPECT_TRUE(is_const_zero(make_zero(Handle())));
}

TEST(Constants, Recognised) {
    EXPECT_EQ(as_const_int(Expr(-5)), -5);
    EXPECT_EQ(as_const_uint(Expr(-5)), std::nullopt);
    EXPECT_EQ(as_const_int(make_const(UInt(64), UINT64_MAX)), std::nullopt);
    EXPECT_EQ(as_const_power_of_two(Expr(64)), 6);
    EXPECT_EQ(as_const_power_of_two(Expr(0)), std::nullopt);
    EXPECT_EQ(as_const_power_of_two(make_const(UInt(64), uint64_t(1) << 63)), 63);
    EXPECT_TRUE(is_positive_const(make_const(Float(32), 0.5)));
    EXPECT_TRUE(is_negative_const(Expr(-1)));
    EXPECT_FALSE(is_negative_const(make_const(UInt(8), 255)));
    EXPECT_TRUE(is_trivially_true(Expr()));
    EXPECT_TRUE(is_trivially_true(const_true(4)));
    EXPECT_FALSE(is_trivially_true(Expr(1)));
}

TEST(Constants, OfCppNumbers) {
    EXPECT_EQ(Expr(1).type(), Int(32));
    EXPECT_EQ(Expr(1.0f).type(), Float(32));
    EXPECT_EQ(Expr(1.0).type(), Float(64));
    EXPECT_EQ(Expr(uint16_t(1)).type(), UInt(16));
    EXPECT_EQ(Expr(int64_t(1)).type(), Int(64));
    EXPECT_EQ(Expr(true).type(), Bool());
    EXPECT_EQ(Expr(float16_t(1.0f)).type(), Float(16));
    EXPECT_TRUE(Expr("text").type().is_handle());
    EXPECT_FALSE(Expr().type().is_float());
}

}  // namespace
}  // namespace calotype
