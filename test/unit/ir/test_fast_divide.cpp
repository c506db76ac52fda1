// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/language/fast_divide.h"

#include <random>

#include "harness/expect_error.h"
#include "harness/interpret.h"
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
    for (int denominator = 1; denominator < 256; denominator++) {
        for (int i = 0; i < samples; i++) {
            const int64_t edge[] = {
                0, 1, -1, denominator, -denominator, denominator - 1, INT32_MAX, INT32_MIN};
            // A multiple of the denominator, or one off, is where a quotient could be wrong.
            const int64_t near = int64_t(random()) / denominator * denominator + i % 3 - 1;
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

TEST(FastDivide, Errors) {
    const Expr x = Variable::make(Int(64), "x"), d = Variable::make(UInt(8), "d");
    EXPECT_COMPILE_ERROR(
        fast_integer_divide(x, d),
        "fast_integer_divide of type int64, must be an integer of 8, 16 or 32 bits");
    EXPECT_COMPILE_ERROR(fast_integer_modulo(d, x),
                         "fast_integer_modulo by a denominator of type int64, must be uint8");
}

}  // namespace
}  // namespace calotype
