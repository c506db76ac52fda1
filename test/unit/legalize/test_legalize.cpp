// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "legalize/legalize.h"

#include <gtest/gtest.h>

#include "harness/random_exprs.h"
#include "ir/parser.h"
#include "ir/printer.h"
#include "ir/visitor.h"

namespace calotype::internal {
namespace {

/// Has nothing that can be done without.
Capabilities least() {
    Capabilities can;
    can.has_small_float_operation = [](NodeKind, Type) {
        return false;
    };
    can.has_intrinsic = [](const Call *op) {
        switch (op->intrinsic) {
        case Intrinsic::shift_left:
        case Intrinsic::shift_right:
            return op->args[1].type().is_uint();
        case Intrinsic::bitwise_and:
        case Intrinsic::bitwise_or:
        case Intrinsic::bitwise_xor:
        case Intrinsic::bitwise_not:
            return op->type.is_int_or_uint() && !op->type.is_bool();
        default:
            return false;
        }
    };
    return can;
}

std::string legal(const std::string &text) {
    return to_string(legalize(parse_expr(text), least()));
}

TEST(Legalize, SmallFloatsAreRoundedAfterEachOperation) {
    EXPECT_EQ(legal("a:float16 + b:float16 * c:float16"),
              "float16(float32(a:float16) + float32(float16(float32(b:float16) * "
              "float32(c:float16))))");
    EXPECT_EQ(legal("a:bfloat16 < b:bfloat16"), "float32(a:bfloat16) < float32(b:bfloat16)");
    EXPECT_EQ(legal("a:float32 + b:float32"), "a:float32 + b:float32");
    EXPECT_EQ(legal("sqrt(a:float16)"), "float16(sqrt(float32(a:float16)))");
}

TEST(Legalize, WhatAMachineHasStays) {
    Capabilities can = least();
    can.has_small_float_operation = [](NodeKind kind, Type t) {
        return kind == NodeKind::Add && !t.is_bfloat();
    };
    const Expr sum = parse_expr("a:float16 + b:float16");
    EXPECT_TRUE(legalize(sum, can).same_as(sum));
    can.has_intrinsic = [](const Call *) {
        return true;
    };
    const Expr halves = parse_expr("halving_add(a, b)");
    EXPECT_TRUE(legalize(halves, can).same_as(halves));
}

TEST(Legalize, ArgumentsAreEvaluatedOnce) {
    EXPECT_EQ(legal("halving_add(f(a), b)"),
              "let legal$0 = f(a) in bitwise_and(legal$0, b) + shift_right(bitwise_xor(legal$0, "
              "b), (uint32)1)");
}

TEST(Legalize, ShiftsByConstantsThatRoundAreShort) {
    EXPECT_EQ(legal("rounding_shift_right(a, (uint32)16)"),
              "shift_right(shift_right(a, (uint32)15) + 1, (uint32)1)");
    EXPECT_EQ(legal("rounding_shift_right(a, (uint32)1)"),
              "shift_right(a, (uint32)1) + bitwise_and(a, 1)");
    // No product is so large that half of what is cut off does not fit.
    EXPECT_EQ(legal("rounding_mul_shift_right(a:int16, b:int16, (uint16)16)"),
              "let `.product` = int32(a:int16) * int32(b:int16) in "
              "int16(min(max(shift_right(`.product` + 32768, (uint32)16), -32768), 32767))");
    // In vectors, shifts of signed 64 bits are several operations on many machines.
    EXPECT_EQ(legal("rounding_shift_right(a:int64, (uint64)16)"),
              "shift_right(shift_right(a:int64, (uint64)15) + (int64)1, (uint64)1)");
    EXPECT_EQ(legal("rounding_shift_right(a:int64x2, broadcast((uint64)16, 2))"),
              "shift_right(a:int64x2, broadcast((uint64)16, 2)) + "
              "bitwise_and(shift_right(a:int64x2, broadcast((uint64)15, 2)), "
              "broadcast((int64)1, 2))");
}

TEST(Legalize, StrictFloatIsFound) {
    EXPECT_TRUE(contains_strict_float(parse_stmt("f[0] = strict_add(a:float32, b:float32)")));
    EXPECT_FALSE(contains_strict_float(parse_stmt("f[0] = a:float32 + b:float32")));
}

/// Intrinsics that have a form by simpler operations are gone, and so is arithmetic on small
/// floats.
class IsLegal : public GraphVisitor {
public:
    bool holds = true;

private:
    using GraphVisitor::visit;
#define ARITH(Name, symbol)                                                                        \
    void visit(const Name *op) override {                                                          \
        holds = holds && !is_small_float(op->a.type());                                            \
        GraphVisitor::visit(op);                                                                   \
    }
#define COMPARE(Name, symbol) ARITH(Name, symbol)
#define EXPR(Name)
#define LOGIC(Name, symbol)
#include "ir/nodes.def"
    void visit(const Call *op) override {
        holds = holds && !op->is_intrinsic(Intrinsic::lerp) &&
                !op->is_intrinsic(Intrinsic::halving_add) &&
                !op->is_intrinsic(Intrinsic::saturating_cast);
        GraphVisitor::visit(op);
    }
};

TEST(Legalize, KeepsTheValuesOfRandomExpressions) {
    int compared = 0;
    for (uint32_t seed = 1; seed <= 40; seed++) {
        const test::RandomExprs batch = test::random_exprs(seed, 40);
        for (const Expr &e : batch.exprs) {
            test::Value before, after;
            if (!test::defined_value(e, batch.values, &before)) {
                continue;
            }
            const Expr simple = legalize(e, least());
            IsLegal check;
            check(simple);
            EXPECT_TRUE(check.holds) << simple;
            ASSERT_TRUE(test::defined_value(simple, batch.values, &after)) << e << "\n" << simple;
            EXPECT_TRUE(after == before)
                << "seed " << seed << ": " << e << "\nis " << test::to_string(before)
                << ", legalized " << test::to_string(after) << "\n"
                << simple;
            compared++;
        }
    }
    EXPECT_GT(compared, 500);
}

}  // namespace
}  // namespace calotype::internal
