// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "arith/bounds.h"

#include <gtest/gtest.h>

#include <cmath>

#include "arith/simplify.h"
#include "harness/interpret.h"
#include "ir/printer.h"
#include "random_expr.h"

using namespace calotype;
using namespace calotype::internal;
using namespace calotype::test;

namespace {

Expr var(const std::string &name, Type t = Int(32)) {
    return Variable::make(t, name);
}

Interval constants(Type t, int64_t min, int64_t max) {
    return {make_const(t, min), make_const(t, max)};
}

/// bounds_of_expr with x in [0, 10], as text.
std::string bounds_text(const Expr &e, const Interval &of_x = {Expr(0), Expr(10)}) {
    Scope<Interval> scope;
    scope.push("x", of_x);
    std::ostringstream out;
    out << simplify(bounds_of_expr(e, scope));
    return out.str();
}

/// The value of a scalar, absent if its evaluation is undefined.
std::optional<__int128> value_of(Interpreter &interpreter, const Expr &e) {
    Interpreter fresh;
    fresh.variables = interpreter.variables;
    const Value v = fresh.evaluate(e);
    return fresh.undefined() ? std::nullopt : std::optional<__int128>(v.lanes[0].i);
}

/// Checks that every lane of e is inside of the interval, with these variables.
void expect_inside(Interpreter &interpreter, const Expr &e, const Interval &i) {
    Interpreter fresh;
    fresh.variables = interpreter.variables;
    const Value v = fresh.evaluate(e);
    if (fresh.undefined()) {
        return;
    }
    const auto low = i.min.defined() ? value_of(interpreter, i.min) : std::nullopt;
    const auto high = i.max.defined() ? value_of(interpreter, i.max) : std::nullopt;
    for (const Lane &lane : v.lanes) {
        std::ostringstream variables;
        for (const auto &[name, value] : interpreter.variables) {
            variables << " " << name << " = " << to_string(value);
        }
        if (low) {
            ASSERT_LE(int64_t(*low), int64_t(lane.i))
                << e << "\nis not in " << i << variables.str();
        }
        if (high) {
            ASSERT_LE(int64_t(lane.i), int64_t(*high))
                << e << "\nis not in " << i << variables.str();
        }
    }
}

TEST(Bounds, OfLinearExpressions) {
    const Expr x = var("x"), n = var("n");
    EXPECT_EQ(bounds_text(x), "[0, 10]");
    EXPECT_EQ(bounds_text(x + 3), "[3, 13]");
    EXPECT_EQ(bounds_text(5 - x), "[-5, 5]");
    EXPECT_EQ(bounds_text(x * -2), "[-20, 0]");
    EXPECT_EQ(bounds_text(x / 3), "[0, 3]");
    // A divisor that is the same for all, of a sign that is not known here.
    EXPECT_EQ(bounds_text(x / n), "[select(n < 0, 10 / n, 0), select(n < 0, 0, 10 / n)]");
    EXPECT_EQ(bounds_text(x + n), "[n, n + 10]");
    EXPECT_EQ(bounds_text(n), "[n, n]");
    EXPECT_EQ(bounds_text(clamp(x * 5, 0, n)), "[0, max(min(n, 50), 0)]");
}

TEST(Bounds, OfSymbolicIntervals) {
    const Expr x = var("x"), a = var("a"), b = var("b");
    EXPECT_EQ(bounds_text(x * 2 + 1, {a, b}), "[a * 2 + 1, b * 2 + 1]");
    EXPECT_EQ(bounds_text(max(x, 0), {a, b}), "[max(a, 0), max(b, 0)]");
    EXPECT_EQ(bounds_text(min(x, 7), {Expr(), Expr()}), "[-inf, 7]");
    EXPECT_EQ(bounds_text(x % 8, {Expr(), Expr()}), "[0, 7]");
}

/// Both sides of a difference may go up and down together.
/// A range on one side of zero keeps away from it, also where only the run knows the side.
TEST(Bounds, OfMagnitudes) {
    const Expr x = var("x");
    for (const int first : {-31, -3, -1, 0, 3}) {
        Scope<Interval> scope;
        scope.push("x", {var("a"), var("a") + 2});
        const Interval i = bounds_of_expr(abs(x), scope);
        Interpreter interpreter;
        interpreter.variables["a"] = Value::integer(Int(32), first);
        const int last = first + 2;
        EXPECT_EQ(value_of(interpreter, i.min), first > 0 ? first : last < 0 ? -last : 0) << first;
        EXPECT_EQ(value_of(interpreter, i.max), std::max(std::abs(first), std::abs(last))) << first;
    }
}

TEST(Bounds, OfDifferencesOfExtrema) {
    const Expr x = var("x"), n = var("n");
    EXPECT_EQ(bounds_text(max(x, n) - min(x, n)),
              "[max(n, 0) - min(n, 10), max(n, 10) - min(n, 0)]");
    EXPECT_EQ(bounds_text(min(x, n + 1) - min(x, n)), "[max(min(n, -1) - min(n, 10), -1) + 1, 1]");
}

TEST(Bounds, WrappingTypesGiveTheWholeType) {
    const Expr x = var("x", UInt(8));
    const Interval high = constants(UInt(8), 200, 250);
    EXPECT_EQ(bounds_text(x + cast(UInt(8), 5), high), "[(uint8)205, (uint8)255]");
    EXPECT_EQ(bounds_text(x + cast(UInt(8), 6), high), "[(uint8)0, (uint8)255]");
    EXPECT_EQ(bounds_text(cast(Int(32), x) + 6, high), "[206, 256]");
}

TEST(Bounds, OfFloats) {
    const Expr x = var("x", Float(32));
    const Interval i = {Expr(-1.5f), Expr(2.5f)};
    Scope<Interval> scope;
    scope.push("x", i);
    const Interval floored = simplify(bounds_of_expr(cast(Int(32), floor(x * 2.0f)), scope));
    EXPECT_EQ(as_const_int(floored.min), -3);
    EXPECT_EQ(as_const_int(floored.max), 5);
    EXPECT_TRUE(bounds_of_expr(x / x, scope).is_everything());
}

TEST(Bounds, ClampsOfFloatsBoundNarrowIntegers) {
    const Expr x = var("x"), gain = var("gain", Float(32));
    const Expr scaled = gain * cast(Float(32), x) - 3.0f;
    const Expr clamped = min(max(scaled, 1.0f), 99.0f);
    EXPECT_EQ(bounds_text(cast(UInt(8), clamped)), "[(uint8)1, (uint8)99]");
    EXPECT_EQ(bounds_text(cast(UInt(8), clamped * 2.0f + 0.5f)), "[(uint8)2, (uint8)198]");
    EXPECT_EQ(bounds_text(cast(UInt(8), min(scaled, 99.0f))), "[(uint8)0, (uint8)255]");
    EXPECT_EQ(bounds_text(cast(UInt(8), max(round(clamped * 2.0f + 0.75f), 0.0f))),
              "[(uint8)3, (uint8)199]");
    EXPECT_EQ(bounds_text(cast(UInt(8), clamp(sqrt(scaled), 0.0f, 9.0f))), "[(uint8)0, (uint8)9]");
    EXPECT_EQ(bounds_text(saturating_cast(Int(8), clamped * 4.0f)), "[(int8)4, (int8)127]");
    EXPECT_EQ(bounds_text(saturating_cast(UInt(8), scaled)), "[(uint8)0, (uint8)255]");
}

TEST(Bounds, OfFuncs) {
    FuncValueBounds funcs;
    funcs[{"f", 1}] = constants(Int(32), 3, 9);
    const Expr known = Call::make(Int(32), "f", {var("x")}, CallKind::Func, 1);
    const Expr other = Call::make(Int(32), "f", {var("x")}, CallKind::Func, 0);
    EXPECT_EQ(as_const_int(bounds_of_expr(known + 1, {}, funcs).max), 10);
    EXPECT_TRUE(bounds_of_expr(other, {}, funcs).is_everything());
    const Expr bytes = Call::make(UInt(8), "g", {var("x")}, CallKind::Func, 0);
    EXPECT_EQ(as_const_int(bounds_of_expr(cast(Int(32), bytes), {}, funcs).max), 255);
}

TEST(Bounds, OfVectorsCoverAllLanes) {
    const Expr x = var("x");
    EXPECT_EQ(bounds_text(Ramp::make(x * 4, 2, 8)), "[0, 54]");
    EXPECT_EQ(bounds_text(Broadcast::make(x, 4)), "[0, 10]");
    EXPECT_EQ(bounds_text(Shuffle::make_concat({Broadcast::make(x, 4), Ramp::make(20, -1, 4)})),
              "[0, 20]");
    EXPECT_EQ(bounds_text(VectorReduce::make(VectorReduce::Add, Ramp::make(x, 1, 4), 1)),
              "[0, 52]");
}

TEST(Bounds, SelectNarrowsItsBranches) {
    const Expr x = var("x");
    EXPECT_EQ(bounds_text(select(x < 5, x, 0)), "[0, 4]");
    EXPECT_EQ(bounds_text(select(x < 5, 5, x)), "[5, 10]");
    EXPECT_EQ(bounds_text(select(var("n") < 5, x, x + 1)),
              "[select(n < 5, 0, 1), select(n < 5, 10, 11)]");
}

// A coordinate that is clamped to, or mirrored at, both edges by one select inside of another.
TEST(Bounds, SelectInsideOfABranchIsNarrowedByBoth) {
    const Expr x = var("x") + 1, n = var("n");
    const Interval region = {Expr(-5), Expr(70)};
    EXPECT_EQ(bounds_text(select(x < 0, 0, select(x > 63, 63, x)), region), "[0, 63]");
    EXPECT_EQ(bounds_text(select(x < 0, -x, select(x > 63, 126 - x, x)), region), "[0, 63]");
    EXPECT_EQ(
        bounds_text(select(x < 0, 0, select(x > 63, 63, select(x % 2 == 0, x, x - x % 2))), region),
        "[-1, 63]");
    EXPECT_EQ(bounds_text(select(x < 0, 0, select(x > n, n, x)), region), "[min(n, 0), max(n, 0)]");
}

TEST(Bounds, RemainderThatIsWrittenOut) {
    const Expr x = var("x"), n = var("n");
    EXPECT_EQ(bounds_text(x - x / n * n),
              "[0, select(n == 0, 10, max(min(max(0 - n, n), 11), 1) + -1)]");
    EXPECT_EQ(bounds_text(x - n * (x / n)), bounds_text(x - x / n * n));
    EXPECT_EQ(bounds_text(x * x - (x * x / 7) * 7), "[0, 6]");
    EXPECT_EQ(bounds_text(n - n / x * x), "[min(n, 0), max(n, 9)]");
    EXPECT_EQ(bounds_text(x - x / n * 3, {n, n}), "[n - n / n * 3, n - n / n * 3]");
}

// Where one side moves with x and the other is anything between fixed ends, as in mirrored images.
TEST(Bounds, SelectIsOneSideWhereItsConditionIsSettled) {
    const Expr x = var("x"), n = var("n");
    const Interval region = {var("a"), var("b")};
    EXPECT_EQ(bounds_text(select(x >= 0, x, x % 8), region),
              "[min(select(a < 0, 0, max(a, 0)), select(b < 0, 0, max(a, 0))), "
              "max(select(a < 0, 7, b), select(b < 0, 7, b))]");
    EXPECT_EQ(bounds_text(select(x >= 0 && x < n, x, x + 5), region),
              "[min(max(a, 0), a + 5), b + 5]");
}

TEST(Bounds, ConstBoundsHaveNoVariables) {
    Scope<Interval> scope;
    scope.push("x", {Expr(0), var("n")});
    const Interval i = bounds_of_expr(min(var("x"), 100) + min(var("m"), 5), scope, {}, true);
    EXPECT_FALSE(i.has_lower_bound());
    EXPECT_EQ(as_const_int(i.max), 105);
}

TEST(Bounds, LongChainsStaySmall) {
    // Each step uses the one before twice: as a tree, 2^60 nodes.
    Expr e = var("x") + var("n");
    for (int i = 0; i < 60; i++) {
        e = select(e % 3 == i % 2, e * var("m"), e - var("x"));
    }
    Scope<Interval> scope;
    scope.push("x", {var("a"), var("b")});
    const Interval i = bounds_of_expr(e, scope);
    EXPECT_TRUE(i.is_bounded());
}

/// Random expressions over variables of all types: every value is within the bounds.
void check_soundness(const std::vector<Type> &types, uint32_t seed, int count) {
    RandomExpr random(seed);
    random.types = types;
    Scope<Interval> scope;
    std::vector<std::pair<std::string, Interval>> ranges;
    for (const Type &t : types) {
        const std::string x = "x_" + to_string(t);
        random.variables.emplace_back(x, t);
        random.variables.emplace_back("n_" + to_string(t), t);
        // Of narrow types, a range that reaches an end of the type.
        const int64_t low = t.is_uint() ? (t.bits() <= 16 ? int64_t(t.umax()) - 3 : 0)
                                        : (t.bits() <= 16 ? t.imin() : -3);
        scope.push(x, constants(t, low, low + 3));
        ranges.emplace_back(x, constants(t, low, low + 3));
    }
    for (int i = 0; i < count; i++) {
        const Expr e = random.make(types[random.below(int(types.size()))], 4);
        const Interval ends = bounds_of_expr(e, scope);
        const Interval fixed = bounds_of_expr(e, scope, {}, true);
        for (int trial = 0; trial < 12; trial++) {
            Interpreter interpreter;
            for (const auto &[name, range] : ranges) {
                const Type t = range.min.type();
                interpreter.variables[name] =
                    Value::integer(t, *as_const_int(range.min) + random.below(4));
                const int64_t n = random.below(2) ? random.below(12) : random.below(256) - 128;
                interpreter.variables["n_" + to_string(t)] = Value::integer(t, n);
            }
            ASSERT_NO_FATAL_FAILURE(expect_inside(interpreter, e, ends));
            ASSERT_NO_FATAL_FAILURE(expect_inside(interpreter, e, fixed));
        }
    }
}

TEST(BoundsProperty, Int32) {
    check_soundness({Int(32)}, 1, 1500);
}

TEST(BoundsProperty, UInt8) {
    check_soundness({UInt(8)}, 2, 1500);
}

TEST(BoundsProperty, Int8) {
    check_soundness({Int(8)}, 3, 1500);
}

TEST(BoundsProperty, MixedTypes) {
    check_soundness({UInt(8), Int(8), UInt(16), Int(16), UInt(32), Int(32), Int(64)}, 4, 2500);
}

TEST(BoundsProperty, SymbolicEnds) {
    RandomExpr random(5);
    random.variables = {{"x", Int(32)}, {"y", Int(32)}, {"n", Int(32)}};
    Scope<Interval> scope;
    scope.push("x", {var("a"), var("b")});
    scope.push("y", {Expr(0), var("n")});
    for (int i = 0; i < 2000; i++) {
        const Expr e = random.make(Int(32), 4);
        const Interval ends = bounds_of_expr(e, scope);
        for (int trial = 0; trial < 12; trial++) {
            Interpreter interpreter;
            const int a = random.below(20) - 10, b = a + random.below(8), n = random.below(8);
            const std::pair<const char *, int> values[] = {{"a", a},
                                                           {"b", b},
                                                           {"n", n},
                                                           {"x", a + random.below(b - a + 1)},
                                                           {"y", random.below(n + 1)}};
            for (const auto &[name, value] : values) {
                interpreter.variables[name] = Value::integer(Int(32), value);
            }
            ASSERT_NO_FATAL_FAILURE(expect_inside(interpreter, e, ends));
        }
    }
}

/// A float expression over f:float32 and x:int32, without NaN or infinity.
Expr random_float(RandomExpr &random, int depth) {
    const auto arg = [&] {
        return random_float(random, depth - 1);
    };
    if (depth <= 0) {
        const int which = random.below(3);
        return which == 0   ? var("f", Float(32))
               : which == 1 ? Expr(float(random.below(9) - 4) / 2)
                            : cast(Float(32), var("x"));
    }
    switch (random.below(12)) {
    case 0:
        return arg() + arg();
    case 1:
        return arg() - arg();
    case 2:
        return arg() * arg();
    case 3:
        return arg() / Expr(float(random.below(4) + 1) / (random.below(2) ? 2 : -2));
    case 4:
        return arg() / max(arg(), 0.5f);
    case 5:
        return min(arg(), arg());
    case 6:
        return max(arg(), arg());
    case 7:
        return select(arg() < arg(), arg(), arg());
    case 8:
        return floor(arg());
    case 9:
        return round(arg());
    case 10:
        return abs(arg());
    default:
        return cast(Float(32), cast(Int(32), arg()));
    }
}

TEST(BoundsProperty, Floats) {
    RandomExpr random(6);
    Scope<Interval> scope;
    scope.push("f", {Expr(-2.5f), var("g", Float(32))});
    scope.push("x", {var("n"), Expr(5)});
    int bounded = 0;
    for (int i = 0; i < 3000; i++) {
        const Expr e = random_float(random, 3);
        const Interval ends = bounds_of_expr(e, scope);
        bounded += ends.is_bounded() && !ends.is_single_point();
        for (int trial = 0; trial < 8; trial++) {
            Interpreter interpreter;
            const double g = random.below(20) / 4.0;
            const int n = random.below(10) - 5;
            interpreter.variables = {
                {"g", Value::real(Float(32), g)},
                {"f", Value::real(Float(32), -2.5 + (g + 2.5) * random.below(5) / 4)},
                {"n", Value::integer(Int(32), n)},
                {"x", Value::integer(Int(32), n + random.below(6 - n))}};
            const double v = interpreter.evaluate(e).lanes[0].f;
            if (interpreter.undefined() || std::isnan(v)) {
                continue;
            }
            const auto end = [&](const Expr &e) {
                Interpreter fresh;
                fresh.variables = interpreter.variables;
                const double x = e.defined() ? fresh.evaluate(e).lanes[0].f : v;
                return fresh.undefined() ? v : x;
            };
            const double low = end(ends.min), high = end(ends.max);
            ASSERT_FALSE(low > v || v > high)
                << e << "\nis " << v << ", not in " << ends << " = [" << low << ", " << high << "]";
        }
    }
    EXPECT_GT(bounded, 500);
}

}  // namespace
