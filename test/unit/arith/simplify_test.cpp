// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What simplify() makes of expressions and statements that lowering produces, as text.
#include <gtest/gtest.h>

#include "arith/finite_floats.h"
#include "arith/simplify.h"
#include "ir/constants.h"
#include "ir/operators.h"
#include "ir/parser.h"
#include "ir/printer.h"
#include "ir/with.h"

namespace calotype {

using namespace internal;

namespace {

std::string simplified(const std::string &text, const SimplifyContext &context = {}) {
    return to_string(simplify(parse_expr(text), context));
}

bool proves(const std::string &text, const SimplifyContext &context = {}) {
    return can_prove(parse_expr(text), context);
}

struct Case {
    const char *before, *after;
};

class Simplify : public testing::TestWithParam<Case> {};

TEST_P(Simplify, GivesExactlyThis) {
    EXPECT_EQ(simplified(GetParam().before), GetParam().after) << "of " << GetParam().before;
}

constexpr Case sums[] = {
    {"1 + 2 * 3", "7"},
    {"(x + 3) - (x + 1)", "2"},
    {"((x + y) + 3) - (y + 1)", "x + 2"},
    {"x + y + z - (z + x)", "y"},
    {"x * 3 + x * 5", "x * 8"},
    {"(x + 3) * 4", "x * 4 + 12"},
    {"x - min(x, y)", "max(x - y, 0)"},
    {"3 + x", "x + 3"},
};
INSTANTIATE_TEST_SUITE_P(Sums, Simplify, testing::ValuesIn(sums));

// Between a value and itself; with floats that is a matter of the last bits.
TEST(SimplifyLerp, OfEqualEnds) {
    const std::string floats = "lerp(a:float32, a:float32, w:float32)";
    EXPECT_EQ(simplified("lerp(u:uint8, u:uint8, w:uint8):uint8"), "u:uint8");
    EXPECT_EQ(simplified(floats), floats);
    EXPECT_EQ(to_string(simplify_finite(parse_expr(floats))), "a:float32");
}

// What a specialization says of an exponent.
constexpr Case powers[] = {
    {"pow(a:float32, 1.0f)", "a:float32"},
    {"pow(a:float32, 2.0f)", "a:float32 * a:float32"},
    {"pow(a:float32, 0.5f)", "pow(a:float32, 0.5f)"},
    {"pow(extern next():float32, 2.0f)", "pow(extern next():float32, 2.0f)"},
};
INSTANTIATE_TEST_SUITE_P(Powers, Simplify, testing::ValuesIn(powers));

// What has an effect is neither dropped, merged nor copied.
constexpr Case effects[] = {
    {"extern next() + extern next()", "extern next() + extern next()"},
    {"extern next()*2 + extern next()", "extern next() * 2 + extern next()"},
    {"extern next() - extern next()", "extern next() - extern next()"},
    {"extern next() * 0", "extern next() * 0"},
    {"min(extern next(), extern next())", "min(extern next(), extern next())"},
    {"select(c:bool, extern next(), extern next())",
     "select(c:bool, extern next(), extern next())"},
    {"extern next() + 1 + 2", "extern next() + 3"},
    {"pure_extern value() + pure_extern value()", "pure_extern value() * 2"},
};
INSTANTIATE_TEST_SUITE_P(Effects, Simplify, testing::ValuesIn(effects));

// What is read may be near the ends of its type, where sums that the user did not write might overflow.
constexpr Case data[] = {
    {"(x - 3) / 4", "(x + 1) / 4 + -1"},
    {"(a[i] - 3) / 4", "(a[i] + -3) / 4"},
    {"(a[i] - 3) % 5", "(a[i] + -3) % 5"},
    {"(-3 - a[i]) / 4", "(-3 - a[i]) / 4"},
    {"(a[i] * -3) % 100", "a[i] * -3 % 100"},
    {"(a[i] / 4 - 1) / 2", "(a[i] / 4 + 1) / 2 + -1"},
    {"(a[i] / 2 + 1) / 2", "(a[i] / 2 + 1) / 2"},
    {"(a[i] + 7) / 4", "(a[i] + 3) / 4 + 1"},
    {"(int32(a[i]:int16) - 3) / 4", "(int32(a[i]:int16) + 1) / 4 + -1"},
    {"x - y < 7", "x < y + 7"},
    {"a[i] - b[i] < 7", "a[i] - b[i] < 7"},
    {"a[i] + 5 < 7", "a[i] < 2"},
    {"a[i] + 3 < b[i] + 5", "a[i] < b[i] + 2"},
    {"a[i] - 3 < b[i] + 5", "a[i] + -3 < b[i] + 5"},
    {"int32(a[i]:int16) - int32(b[i]:int16) < 7", "int32(a[i]:int16) < int32(b[i]:int16) + 7"},
    {"min(a[i] - 2, b[i] - 5)", "min(a[i] + -2, b[i] + -5)"},
    {"min(a[i] + 2, b[i] + 5)", "min(a[i], b[i] + 3) + 2"},
    {"a[i] + b[i] + 5 < c[i]", "a[i] + b[i] + 5 < c[i]"},
    {"let v = a[i] + b[i] in select(x < y, v + 5 < c[i], v < d[i])",
     "let v = a[i] + b[i] in select(x < y, v + 5 < c[i], v < d[i])"},
    {"a[i] - min(a[i], b[i])", "a[i] - min(a[i], b[i])"},
    // Of a running extreme each value is the one before and something.
    {"max(max(a[i]:uint8, (uint8)3), b[i]:uint8)", "max(b[i]:uint8, max(a[i]:uint8, (uint8)3))"},
    {"max(max(max(a[i]:uint8, (uint8)3), b[i]:uint8), (uint8)2)",
     "max(b[i]:uint8, max(a[i]:uint8, (uint8)3))"},
    {"min(min(min(a[i]:uint8, (uint8)3), b[i]:uint8), (uint8)2)",
     "min(min(a[i]:uint8, b[i]:uint8), (uint8)2)"},
    // A choice between operands that fit fits.
    {"select(x < y, (a[i] + b[i]) / 3, (a[i] * b[i]) / 3)",
     "select(x < y, a[i] + b[i], a[i] * b[i]) / 3"},
    {"select(x < y, (a[i] + b[i]) % 5, c[i] % 5)", "select(x < y, a[i] + b[i], c[i]) % 5"},
    {"select(x < y, min(a[i] + b[i], c[i]), min(a[i] * b[i], c[i]))",
     "min(c[i], select(x < y, a[i] + b[i], a[i] * b[i]))"},
};
INSTANTIATE_TEST_SUITE_P(Data, Simplify, testing::ValuesIn(data));

constexpr Case quotients[] = {
    {"(x*8 + 4) / 8", "x"},
    {"(x*8 + y) / 8", "y / 8 + x"},
    {"(x / 4) / 3", "x / 12"},
    {"(x*6) % 3", "0"},
    {"(x + 8) % 8", "x % 8"},
    {"x - (x/8)*8", "x % 8"},
    {"max(x / 2, (x + 1) / 2 + 1)", "(x + 1) / 2 + 1"},
    {"min(x / 3 + 2, (x + 1) / 3)", "(x + 1) / 3"},
    {"max((x + 3) / 4, (x + 1) / 4 + 1)", "(x + 1) / 4 + 1"},
    {"x / 2 <= (x + 1) / 2", "true"},
    {"(x + 5) / 4 < x / 4 + 1", "false"},
    {"(x + y) / 8 - (x % 8 + y) / 8", "x / 8"},
    // Numerators that are a constant apart, though they are not written so.
    {"min(x + 15, y) / 2 - min(x, y - 15) / 2", "min(y + -15, x) % 2 + 7"},
    {"min(x, y - 15) / 2 - min(x + 15, y) / 2", "-7 - min(y + -15, x) % 2"},
    {"min(x + 15, y) / 2 + 2 - (z + max(min(x, y - 15), 4) / 2)",
     "min(x + 15, y) / 2 - (max(min(y + -15, x), 4) / 2 + z) + 2"},
    {"max(x + 6, y) / 4 + z + 3 - max(x, y - 6) / 4", "(max(y + -6, x) % 4 + 2) / 4 + z + 4"},
    {"z + min(x, y - 15) / 2 < min(x + 15, y) / 2 + 2", "z < min(y + -15, x) % 2 + 9"},
    {"min(x + 15, y) * 3 - min(x, y - 15) * 3", "45"},
    {"(x % 2 + 1) / 2", "x % 2"},
};
INSTANTIATE_TEST_SUITE_P(Quotients, Simplify, testing::ValuesIn(quotients));

constexpr Case vectors[] = {
    {"slice(ramp(x, 2, 8), 0, 2, 4)", "ramp(x, 4, 4)"},
    {"concat(ramp(x, 1, 4), ramp(x + 4, 1, 4))", "ramp(x, 1, 8)"},
    {"concat(ramp(x, 1, 4), ramp(x + 5, 1, 4))", "concat(ramp(x, 1, 4), ramp(x + 5, 1, 4))"},
    {"interleave(ramp(x, 2, 4), ramp(x + 1, 2, 4))", "ramp(x, 1, 8)"},
    {"slice(concat(a:int32x4, b:int32x4), 4, 1, 4)", "b:int32x4"},
    {"slice(broadcast(a:int32x4, 3), 4, 1, 4)", "a:int32x4"},
    {"slice(broadcast(a:int32x4, 3), 1, 4, 3)", "broadcast(slice(a:int32x4, 1, 1, 1), 3)"},
    {"slice(shuffle([a:int32x4], [0, 0, 1, 1, 2, 2, 3, 3]), 1, 2, 4)", "a:int32x4"},
    {"shuffle([ramp(x, 2, 4)], [0, 0, 1, 1, 2, 2, 3, 3]) + broadcast(ramp(0, 1, 2), 4)",
     "ramp(x, 1, 8)"},
    {"vector_reduce(add, broadcast(x, 8), 1)", "x * 8"},
    {"vector_reduce(and, ramp(x, 1, 8) <= broadcast(y, 8), 1)", "x + 7 <= y"},
    {"vector_reduce(or, ramp(x, 1, 8) <= broadcast(y, 8), 1)", "x <= y"},
    {"vector_reduce(and, broadcast(y, 8) < ramp(x, -2, 8), 1)", "y < x + -14"},
    {"vector_reduce(or, !(ramp(x, 1, 8) < broadcast(y, 8)), 1)", "y + -7 <= x"},
    {"vector_reduce(and, vector_reduce(and, shuffle([ramp(x, 1, 4) < broadcast(y, 4)], [0, 2, 1, "
     "3]), 2), 1)",
     "x < y + -3"},
    {"vector_reduce(or, vector_reduce(or, shuffle([ramp(x, 1, 4) < broadcast(y, 4)], [3, 2, 1, "
     "0]), 2), 1)",
     "x < y"},
    {"vector_reduce(and, shuffle([ramp(x, 1, 4) < broadcast(y, 4)], [0, 2, 1, 1]), 1)",
     "vector_reduce(and, shuffle([ramp(x, 1, 4) < broadcast(y, 4)], [0, 2, 1, 1]), 1)"},
    {"vector_reduce(and, ramp(x, 1, 8) <= broadcast(y, 8) && broadcast(z, 8) <= ramp(x, 1, 8), 1)",
     "x + 7 <= y && z <= x"},
    {"ramp(x, 2, 8) * broadcast(y, 8) + broadcast(z, 8)", "ramp(x * y + z, y * 2, 8)"},
    {"ramp(x * 4, 1, 4) / broadcast(4, 4)", "broadcast(x, 4)"},
    // What an iteration adds to all lanes does not count where it is a multiple of the modulus.
    {"ramp(x * 8 + y, 1, 8) % broadcast(2, 8)", "ramp(y, 1, 8) % broadcast(2, 8)"},
    {"ramp(x * 8 + (y / 2 + 5), 1, 8) % broadcast(4, 8)",
     "ramp(y / 2 + 1, 1, 8) % broadcast(4, 8)"},
    {"ramp((x * 16 + y) / 2 + 3, 3, 8) % broadcast(2, 8)",
     "ramp(y / 2 + 1, 1, 8) % broadcast(2, 8)"},
    {"ramp(x * 6 + y, 1, 8) % broadcast(4, 8)", "ramp(x * 6 + y, 1, 8) % broadcast(4, 8)"},
    {"ramp(x, 2, 4) < broadcast(x + 7, 4)", "broadcast(true, 4)"},
};
INSTANTIATE_TEST_SUITE_P(Vectors, Simplify, testing::ValuesIn(vectors));

constexpr Case others[] = {
    {"x:uint16 / (uint16)2 / (uint16)2", "x:uint16 / (uint16)4"},
    {"x:uint8 / (uint8)16 / (uint8)32", "(uint8)0"},
    {"min(x * 8 + 7, y) - min(x * 8, y - 7)", "7"},
    {"int32(x < y) == 1", "x < y"},
    {"uint8(uint16(x:uint8))", "x:uint8"},
    {"2147483647 + 1", "signed_integer_overflow()"},
    {"2147483647 <= x + y - 1", "2147483647 <= x + y + -1"},
    {"(x - 1) * 3 < 2147483647", "x * 3 + -3 < 2147483647"},
    {"(uint8)200 + (uint8)100", "(uint8)44"},
    {"x:float32 + 1.0f + 2.0f", "x:float32 + 1.0f + 2.0f"},
    {"shift_left(x, 3) + bitwise_and(x, 7)", "x * 8 + x % 8"},
};
INSTANTIATE_TEST_SUITE_P(Others, Simplify, testing::ValuesIn(others));

TEST(CanProve, BoundsAndRounding) {
    EXPECT_TRUE(proves("(x/8)*8 <= x"));
    EXPECT_TRUE(proves("x < (x/8)*8 + 8"));
    EXPECT_TRUE(proves("min(x, y) <= max(x, z)"));
    EXPECT_FALSE(proves("min(x, y) < max(x, z)"));
    EXPECT_TRUE(proves("x + 3 < 20", SimplifyContext().bound("x", 0, 16)));
    EXPECT_FALSE(proves("x + 3 < 20", SimplifyContext().bound("x", 0, 17)));
    EXPECT_TRUE(proves("x % 4 == 0", SimplifyContext().align("x", 8)));
    EXPECT_TRUE(proves("(x + 15) / 16 * 16 == x", SimplifyContext().align("x", 16)));
    EXPECT_TRUE(proves("(x + 12) / 16 == x / 16", SimplifyContext().align("x", 16, 3)));
    EXPECT_TRUE(proves("x <= y", SimplifyContext().fact(parse_expr("x < y"))));
}

// What nothing is known about is left as it is the second time, wherever it stands; where something is known, it is
// looked at again.
TEST(SimplifyAgain, GivesTheSameNodes) {
    const Expr once = simplify(parse_expr("min(x + 3, y) + z / (w + 1) + 2"));
    EXPECT_TRUE(simplify(once).same_as(once));
    const Expr more = simplify(max(once, parse_expr("v:int32")));
    ASSERT_TRUE(more.as<Max>());
    EXPECT_TRUE(more.as<Max>()->a.same_as(once)) << more;
}

TEST(SimplifyAgain, LooksAtWhatIsKnown) {
    const Expr e = simplify(parse_expr("x < 3"));
    EXPECT_TRUE(is_const_one(simplify(e, SimplifyContext().bound("x", 0, 2))));
    EXPECT_TRUE(is_const_one(simplify(e, SimplifyContext().fact(e))));
    EXPECT_TRUE(is_const_one(simplify(Let::make("x", 2, e))));
    const Stmt store = Store::make("f", cast<int>(e), 0, const_true(), Alignment());
    EXPECT_EQ(to_string(simplify(
                  For::make("x", 0, 3, ForType::Serial, Partition::Auto, DeviceAPI::None, store))),
              "for (x, 0, 3) {\n  f[0] = 1\n}\n");
    EXPECT_TRUE(simplify(e).same_as(e));
}

TEST(SimplifyAgain, LooksAtCopiesWithOtherOperands) {
    const Expr sum = simplify(parse_expr("x + y"));
    EXPECT_EQ(to_string(simplify(with(sum.as<Add>(), &Add::b, Expr(0)))), "x");
}

}  // namespace
}  // namespace calotype
