// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "arith/solve.h"

#include <gtest/gtest.h>

#include "arith/simplify.h"
#include "harness/interpret.h"
#include "ir/equality.h"
#include "ir/printer.h"
#include "ir/queries.h"
#include "random_expr.h"

using namespace calotype;
using namespace calotype::internal;
using namespace calotype::test;

namespace {

const Expr x = Variable::make(Int(32), "x"), y = Variable::make(Int(32), "y"),
           z = Variable::make(Int(32), "z");

std::string solved(const Expr &e) {
    const SolverResult r = solve_expression(e, "x");
    return (r.fully_solved ? "" : "not solved: ") + to_string(r.result);
}

std::string text(const Interval &i) {
    std::ostringstream out;
    out << i;
    return out.str();
}

TEST(Solve, MovesTheVariableToTheLeft) {
    EXPECT_EQ(solved(x + y < z), "x < z - y");
    EXPECT_EQ(solved(y < x), "x > y");
    EXPECT_EQ(solved(x * 3 + 1 <= y), "x <= (y + 2) / 3 + -1");
    EXPECT_EQ(solved(y - x > z), "x < y - z");
    EXPECT_EQ(solved(x / 4 == y), "x >= y * 4 && x < y * 4 + 4");
    EXPECT_EQ(solved(x + x < y), "x < (y + 1) / 2");
    EXPECT_EQ(solved(x * 4 - y < x + z), "x < (y + z + 2) / 3");
}

TEST(Solve, SplitsChoices) {
    EXPECT_EQ(solved(max(x, y) < z), "x < z && y < z");
    EXPECT_EQ(solved(min(x + 1, 5) < z), "x < z + -1 || 5 < z");
}

TEST(Solve, SplitsChoicesThatAllLanesShare) {
    const Expr chosen = Select::make(y > 1, Ramp::make(x, Expr(1), 3), Broadcast::make(z, 3));
    EXPECT_EQ(solved(max(chosen, Broadcast::make(y, 3)) < Broadcast::make(Expr(5), 3)),
              "not solved: (broadcast(y > 1, 3) && ramp(x, 1, 3) < broadcast(5, 3) || "
              "broadcast(!(y > 1), 3) && broadcast(z, 3) < broadcast(5, 3)) && "
              "broadcast(y, 3) < broadcast(5, 3)");
}

TEST(Solve, OpensMagnitudes) {
    const auto magnitude = [](const Expr &e) {
        return cast(Int(32), abs(e));
    };
    EXPECT_EQ(solved(magnitude(x) < y), "x < y && x > 0 - y");
    EXPECT_EQ(solved(magnitude(x - z) >= 3), "x >= z + 3 || x <= z + -3");
    EXPECT_EQ(solved(magnitude(x) == y), "(x == y || x == 0 - y) && y >= 0");
    EXPECT_EQ(text(solve_for_outer_interval(magnitude(x + 1) <= 4, "x")), "[-5, 3]");
    EXPECT_EQ(text(solve_for_inner_interval(magnitude(x + 1) <= 4, "x")), "[-5, 3]");
}

TEST(Solve, SaysWhenItCannot) {
    EXPECT_FALSE(solve_expression(x % 4 < y, "x").fully_solved);
    EXPECT_FALSE(solve_expression(x * y < z, "x").fully_solved);
    EXPECT_TRUE(solve_expression(y < z, "x").fully_solved);
    const Expr b = Variable::make(UInt(8), "x");
    EXPECT_FALSE(solve_expression(b + cast(UInt(8), 1) < cast(UInt(8), y), "x").fully_solved)
        << "uint8 wraps";
    Expr large = x % 2;
    for (int i = 3; i < 40; i++) {
        large = large + x % i;
    }
    const Expr condition = Let::make("l", large, Variable::make(Int(32), "l") + 1) < z;
    EXPECT_TRUE(equal(solve_expression(condition, "x").result, condition))
        << "a let too large to be put in its place";
}

TEST(Solve, ALetThatStaysKeepsWhatIsAroundIt) {
    Expr large = x;
    for (int i = 0; i < 40; i++) {
        large = max(large, Variable::make(Int(32), "v" + std::to_string(i)));
    }
    const Expr t = Variable::make(Int(32), "t"), b = Variable::make(Bool(), "b");
    const Expr holds = Let::make("b", large < y, b);
    EXPECT_EQ(to_string(solve_expression(!holds, "x").result), to_string(!holds));
    const Expr compared = Let::make("t", large, t + 1) < z;
    const SolverResult r = solve_expression(compared, "x");
    EXPECT_TRUE(r.result.type().is_bool());
    EXPECT_FALSE(r.fully_solved);
    EXPECT_EQ(to_string(r.result), to_string(compared));
}

TEST(Solve, Intervals) {
    EXPECT_EQ(text(solve_for_outer_interval(x * 2 < 10 && x > y, "x")), "[y + 1, 4]");
    EXPECT_EQ(text(solve_for_inner_interval(x * 2 < 10 && x > y, "x")), "[y + 1, 4]");
    EXPECT_EQ(text(solve_for_outer_interval(x < y || x % 3 == 0, "x")), "[-inf, inf]");
    EXPECT_EQ(text(solve_for_inner_interval(x < y || x % 3 == 0, "x")), "[-inf, y + -1]");
    EXPECT_EQ(text(solve_for_inner_interval(x < y && x % 3 == 0, "x")), "[nothing]");
    EXPECT_EQ(text(solve_for_outer_interval(x < y && x % 3 == 0, "x")), "[-inf, y + -1]");
    EXPECT_EQ(text(solve_for_inner_interval(likely(x + 2 <= y), "x")), "[-inf, y + -2]");
}

TEST(Solve, ConditionOverDomain) {
    Scope<Interval> scope;
    scope.push("x", {Expr(0), Expr(9)});
    EXPECT_EQ(to_string(and_condition_over_domain(x < y, scope)), "9 < y");
    EXPECT_EQ(to_string(and_condition_over_domain(x + y < z, scope)),
              to_string(simplify(y + 9 < z)));
    EXPECT_EQ(to_string(and_condition_over_domain(x >= 0, scope)), "true");
    EXPECT_EQ(to_string(and_condition_over_domain(x > 0, scope)), "false");
}

class SolveProperty : public ::testing::Test {
protected:
    SolveProperty() : random(31) {
        random.variables = {{"x", Int(32)}, {"x", Int(32)}, {"y", Int(32)}, {"z", Int(32)}};
        random.with_intrinsics = false;
    }

