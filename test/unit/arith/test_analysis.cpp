// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Intervals, alignment, constant bounds, strides of vectors, correlated differences.
#include <gtest/gtest.h>

#include "arith/alignment_analysis.h"
#include "arith/bounds/correlated_differences.h"
#include "arith/const_bounds.h"
#include "arith/interval.h"
#include "arith/linear_form.h"
#include "arith/order.h"
#include "arith/simplify.h"
#include "arith/strided.h"
#include "harness/interpret.h"
#include "ir/constants.h"
#include "ir/language/bits.h"
#include "ir/printer.h"
#include "ir/queries.h"
#include "random_expr.h"

using namespace calotype;
using namespace calotype::internal;
using namespace calotype::test;

namespace {

const Expr x = Variable::make(Int(32), "x"), y = Variable::make(Int(32), "y"),
           n = Variable::make(Int(32), "n");

std::string text(const Interval &i) {
    std::ostringstream out;
    out << i;
    return out.str();
}

std::string text(const Expr &e) {
    return e.defined() ? to_string(e) : "undefined";
}

TEST(LinearForm, EqualTermsAreOne) {
    LinearForm form(x * 4 + 3 - (y - x) * 2);
    ASSERT_TRUE(form.is_valid());
    EXPECT_TRUE(form.has_merged());
    EXPECT_EQ(text(form.to_expr(Int(32))), "x * 6 + y * -2 + 3");
    form.add(x, -6);
    form.drop_zeros();
    EXPECT_EQ(text(form.to_expr(Int(32))), "y * -2 + 3");
    form.add(y * 2 - 3, 1);
    EXPECT_TRUE(form.is_zero());
}

TEST(LinearForm, OverflowMakesItInvalid) {
    const Expr x = Variable::make(Int(64), "x");
    LinearForm form(x * make_const(Int(64), INT64_MAX));
    EXPECT_TRUE(form.is_valid());
    EXPECT_FALSE(form.to_expr(Int(32)).defined());
    form.add(x, 1);
    EXPECT_FALSE(form.is_valid());
    LinearForm halves(x * make_const(Int(64), INT64_MIN / 2));
    EXPECT_TRUE(halves.is_valid());
    halves.add(x, INT64_MIN / 2);
    EXPECT_FALSE(halves.is_valid()) << "a factor of -2^63 has no opposite";
}

TEST(Interval, UnionAndIntersection) {
    const Interval a(Expr(0), n), b(Expr(5), Expr(9));
    EXPECT_EQ(text(make_union(a, b)), "[0, max(n, 9)]");
    EXPECT_EQ(text(make_intersection(a, b)), "[5, min(n, 9)]");
    EXPECT_EQ(text(make_union(a, Interval::everything())), "[-inf, inf]");
    EXPECT_EQ(text(make_intersection(a, Interval::everything())), "[0, n]");
    EXPECT_EQ(text(make_union(Interval::nothing(), b)), "[5, 9]");
    EXPECT_TRUE(make_intersection(b, Interval(Expr(10), Expr(11))).is_empty());
    EXPECT_EQ(text(Interval::make_intersection({3, 4}, {9, 10})), "[9, 4]");
    EXPECT_TRUE(make_union(Interval(Expr(), Expr(3)), b).has_upper_bound());
    EXPECT_FALSE(make_union(Interval(Expr(), Expr(3)), b).has_lower_bound());
}

TEST(Interval, Questions) {
    const Interval point = Interval::single_point(n);
    EXPECT_TRUE(point.is_single_point());
    EXPECT_TRUE(point.is_single_point(n));
    EXPECT_FALSE(Interval(n, n + 1).is_single_point());
    EXPECT_EQ(text(Interval(n, n + 4).extent()), "5");
    EXPECT_FALSE(Interval(Expr(), n).extent().defined());
    EXPECT_TRUE(contains(Interval(n, n + 4), n + 2));
    EXPECT_FALSE(contains(Interval(n, n + 4), n + 5));
    EXPECT_FALSE(contains(Interval::nothing(), n));
    EXPECT_TRUE(Interval(n + 1, Expr()).same_as(Interval(n + 1, Expr())));
    EXPECT_TRUE(simplify(Interval(n + 1 - 1, n * 1)).is_single_point());
}

TEST(Order, OfTheSameShape) {
    const auto tap = [](int offset) {
        return max(min(x + offset, n), 0);
    };
    EXPECT_TRUE(known_less_equal(tap(1), tap(2)));
    EXPECT_FALSE(known_less_equal(tap(2), tap(1)));
    EXPECT_TRUE(known_less_equal(max(min(x + 1, n), 1) - 1, tap(1)));
    EXPECT_TRUE(known_less_equal((x * 2 + y) / 4, (x * 2 + 3 + y) / 4));
    EXPECT_TRUE(known_less_equal(min(x, 3), max(y, 3)));
    EXPECT_FALSE(known_less_equal(x, y));
    const Expr b = Variable::make(UInt(8), "b");
    EXPECT_FALSE(known_less_equal(b, b + cast(UInt(8), 1))) << "wraps";
}

TEST(OrderProperty, WhatIsKnownHolds) {
    RandomExpr random(71);
    random.variables = {{"x", Int(32)}, {"y", Int(32)}};
    random.with_intrinsics = false;
    int known = 0;
    for (int i = 0; i < 20000; i++) {
        const Expr part = random.make(Int(32), 2), a = max(part + 1, random.make(Int(32), 1)),
                   b = max(random.make(Int(32), 1), part) + random.below(4);
        if (!known_less_equal(a, b)) {
            continue;
        }
        known++;
        for (int trial = 0; trial < 10; trial++) {
            Interpreter interpreter;
            interpreter.variables["x"] = Value::integer(Int(32), random.below(40) - 20);
            interpreter.variables["y"] = Value::integer(Int(32), random.below(40) - 20);
            const Value low = interpreter.evaluate(a), high = interpreter.evaluate(b);
            ASSERT_TRUE(interpreter.undefined() || low.lanes[0].i <= high.lanes[0].i)
                << a << "\nis not at most\n"
                << b;
        }
    }
    EXPECT_GT(known, 300);
}

TEST(Alignment, OfLinearExpressions) {
    EXPECT_EQ(alignment_of(x * 8 + 3), (Alignment{8, 3}));
    EXPECT_EQ(alignment_of(x * 8 + y * 12 + 1), (Alignment{4, 1}));
    EXPECT_EQ(alignment_of((x * 8 + 6) / 2), (Alignment{4, 3}));
    EXPECT_EQ(alignment_of((x * 8 + 6) % 4), (Alignment{0, 2}));
    EXPECT_EQ(alignment_of(select(x < y, x * 8, y * 8 + 4)), (Alignment{4, 0}));
    EXPECT_EQ(alignment_of(Ramp::make(x * 8, 2, 4)), (Alignment{2, 0}));
    EXPECT_EQ(alignment_of(Let::make("t", x * 6, Variable::make(Int(32), "t") + 1)),
              (Alignment{6, 1}));
    Scope<Alignment> scope;
    scope.push("x", {16, 4});
    EXPECT_EQ(alignment_of(x * 2, scope), (Alignment{32, 8}));
    int64_t remainder = -1;
    EXPECT_TRUE(reduce_modulo(x + 1, 8, &remainder, scope));
    EXPECT_EQ(remainder, 5);
    EXPECT_FALSE(reduce_modulo(x + y, 8, &remainder, scope));
}

TEST(IntegerInfo, OneTableForAllThatAsk) {
    const Expr a = Variable::make(Int(32), "a"), b = Variable::make(Int(32), "b");
    const Scope<Interval> vars = [] {
        Scope<Interval> result;
        result.push("a", Interval(-3, 20));
        result.push("b", Interval(0, 6));
        return result;
    }();
    SimplifyContext context;
    context.bound("a", -3, 20).bound("b", 0, 6);
    const std::pair<Expr, ConstantInterval> cases[] = {
        {a & b, {0, 6}},
        {a | b, {-32, 31}},
        {b ^ 9, {8, 15}},
        {~a, {-21, 2}},
        {b << 3, {0, 48}},
        {a >> b, {-3, 20}},
        {cast<int>(abs(a)), {0, 20}},
        {cast<int>(absd(a, b)), {0, 20}},
        {div_round_to_zero(a, b + 1), {-20, 20}},
        {mod_round_to_zero(b, a), {0, 6}},
        {mux(b, {a, a + 100}), {-3, 120}},
    };
    for (const auto &[e, range] : cases) {
        EXPECT_EQ(constant_bounds(e, vars), range) << e;
        EXPECT_EQ(constant_range(e, context), range) << e;
    }
    EXPECT_EQ(alignment_of((x * 3) << 2), (Alignment{12, 0}));
    EXPECT_EQ(alignment_of(~(x * 4)), (Alignment{4, 3}));
}

// What is known of a let is what is known of its body, with that of its value.
TEST(Alignment, OfLets) {
    const Expr v = Variable::make(Int(32), "v"), c = Variable::make(Int(32), "c");
    const Expr inner = Let::make("v", x * 3 + 4, v * 3 + 4);
    EXPECT_EQ(modulus_remainder(inner), (Alignment{9, 7}));
    EXPECT_EQ(modulus_remainder(inner * 2 + v), (Alignment{1, 0})) << "another v";
    SimplifyContext context;
    context.bound("c", 0, 10);
    EXPECT_EQ(constant_range(Let::make("v", c * c + x % 5, v + v % 3) + 1, context),
              (ConstRange::of(1, 107)));
}

TEST(Alignment, WrappingKeepsPowersOfTwo) {
    const Expr b = Variable::make(UInt(8), "b");
    EXPECT_EQ(alignment_of(b * cast(UInt(8), 12)), (Alignment{4, 0}))
        << "12 and 256 have 4 in common";
    EXPECT_EQ(alignment_of(cast(UInt(8), x * 12)), (Alignment{4, 0}));
}

TEST(AlignmentProperty, HoldsForEveryValue) {
    const std::vector<Type> types = {Int(32), UInt(8), Int(8), UInt(16)};
    RandomExpr random(51);
    random.types = types;
    for (const Type &t : types) {
        random.variables.emplace_back("x_" + to_string(t), t);
    }
    int known = 0;
    for (int i = 0; i < 4000; i++) {
        const Type t = types[random.below(4)];
        const Expr e = random.make(t, 3) * random.constant(t) + random.constant(t);
        const Alignment a = alignment_of(e);
        known += a.modulus != 1;
        for (int trial = 0; trial < 8; trial++) {
            Interpreter interpreter;
            for (const auto &[name, type] : random.variables) {
                interpreter.variables[name] = Value::integer(type, random.below(300) - 150);
            }
            const int64_t v = int64_t(interpreter.evaluate(e).lanes[0].i);
            if (!interpreter.undefined()) {
                ASSERT_TRUE(a.modulus == 0 ? v == a.remainder : (v - a.remainder) % a.modulus == 0)
                    << e << "\nis " << v << ", not " << a.remainder << " modulo " << a.modulus;
            }
        }
    }
    EXPECT_GT(known, 500);
}

TEST(ConstBounds, LookThroughSharedTerms) {
    EXPECT_EQ(text(find_constant_bound(min(x + 8, n) - x, Direction::Upper)), "8");
    EXPECT_EQ(text(find_constant_bound(min(n, 16), Direction::Upper)), "16");
    EXPECT_EQ(text(find_constant_bound(min(n, 16), Direction::Lower)), "undefined");
    EXPECT_EQ(text(find_constant_bound(n % 7 + 1, Direction::Upper)), "7");
    Scope<Interval> scope;
    scope.push("x", {n, n + 9});
    EXPECT_EQ(text(find_constant_bound(x - n, Direction::Upper, scope)), "9");
    EXPECT_EQ(text(find_constant_bound(x - n, Direction::Lower, scope)), "0");
    EXPECT_EQ(text(find_constant_bound(x, Direction::Lower, scope)), "undefined");
}

TEST(Strided, AffineLanes) {
    EXPECT_EQ(text(lane_stride_of(Ramp::make(x, 3, 4))), "3");
    EXPECT_EQ(text(lane_stride_of(Broadcast::make(x, 4))), "0");
    EXPECT_EQ(
        text(lane_stride_of(Ramp::make(x, 3, 4) * Broadcast::make(y, 4) + Ramp::make(n, 1, 4))),
        "y * 3 + 1");
    EXPECT_EQ(text(lane_stride_of(Ramp::make(x, 3, 4) * Ramp::make(x, 3, 4))), "undefined");
    EXPECT_EQ(text(lane_stride_of(Ramp::make(x, 3, 4) % Broadcast::make(y, 4))), "undefined");
}

TEST(Correlated, MonotonicExpressionsTakeTheEndsTogether) {
    Scope<Interval> scope;
    scope.push("x", {n, n + 10});
    EXPECT_EQ(text(simplify(bounds_of_correlated(x - x / 2, scope))),
              text(Interval(simplify(n - n / 2), simplify(n + 10 - (n + 10) / 2))));
    EXPECT_EQ(text(simplify(bounds_of_correlated((x + 5) - (x + 2), scope))), "[3, 3]");
    scope.push("y", {Expr(0), Expr(3)});
    EXPECT_EQ(text(simplify(bounds_of_correlated(x * 3 - x + y, scope))), "[n * 2, n * 2 + 23]");
}

TEST(Correlated, RoundedDifferencesMoveWithWhatIsBesideThem) {
    Scope<Interval> scope;
    scope.push("x", {Expr(0), n});
    const Expr first = min(x * 32, y), last = min(x * 32 + 31, y + 7);
    const Interval i = bounds_of_correlated((last - first) / 8 * 8 + first + 7, scope);
    for (const auto &[at_y, end] : {std::pair(24, 31), {56, 63}, {64, 71}, {90, 95}}) {
        const Expr max = substitute("y", at_y, substitute("n", (at_y + 7) / 32, i.max));
        EXPECT_GE(*as_const_int(simplify(max)), end);
        EXPECT_LE(*as_const_int(simplify(max)), at_y + 7 + 7);
    }
}

TEST(CorrelatedProperty, ValuesAreWithinTheBounds) {
    RandomExpr random(61);
    random.variables = {{"x", Int(32)}, {"y", Int(32)}, {"n", Int(32)}};
    random.with_intrinsics = false;
    Scope<Interval> scope;
    scope.push("x", {n, n + 6});
    scope.push("y", {Expr(-2), Expr(3)});
    for (int i = 0; i < 3000; i++) {
        const Expr e = random.make(Int(32), 3) - random.make(Int(32), 2);
        const Interval bounds = bounds_of_correlated(e, scope);
        for (int trial = 0; trial < 8; trial++) {
            Interpreter interpreter;
            const int at_n = random.below(30) - 15;
            const std::pair<const char *, int> values[] = {
                {"n", at_n}, {"x", at_n + random.below(7)}, {"y", random.below(6) - 2}};
            for (const auto &[name, value] : values) {
                interpreter.variables[name] = Value::integer(Int(32), value);
            }
            const auto value = [&](const Expr &end) -> std::optional<int64_t> {
                Interpreter fresh;
                fresh.variables = interpreter.variables;
                const Value v = fresh.evaluate(end);
                return fresh.undefined() ? std::nullopt : std::optional(int64_t(v.lanes[0].i));
            };
            const auto v = value(e);
            const auto low = v && bounds.min.defined() ? value(bounds.min) : v;
            const auto high = v && bounds.max.defined() ? value(bounds.max) : v;
            ASSERT_TRUE(!v || ((!low || *low <= *v) && (!high || *v <= *high)))
                << e << "\nis " << *v << ", not in " << bounds << " for n = " << at_n;
        }
    }
}

}  // namespace
