// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The types that the public operators give, what they fold, and their errors.
#include "harness/expect_error.h"
#include "ir/concise_casts.h"
#include "ir/constants.h"
#include "ir/expr_nodes.h"
#include "ir/operators.h"
#include "ir/printer.h"

namespace calotype {

using namespace internal;
namespace {

Expr var(const char *name, Type t) {
    return Variable::make(t, name);
}

const Expr i32 = var("i", Int(32));
const Expr i8 = var("s", Int(8));
const Expr u8 = var("b", UInt(8));
const Expr u16 = var("h", UInt(16));
const Expr i16 = var("t", Int(16));
const Expr f16 = var("q", Float(16));
const Expr f32 = var("f", Float(32));
const Expr f64 = var("d", Float(64));
const Expr p = var("p", Bool());
const Expr handle = var("v", Handle());

TEST(Operators, ConstantsTakeTheOtherType) {
    EXPECT_EQ(to_string(u8 + 1), "b:uint8 + (uint8)1");
    EXPECT_EQ(to_string(1 - u8), "(uint8)1 - b:uint8");
    EXPECT_EQ(to_string(f16 * 2), "q:float16 * (float16)2.0");
    EXPECT_EQ(to_string(f32 * 0.5f), "f:float32 * 0.5f");
    EXPECT_EQ(to_string(i32 * 0.5f), "float32(i) * 0.5f");
    EXPECT_EQ(to_string(f64 * 0.5f), "d:float64 * (float64)0.5");
    EXPECT_EQ(to_string(u8 + Expr(1)), "int32(b:uint8) + 1");
    EXPECT_EQ(to_string(max(u8, 3)), "max(b:uint8, (uint8)3)");
    EXPECT_EQ(to_string(u8 < 3), "b:uint8 < (uint8)3");
}

#ifdef CALOTYPE_CPP_COMPILER_HAS_FLOAT16
TEST(Operators, TakeTheCompilersOwnFloat16) {
    EXPECT_EQ(to_string(Expr(_Float16(1.5))), "(float16)1.5");
    EXPECT_EQ(to_string(f16 * Expr(_Float16(0.25))), "q:float16 * (float16)0.25");
}
#endif

TEST(Operators, TypesMatch) {
    EXPECT_EQ((u8 + u16).type(), UInt(16));
    EXPECT_EQ((u8 + i8).type(), Int(8));
    EXPECT_EQ((u16 + i8).type(), Int(16));
    EXPECT_EQ((i32 + f16).type(), Float(16));
    EXPECT_EQ((f16 + f32).type(), Float(32));
    EXPECT_EQ((f16 + var("x", BFloat(16))).type(), Float(32));
    EXPECT_EQ((u8 == u16).type(), Bool());
    EXPECT_EQ((var("x", Int(32, 4)) + u8).type(), Int(32, 4));
    EXPECT_EQ((handle == handle).type(), Bool());
}

TEST(Operators, Fold) {
    EXPECT_EQ(to_string(Expr(2) + Expr(3) * 4), "14");
    EXPECT_EQ(to_string(Expr(-7) / 2), "-4");
    EXPECT_EQ(to_string(Expr(-7) % 2), "1");
    EXPECT_EQ(to_string(Expr(-7) / -2), "4");
    EXPECT_EQ(to_string(Expr(7) / 0), "0");
    EXPECT_EQ(to_string(Expr(7) % 0), "0");
    EXPECT_EQ(to_string(Expr(uint8_t(200)) + Expr(uint8_t(100))), "(uint8)44");
    EXPECT_EQ(to_string(Expr(int8_t(100)) + Expr(int8_t(100))), "(int8)-56");
    EXPECT_EQ(to_string(Expr(INT32_MAX) + 1), "2147483647 + 1");
    EXPECT_EQ(to_string(Expr(2) < Expr(3)), "true");
    EXPECT_EQ(to_string(!(Expr(2) < Expr(3))), "false");
    EXPECT_EQ(to_string(-Expr(2.5f)), "-2.5f");
    EXPECT_EQ(to_string(min(Expr(2), Expr(3), Expr(1))), "1");
}

TEST(Operators, Casts) {
    EXPECT_EQ(to_string(cast<uint8_t>(i32)), "uint8(i)");
    EXPECT_TRUE(cast<int>(i32).same_as(i32));
    EXPECT_EQ(to_string(cast<uint8_t>(Expr(300))), "(uint8)44");
    EXPECT_EQ(to_string(cast<int>(Expr(-2.9f))), "-2");
    EXPECT_EQ(to_string(cast<bool>(Expr(0.5f))), "false");
    EXPECT_EQ(to_string(cast<bool>(Expr(6))), "false");
    EXPECT_EQ(to_string(cast<bool>(Expr(-3))), "true");
    EXPECT_EQ(to_string(cast<bool>(u8)), "bitwise_and(b:uint8, (uint8)1) != (uint8)0");
    EXPECT_EQ(to_string(cast<bool>(cast<bool>(u8) && true)), to_string(cast<bool>(u8) && true));
    EXPECT_EQ(cast(Bool(4), i32).type(), Bool(4));
    EXPECT_EQ(to_string(cast<uint8_t>(Expr(1e9f))), "uint8(1e+09f)");
    EXPECT_EQ(to_string(cast(Float(32, 4), i32)), "broadcast(float32(i), 4)");
    EXPECT_EQ(to_string(ConciseCasts::u8_sat(i32)), "saturating_cast(i):uint8");
    EXPECT_EQ(to_string(ConciseCasts::i32(u8)), "int32(b:uint8)");
    EXPECT_EQ(to_string(saturating_cast<int32_t>(u8)), "int32(b:uint8)");
    EXPECT_EQ(to_string(reinterpret<uint32_t>(f32)), "reinterpret<uint32>(f:float32)");
}

TEST(Operators, Choice) {
    EXPECT_EQ(to_string(select(p, u8, 3)), "select(p:bool, b:uint8, (uint8)3)");
    EXPECT_EQ(to_string(select(p, 1, 2)), "select(p:bool, 1, 2)");
    EXPECT_EQ(to_string(select(i32 == 0, f32, i32 == 1, 2.0f, 3.0f)),
              "select(i == 0, f:float32, select(i == 1, 2.0f, 3.0f))");
    EXPECT_EQ(to_string(mux(i32, {f32, 1.0f, 2.0f})),
              "select(i == 0, f:float32, select(i == 1, 1.0f, 2.0f))");
    EXPECT_EQ(to_string(clamp(u8, 2, 20)), "max(min(b:uint8, (uint8)20), (uint8)2)");
    EXPECT_EQ(to_string(clamp(i16, u8, 300)), "max(min(t:int16, (int16)300), int16(b:uint8))");
    EXPECT_EQ(to_string(abs(i8)), "abs(s:int8):uint8");
    EXPECT_TRUE(abs(u8).same_as(u8));
    EXPECT_EQ(to_string(absd(u8, i16)), "absd(int16(b:uint8), t:int16):uint16");
    EXPECT_EQ(to_string(lerp(u8, 0, u16)), "lerp(b:uint8, (uint8)0, h:uint16)");
}

TEST(Operators, Bits) {
    EXPECT_EQ(to_string(u8 & 7), "bitwise_and(b:uint8, (uint8)7)");
    EXPECT_EQ(to_string(u8 | u16), "bitwise_or(uint16(b:uint8), h:uint16)");
    EXPECT_EQ(to_string(i8 ^ u8), "bitwise_xor(s:int8, int8(b:uint8))");
    EXPECT_EQ(to_string(u8 << 3), "shift_left(b:uint8, (uint8)3)");
    EXPECT_EQ(to_string(u8 >> -3), "shift_right(b:uint8, (int8)-3)");
    EXPECT_EQ(to_string(~u8), "bitwise_not(b:uint8)");
    EXPECT_EQ(to_string(i32 >> u8), "shift_right(i, uint32(b:uint8))");
    EXPECT_EQ(extract_bits<uint8_t>(i32, 8).type(), UInt(8));
    EXPECT_EQ(concat_bits({u8, u8, u8, u8}).type(), UInt(32));
    EXPECT_EQ(to_string(div_round_to_zero(u8, u8)), "b:uint8 / b:uint8");
}

TEST(Operators, FixedPoint) {
    EXPECT_EQ(widening_add(u8, u8).type(), UInt(16));
    EXPECT_EQ(widening_sub(u8, u8).type(), Int(16));
    EXPECT_EQ(widening_mul(u8, i8).type(), Int(16));
    EXPECT_EQ(to_string(widening_mul(u8, i8)), "widening_mul(b:uint8, s:int8):int16");
    EXPECT_EQ(widening_shift_left(u8, 3).type(), UInt(16));
    EXPECT_EQ(widen_right_add(u16, u8).type(), UInt(16));
    EXPECT_EQ(to_string(rounding_shift_right(i16, 2)), "rounding_shift_right(t:int16, (int16)2)");
    EXPECT_EQ(to_string(mul_shift_right(i16, i16, 15)),
              "mul_shift_right(t:int16, t:int16, (uint16)15)");
    EXPECT_EQ(halving_add(u8, u16).type(), UInt(16));
}

TEST(Operators, HintsAndEffects) {
    EXPECT_EQ(to_string(likely(i32 < 3)), "likely(i < 3)");
    EXPECT_EQ(to_string(print(i32, " is", f32)), "return_second(print(i, \" is\", f:float32), i)");
    EXPECT_EQ(to_string(print_when(p, u8, i32)),
              "return_second(print_when(p:bool, b:uint8, i):uint8, b:uint8)");
    EXPECT_EQ(
        to_string(require(i32 > 0, u8, "i is", i32)),
        "require(likely(i > 0), b:uint8, \"i > 0\", stringify(\"\", \"i is\", \" \", i)):uint8");
    EXPECT_EQ(to_string(undef<float>()), "undef():float32");
    EXPECT_EQ(to_string(memoize_tag(u8, i32)), "memoize_expr(b:uint8, i)");
    EXPECT_EQ(to_string(unsafe_promise_clamped(u8, 1, 5)),
              "unsafe_promise_clamped(b:uint8, (uint8)1, (uint8)5)");
    EXPECT_EQ(to_string(strict_float(f32 + 1.0f > f32 && i32 + 1 > 2)),
              "strict_lt(f:float32, strict_add(f:float32, 1.0f)):bool && i + 1 > 2");
    EXPECT_EQ(random_float().type(), Float(32));
    EXPECT_NE(to_string(random_uint()), to_string(random_uint()));
    EXPECT_EQ(to_string(scatter(i32, 3)), "scatter_gather(i, 3)");
    EXPECT_EQ(target_natural_vector_size<float>().type(), Int(32));
}

TEST(Operators, Math) {
    EXPECT_EQ(to_string(sqrt(i32)), "sqrt(float32(i))");
    EXPECT_EQ(sin(f64).type(), Float(64));
    EXPECT_EQ(atan2(f16, f32).type(), Float(32));
    EXPECT_EQ(to_string(pow(i32, 3)), "i * (i * i)");
    EXPECT_EQ(to_string(pow(f32, -1)), "1.0f / f:float32");
    EXPECT_EQ(to_string(pow(f32, 0)), "1.0f");
    EXPECT_EQ(to_string(pow(i32, f32)), "pow(float32(i), f:float32)");
    EXPECT_EQ(to_string(is_nan(f32)), "is_nan(f:float32):bool");
    EXPECT_EQ(fma(f16, f32, f64).type(), Float(64));
}

TEST(OperatorErrors, UndefinedAndIllTyped) {
    EXPECT_COMPILE_ERROR(i32 + Expr(), "+ of an undefined expression");
    EXPECT_COMPILE_ERROR(handle + handle, "+ of handles");
    EXPECT_COMPILE_ERROR(handle + 1, "+ of a handle and the constant 1");
    EXPECT_COMPILE_ERROR(handle < f32, "< of types handle and float32");
    EXPECT_COMPILE_ERROR(i32 && p, "&& of type int32, must be bool");
    EXPECT_COMPILE_ERROR(!i32, "! of type int32, must be bool");
    EXPECT_COMPILE_ERROR(f32 & 1, "& of type float32, must be an integer");
    EXPECT_COMPILE_ERROR(var("x", Int(32, 4)) + var("y", Int(32, 8)),
                         "+ of a vector of 4 lanes and one of 8 lanes");
    EXPECT_COMPILE_ERROR(fast_exp(f64), "fast_exp of type float64, must be float32");
    EXPECT_COMPILE_ERROR(
        cast<int64_t>(handle),
        "cast from handle to int64: a handle converts to handles only (reinterpret to uint64)");
    EXPECT_COMPILE_ERROR(reinterpret<int64_t>(f32),
                         "reinterpret from float32 (32 bits) to int64 (64 bits)");
}

TEST(OperatorErrors, ConstantsThatDoNotFit) {
    EXPECT_COMPILE_ERROR(u8 + 300,
                         "+ of type uint8 and the constant 300, which does not fit that type");
    EXPECT_COMPILE_ERROR(-1 < u8,
                         "< of type uint8 and the constant -1, which does not fit that type");
    EXPECT_COMPILE_ERROR(u8 << 8, "<< of type uint8 by 8, must be less than 8 either way");
    EXPECT_COMPILE_ERROR(mul_shift_right(i16, i16, 40),
                         "mul_shift_right of type int16 by 40, must be from 0 to 31");
    EXPECT_COMPILE_ERROR(mod_round_to_zero(i32, 0), "mod_round_to_zero by zero");
}

// Of whatever width the constant is.
TEST(Operators, ConstantsOfASelectTakeTheTypeOfTheOtherValue) {
    const Expr narrow = cast(Int(16), 0);
    EXPECT_EQ(select(p, narrow, f32).type(), Float(32));
    EXPECT_EQ(select(p, u8, narrow).type(), UInt(8));
    EXPECT_EQ(select(p, narrow, i32).type(), Int(32));
    EXPECT_COMPILE_ERROR(select(p, i16, f32), "the values of a select have types int16 and "
                                              "float32, must have one type; cast one of them");
}

TEST(OperatorErrors, Choice) {
    EXPECT_COMPILE_ERROR(select(i32, f32, f32),
                         "the condition of a select has type int32, must be bool");
    EXPECT_COMPILE_ERROR(select(p, f32, u8), "the values of a select have types float32 and uint8, "
                                             "must have one type; cast one of them");
    EXPECT_COMPILE_ERROR(
        clamp(u8, 0, i32),
        "clamp of type uint8 to a maximum of type int32, which may not fit; cast it");
    EXPECT_COMPILE_ERROR(mux(i32, std::vector<Expr>()), "mux of no values, must have at least 1");
    EXPECT_COMPILE_ERROR(
        mux(i32, {f32, i32, f32}),
        "mux of values of types int32 and float32, must have one type; cast one of them");
    EXPECT_COMPILE_ERROR(
        lerp(u8, u8, i32),
        "the weight of a lerp has type int32, must be a float or an unsigned integer of at most 32 "
        "bits");
    EXPECT_COMPILE_ERROR(lerp(u8, u8, 1.5f),
                         "the weight of a lerp of integers is 1.5, must be from 0 to 1");
    EXPECT_EQ(lerp(f32, f32, 1.5f).type(), Float(32));
    EXPECT_COMPILE_ERROR(
        lerp(u8, u16, f32),
        "lerp between types uint8 and uint16, must be one type of number; cast one of them");
}

TEST(OperatorErrors, FixedPointAndHints) {
    EXPECT_COMPILE_ERROR(widening_mul(cast<int64_t>(i32), i32),
                         "widening_mul of type int64, must have at most 32 bits");
    EXPECT_COMPILE_ERROR(
        widen_right_add(i32, u8),
        "widen_right_add of types int32 and uint8, the first must have twice the bits");
    EXPECT_COMPILE_ERROR(concat_bits({u8, u8, u8}),
                         "concat_bits of 3 values, must be 1, 2, 4 or 8");
    EXPECT_COMPILE_ERROR(require(i32, u8), "the condition of require has type int32, must be bool");
    EXPECT_COMPILE_ERROR(random_int(f32),
                         "the seed of random_int has type float32, must be int32 or uint32");
    EXPECT_COMPILE_ERROR(scatter(i32, f32), "scatter of types int32 and float32, must be one type");
    EXPECT_COMPILE_ERROR(unsafe_promise_clamped(u8, 0, i32),
                         "unsafe_promise_clamped of type uint8 with a maximum of type int32, which "
                         "may not fit; cast "
                         "it");
}

}  // namespace
}  // namespace calotype