    /// In some, a variable becomes the absolute value of a sum of others.
    Expr make(const Type &t, int depth) {
        const Expr e = random.make(t, depth);
        return random.below(3) ? e
                               : substitute("y", cast(Int(32), abs(random.make(Int(32), 1))), e);
    }

    /// The value of a scalar at the current variables, absent if undefined.
    std::optional<int64_t> at(int x, int y, int z, const Expr &e) {
        Interpreter interpreter;
        interpreter.variables = {{"x", Value::integer(Int(32), x)},
                                 {"y", Value::integer(Int(32), y)},
                                 {"z", Value::integer(Int(32), z)}};
        const Value v = interpreter.evaluate(e);
        return interpreter.undefined() ? std::nullopt : std::optional(int64_t(v.lanes[0].i));
    }

    RandomExpr random;
};

TEST_F(SolveProperty, SolutionsAreEquivalent) {
    int count = 0;
    for (int i = 0; i < 3000; i++) {
        const Expr e = make(random.below(4) ? Bool() : Int(32), 4);
        const SolverResult r = solve_expression(e, "x");
        count += r.fully_solved && uses_var(e, "x");
        for (int trial = 0; trial < 10; trial++) {
            const int x = random.below(30) - 15, y = random.below(30) - 15,
                      z = random.below(30) - 15;
            const auto before = at(x, y, z, e), after = at(x, y, z, r.result);
            if (before && after) {
                ASSERT_EQ(*before, *after) << e << "\nsolved: " << r.result << "\nx = " << x
                                           << ", y = " << y << ", z = " << z;
            }
        }
    }
    EXPECT_GT(count, 300) << "the test must see solutions";
}

TEST_F(SolveProperty, IntervalsHoldWhatTheySay) {
    int narrowed = 0;
    for (int i = 0; i < 3000; i++) {
        const Expr e = make(Bool(), 4);
        const Interval inner = solve_for_inner_interval(e, "x");
        const Interval outer = solve_for_outer_interval(e, "x");
        narrowed += !inner.is_empty() && !inner.is_everything();
        const auto inside = [&](const Interval &i, int x, int y, int z) {
            const auto low = i.min.defined() ? at(x, y, z, i.min) : std::optional<int64_t>(-100);
            const auto high = i.max.defined() ? at(x, y, z, i.max) : std::optional<int64_t>(100);
            return !low || !high ? std::nullopt
                                 : std::optional(!i.is_empty() && *low <= x && x <= *high);
        };
        for (int trial = 0; trial < 10; trial++) {
            const int x = random.below(30) - 15, y = random.below(30) - 15,
                      z = random.below(30) - 15;
            const auto holds = at(x, y, z, e);
            const auto in_inner = inside(inner, x, y, z), in_outer = inside(outer, x, y, z);
            if (holds && in_inner && in_outer) {
                ASSERT_TRUE(!*in_inner || *holds) << e << "\nfails inside of " << inner;
                ASSERT_TRUE(*in_outer || !*holds) << e << "\nholds outside of " << outer;
            }
        }
    }
    EXPECT_GT(narrowed, 300) << "the test must see intervals";
}

TEST_F(SolveProperty, ConditionsOverADomainImplyTheCondition) {
    Scope<Interval> scope;
    scope.push("x", {Expr(-3), Variable::make(Int(32), "z")});
    int useful = 0;
    for (int i = 0; i < 3000; i++) {
        const Expr e = random.make(Bool(), 3);
        const Expr all = and_condition_over_domain(e, scope);
        ASSERT_FALSE(uses_var(all, "x")) << all;
        useful += !is_const(all);
        for (int trial = 0; trial < 10; trial++) {
            const int z = random.below(12) - 3, y = random.below(30) - 15;
            const int x = -3 + random.below(z + 4);
            const auto claim = at(x, y, z, all), holds = at(x, y, z, e);
            if (claim && *claim && holds) {
                ASSERT_TRUE(*holds) << e << "\nis said to hold if " << all << "\nx = " << x
                                    << ", y = " << y << ", z = " << z;
            }
        }
    }
    EXPECT_GT(useful, 300);
}

}  // namespace
