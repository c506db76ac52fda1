// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/language/fast_divide.h"

#include <algorithm>
#include <random>

#include "harness/expect_error.h"
#include "harness/interpret.h"
#include "ir/constants.h"
#include "ir/equality.h"
#include "ir/language/bits.h"
#include "ir/operators.h"

namespace calotype {

using namespace internal;
namespace {

/// The fast functions agree with the plain ones for numerators of type t, all denominators.
void check_type(Type t, int samples) {
    const Expr n = Variable::make(t, "n"), d = Variable::make(UInt(8), "d");
    const Expr wide = cast(Int(64), n);
    const Expr agree = cast(Int(64), fast_integer_divide(n, d)) == wide / d &&
                       fast_integer_modulo(n, d) == cast(t, wide % d) &&
                       cast(Int(64), fast_integer_divide_round_to_zero(n, d)) ==
                           select(wide < 0, -(-wide / d), wide / d);
    std::mt19937 random(9);
    for (int denominator = 0; denominator < 256; denominator++) {
        for (int i = 0; i < samples; i++) {
            const int64_t edge[] = {
                0, 1, -1, denominator, -denominator, denominator - 1, INT32_MAX, INT32_MIN};
            // A multiple of the denominator, or one off, is where a quotient could be wrong.
            const int64_t near =
                int64_t(random()) / std::max(denominator, 1) * denominator + i % 3 - 1;
            const int64_t x = i < 8 ? edge[i] : near;
            test::Interpreter interpreter;
            interpreter.variables = {{"n", test::Value::integer(t, x)},
                                     {"d", test::Value::integer(UInt(8), denominator)}};
            ASSERT_EQ(interpreter.evaluate(agree), test::Value::integer(Bool(), 1))
                << t << " " << x << " by " << denominator;
        }
    }
}

TEST(FastDivide, AgreesWithDivision) {
    for (Type t : {UInt(8), Int(8), UInt(16), Int(16), UInt(32), Int(32)}) {
        check_type(t, 40);
    }
}

// A number, or a byte that was made wider, is a denominator as well.
TEST(FastDivide, OtherDenominators) {
    const Expr d = Variable::make(UInt(8), "d");
    for (Type t : {UInt(8), Int(8), UInt(16), Int(16), UInt(32), Int(32)}) {
        const Expr n = Variable::make(t, "n");
        EXPECT_TRUE(equal(fast_integer_divide(n, cast(Int(32), d)), fast_integer_divide(n, d)));
        EXPECT_TRUE(equal(fast_integer_divide(n, 4), n / 4));
        EXPECT_TRUE(equal(fast_integer_modulo(n, 7), n % 7));
        EXPECT_TRUE(
            equal(fast_integer_divide_round_to_zero(n, 5), div_round_to_zero(n, make_const(t, 5))));
    }
    const Expr real = Variable::make(Float(32), "r");
    EXPECT_TRUE(equal(fast_integer_divide(real, 4), real / 4));
    // 200 is no int8: -128 / 200 is -1, and -128 % 200 is 72.
    const Expr small = Variable::make(Int(8), "n");
    test::Interpreter interpreter;
    interpreter.variables = {{"n", test::Value::integer(Int(8), -128)}};
    EXPECT_EQ(interpreter.evaluate(fast_integer_divide(small, 200)),
              test::Value::integer(Int(8), -1));
    EXPECT_EQ(interpreter.evaluate(fast_integer_modulo(small, 200)),
              test::Value::integer(Int(8), 72));
}

TEST(FastDivide, Errors) {
    const Expr x = Variable::make(Int(64), "x"), d = Variable::make(UInt(8), "d");
    EXPECT_COMPILE_ERROR(
        fast_integer_divide(x, d),
        "fast_integer_divide of type int64, must be an integer of 8, 16 or 32 bits");
    EXPECT_COMPILE_ERROR(fast_integer_modulo(d, x),
                         "fast_integer_modulo by a denominator of type int64, must be uint8");
    EXPECT_COMPILE_ERROR(fast_integer_divide(d, 256),
                         "fast_integer_divide by a denominator of type int32, must be uint8");
}

}  // namespace
}  // namespace calotype
