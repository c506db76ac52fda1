// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Expressions in narrower types: which are found, and that none changes a value.
#include <gtest/gtest.h>

#include "arith/narrowing.h"
#include "harness/interpret.h"
#include "ir/language/fixed_point.h"
#include "ir/printer.h"
#include "random_expr.h"

using namespace calotype;
using namespace calotype::internal;
using namespace calotype::test;

namespace {

const Expr byte = Variable::make(UInt(8), "byte"), small = Variable::make(Int(8), "small");

std::string text(const Expr &e) {
    std::ostringstream out;
    e.defined() ? out << e : out << "none";
    return out.str();
}

std::string narrow(Type t, const Expr &e) {
    return text(narrow_exactly(t, e));
}

TEST(Narrowing, OperationsWhoseResultsFit) {
    const Expr wide = cast(UInt(32), byte);
    EXPECT_EQ(narrow(UInt(16), wide + 16), text(cast(UInt(16), byte) + 16));
    EXPECT_EQ(narrow(UInt(16), wide * 257), text(cast(UInt(16), byte) * 257));
    EXPECT_EQ(narrow(UInt(32), cast(Int(64), cast(Int(32), byte) + 17)),
              text(cast(UInt(32), byte) + 17));
    EXPECT_EQ(narrow(Int(8), widening_sub(cast(Int(16), small) / 2, cast(Int(16), small) / 2)),
              "none")
        << "the quotients are not taken apart";
    EXPECT_EQ(narrow(Int(16), widening_sub(cast(Int(16), small), cast(Int(16), byte))),
              text(cast(Int(16), small) - cast(Int(16), byte)));
    EXPECT_EQ(narrow(UInt(8), min(wide, 9)), text(min(byte, cast(UInt(8), 9))));
    EXPECT_EQ(narrow(UInt(8), select(small > 0, wide, 3)),
              text(select(small > 0, byte, cast(UInt(8), 3))));
}

TEST(Narrowing, NotWhereValuesWouldChange) {
    const Expr wide = cast(UInt(32), byte);
    EXPECT_EQ(narrow(UInt(16), wide - 16), "none") << "it wraps";
    EXPECT_EQ(narrow(UInt(16), wide * 258), "none");
    EXPECT_EQ(narrow(UInt(8), wide + 1), "none");
    EXPECT_EQ(narrow(UInt(16), cast(Int(32), small) + 5), "none") << "it may be negative";
}

TEST(Narrowing, SumsOverLanes) {
    const Expr bytes = Variable::make(UInt(8, 4), "bytes"), flags = bytes > cast(UInt(8), 4);
    const auto reduce = [](VectorReduce::Operator op, const Expr &e) {
        return VectorReduce::make(op, e, 2);
    };
    EXPECT_EQ(narrow(UInt(16, 2), reduce(VectorReduce::Add, cast(UInt(32, 4), bytes))),
              text(reduce(VectorReduce::Add, cast(UInt(16, 4), bytes))));
    EXPECT_EQ(narrow(UInt(8, 2), reduce(VectorReduce::Add, cast(UInt(32, 4), bytes))), "none");
    EXPECT_EQ(narrow(Bool(2), reduce(VectorReduce::Min, cast(UInt(8, 4), flags))),
              text(reduce(VectorReduce::And, flags)));
    EXPECT_EQ(narrow(Bool(2), reduce(VectorReduce::Max, cast(UInt(8, 4), flags))),
              text(reduce(VectorReduce::Or, flags)));
    EXPECT_EQ(narrow(Bool(2), reduce(VectorReduce::Add, cast(UInt(8, 4), flags))), "none");
}

TEST(NarrowingProperty, KeepsEveryValue) {
    const std::vector<Type> types = {UInt(8), Int(8), UInt(16), Int(16), Int(32), UInt(32)};
    RandomExpr random(83);
    random.types = types;
    for (const Type &t : types) {
        random.variables.emplace_back("x_" + to_string(t), t);
    }
    int found = 0;
    for (int i = 0; i < 3000; i++) {
        const Expr e = random.make(types[size_t(random.below(6))], 3);
        const Type t = types[size_t(random.below(6))];
        const Expr result = narrow_exactly(t, e);
        if (!result.defined()) {
            continue;
        }
        ASSERT_EQ(result.type(), t);
        found++;
        for (int trial = 0; trial < 8; trial++) {
            Interpreter interpreter;
            for (const auto &[name, type] : random.variables) {
                interpreter.variables[name] = Value::integer(type, random.below(400) - 200);
            }
            const Value expected = interpreter.evaluate(e);
            if (interpreter.undefined()) {
                continue;
            }
            const Value actual = interpreter.evaluate(result);
            ASSERT_TRUE(!interpreter.undefined() && expected.lanes[0].i == actual.lanes[0].i)
                << e << "\nis not\n"
                << result;
        }
    }
    EXPECT_GT(found, 300);
}

}  // namespace
