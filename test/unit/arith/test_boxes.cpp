// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "arith/box.h"

#include <gtest/gtest.h>

#include <functional>

#include "arith/simplify.h"
#include "harness/interpret.h"
#include "ir/printer.h"
#include "ir/queries.h"
#include "ir/walk/field_walk.h"
#include "random_expr.h"

using namespace calotype;
using namespace calotype::internal;
using namespace calotype::test;

namespace {

Expr var(const std::string &name, Type t = Int(32)) {
    return Variable::make(t, name);
}

Expr func(const std::string &name, std::vector<Expr> args) {
    return Call::make(Int(32), name, std::move(args), CallKind::Func);
}

Stmt provide(const std::string &name, const Expr &value, std::vector<Expr> args) {
    return Provide::make(name, {value}, std::move(args), const_true());
}

Stmt loop(const std::string &name, const Expr &min, const Expr &extent, const Stmt &body) {
    return For::make(name, min, extent, ForType::Serial, Partition::Auto, DeviceAPI::None, body);
}

std::string text(const Box &b) {
    std::ostringstream out;
    out << b;
    return out.str();
}

TEST(Boxes, OfStencilInLoops) {
    const Expr x = var("x"), y = var("y");
    const Stmt s =
        loop("y", var("y0"), var("h"),
             loop("x", 0, var("w"),
                  provide("f", func("g", {x - 1, y}) + func("g", {x + 1, y + 2}), {x, y})));
    EXPECT_EQ(text(box_required(s, "g")), "{[-1, w], [y0, h + y0 + 1]}");
    EXPECT_EQ(text(box_provided(s, "f")), "{[0, w + -1], [y0, h + y0 + -1]}");
    EXPECT_TRUE(box_provided(s, "g").empty());
    EXPECT_EQ(boxes_touched(s).size(), 2u);
}

TEST(Boxes, AConditionNarrowsItsBranch) {
    const Expr x = var("x"), xo = var("xo"), xi = var("xi"), n = var("n");
    // A loop split by 8 whose tail is guarded.
    const Stmt body = LetStmt::make(
        "x", xo * 8 + xi, IfThenElse::make(likely(x < n), provide("f", func("g", {x + 1}), {x})));
    const Stmt s = loop("xo", 0, (n + 7) / 8, loop("xi", 0, 8, body));
    EXPECT_EQ(text(box_required(s, "g")), "{[1, n]}");
    EXPECT_EQ(text(box_provided(s, "f")), "{[0, n + -1]}");
}

TEST(Boxes, ACommonConditionIsKept) {
    const Expr x = var("x"), p = var("p", Bool());
    const Stmt s = loop("x", 0, 10, IfThenElse::make(p, provide("f", func("g", {x}), {x})));
    const Box b = box_required(s, "g");
    EXPECT_EQ(text(b), "{[0, 9]} if p:bool");
    EXPECT_TRUE(b.maybe_unused());
}

TEST(Boxes, LetsThatMoveTogetherCancel) {
    const Expr x = var("x"), t = var("t");
    const Stmt s =
        loop("x", 0, var("n"), LetStmt::make("t", x + 5, provide("f", func("g", {t - x}), {x})));
    EXPECT_EQ(text(box_required(s, "g")), "{[5, 5]}");
    const Stmt half = loop("x", 0, 100, provide("f", func("g", {x - x / 2}), {x}));
    EXPECT_EQ(text(box_required(half, "g")), "{[0, 50]}");
}

TEST(Boxes, ReadsAtTwoPlacesMayDiffer) {
    const Expr x = var("x"), h = func("h", {Expr(0)});
    const Stmt inner = LetStmt::make("b", h, provide("f", func("g", {var("a") - var("b")}), {x}));
    const Stmt write = provide("h", Expr(1), {Expr(0)});
    const Stmt s = loop("x", 0, 10, LetStmt::make("a", h, Block::make(write, inner)));
    EXPECT_EQ(text(box_required(s, "g")), "{[-inf, inf]}");
}

TEST(Boxes, OfSomeNamesAreThoseOfAll) {
    // The box of g depends on t by way of u and of the condition, that of h on v alone.
    const Expr x = var("x"), u = var("u"), v = var("v");
    const Stmt inner = Block::make(IfThenElse::make(u < 7, provide("f", func("g", {u + 1}), {x})),
                                   provide("f", func("h", {v}), {x}));
    const Stmt s =
        loop("x", 0, 100,
             LetStmt::make("t", x / 2,
                           LetStmt::make("u", var("t") + 3, LetStmt::make("v", x * 2 + 1, inner))));
    const auto all = boxes_touched(s);
    EXPECT_EQ(text(all.at("g")), "{[4, 7]}");
    EXPECT_EQ(text(all.at("h")), "{[1, 199]}");
    for (const std::string name : {"f", "g", "h"}) {
        const auto some = boxes_touched(s, std::set<std::string>{name});
        ASSERT_EQ(some.size(), 1u);
        EXPECT_EQ(text(some.at(name)), text(all.at(name)));
    }
}

TEST(Boxes, AConditionNarrowsLetsThatAnotherPartOfItAsksFor) {
    // Where x < 10, t is below 20: the second part says nothing more of n then.
    const Expr x = var("x"), t = var("t"), y = var("y");
    const Stmt s = loop(
        "x", 0, 100,
        loop("y", 0, 50,
             LetStmt::make("t", x * 2,
                           IfThenElse::make(x < 10 && y <= t, provide("f", func("g", {y}), {x})))));
    EXPECT_EQ(text(box_required(s, "g")), "{[0, 18]}");
}

TEST(Boxes, OfFuncsCalledAtValuesOfFuncs) {
    FuncValueBounds funcs;
    funcs[{"index", 0}] = {Expr(3), Expr(7)};
    const Expr e = func("g", {func("index", {var("x")}) + 1});
    Scope<Interval> scope;
    scope.push("x", {Expr(0), Expr(5)});
    EXPECT_EQ(text(box_required(e, "g", scope, funcs)), "{[4, 8]}");
    EXPECT_EQ(text(box_required(e, "index", scope, funcs)), "{[0, 5]}");
    EXPECT_EQ(text(box_required(e, "g", scope)), "{[-inf, inf]}");
}

TEST(Boxes, UnionCountsOnlyWhatIsUsed) {
    Box a({{Expr(0), Expr(10)}}), b({{Expr(5), Expr(20)}});
    EXPECT_EQ(text(box_union(a, b)), "{[0, 20]}");
    b.used = var("p", Bool());
    EXPECT_EQ(text(box_union(a, b)), "{[0, select(p:bool, 20, 10)]}");
    a.used = !var("p", Bool());
    const Box both = box_union(a, b);
    EXPECT_FALSE(both.maybe_unused()) << both;
}

TEST(Boxes, UnionOfBranchesIsAChoice) {
    const Expr n = var("n"), m = var("m");
    const Expr large = !(n < 8) && !(n < 32), first = !(n < 8) && !(m < 4);
    Box a({{Expr(0), n}}), b({{Expr(0), n + 7}}), c({{Expr(0), n + 31}});
    a.used = large;
    b.used = !(n < 8) && !!(n < 32);
    c.used = !!(n < 8);
    const Box ab = box_union(a, b);
    EXPECT_EQ(to_string(simplify(ab.used)), "8 <= n");
    const Box all = box_union(ab, c);
    EXPECT_FALSE(all.maybe_unused()) << all;
    for (int at : {3, 20, 40}) {
        const Expr max = simplify(substitute("n", at, all[0].max));
        EXPECT_EQ(to_string(max), std::to_string(at + (at < 8 ? 31 : at < 32 ? 7 : 0)));
    }
    // Of two conditions on the same branch, in whichever order.
    a.used = first;
    b.used = !(!(n < 8) && !(m < 4));
    EXPECT_FALSE(box_union(a, b).maybe_unused());
    EXPECT_FALSE(box_union(b, a).maybe_unused());
    a.used = large;
    b.used = large && !(m < 4);
    EXPECT_EQ(to_string(simplify(box_union(b, a).used)), to_string(simplify(large)));
}

TEST(Boxes, OfTilesThatAreRoundedUpInShiftedOnes) {
    // Tiles of 32, the last one shifted to where it ends at n, are read by eights.
    const Expr y = var("y"), x = var("x"), l = var("l"), n = var("n"), first = var("first"),
               last = var("last");
    const Stmt read = provide("f", func("g", {x * 8 + first + l}), {x});
    const Stmt by_eights =
        LetStmt::make("last", min(y * 32 + 31, n + 7),
                      loop("x", 0, (last - first) / 8 + 1, loop("l", 0, 8, read)));
    const Stmt s = loop("y", 0, (n + 39) / 32, LetStmt::make("first", min(y * 32, n), by_eights));
    const Box b = box_required(s, "g");
    for (const auto &[at, end] : {std::pair(24, 31), {56, 63}, {60, 71}}) {
        EXPECT_EQ(to_string(simplify(substitute("n", at, b[0].max))), std::to_string(end));
        EXPECT_EQ(to_string(simplify(substitute("n", at, b[0].min))), "0");
    }
}

TEST(Boxes, UnionOfWhatIsNotUsedReachesLessFar) {
    Box a({{Expr(0), Expr(10)}}), b({{Expr(-5), Expr(20)}});
    a.used = var("p", Bool());
    b.used = var("q", Bool());
    const std::string expected = "{[select(q:bool, -5, 0), select(q:bool, 20, 10)]} if ";
    EXPECT_EQ(text(box_union(a, b)), expected + "p:bool || q:bool");
    EXPECT_EQ(text(box_union(b, a)), expected + "q:bool || p:bool");
}

TEST(Boxes, UnionWithALargeEndKeepsConditions) {
    Expr large = var("n");
    for (int i = 0; i < 12; i++) {
        large = min(large * 3 + i, var("m") + i) / 2;
    }
    const Expr n = var("n"), p = var("p", Bool());
    Box a({{n, large}}), b({{n - 1, n + 1}});
    b.used = p;
    const Box both = box_union(a, b);
    EXPECT_FALSE(both.maybe_unused()) << both;
    const auto without = [&](const Expr &e) {
        return simplify(substitute("p", const_false(), e));
    };
    EXPECT_TRUE(can_prove(without(both[0].max) == large)) << both;
    EXPECT_TRUE(can_prove(substitute("p", const_true(), both[0].max) == max(large, n + 1)));
    EXPECT_TRUE(can_prove(without(both[0].min) == n)) << both;
}

TEST(Boxes, ALoopOverTheRestOfAMultipleTouchesNothing) {
    const Expr n = var("n"), rest = n - n / 16 * 16;
    const Stmt read = loop("y", 0, rest, provide("f", func("g", {var("x"), var("y")}), {0, 0}));
    const Stmt s = loop("x", 0, var("w"), read);
    EXPECT_TRUE(box_required(IfThenElse::make(n % 16 == 0, s), "g").empty());
    EXPECT_TRUE(box_required(IfThenElse::make(n / 16 * 16 == n, s), "g").empty());
    EXPECT_FALSE(box_required(IfThenElse::make(n % 8 == 0, s), "g").empty());
    EXPECT_FALSE(box_required(s, "g").empty());
}

TEST(Boxes, OverlapAndContainment) {
    const Expr n = var("n");
    const Box a({{n, n + 3}}), b({{n + 4, n + 6}}), c({{n + 1, n + 2}});
    EXPECT_FALSE(boxes_overlap(a, b));
    EXPECT_TRUE(boxes_overlap(a, c));
    EXPECT_TRUE(boxes_overlap(a, Box({{var("m"), var("m")}}))) << "may overlap";
    EXPECT_TRUE(box_contains(a, c));
    EXPECT_FALSE(box_contains(c, a));
    EXPECT_EQ(text(box_intersection(a, c)), "{[n + 1, n + 2]}");
    EXPECT_TRUE(box_contains(Box(1), a)) << "unbounded";
}

TEST(Boxes, ExternStagesDeclareTheirs) {
    const Expr n = var("n");
    const Stmt s =
        Evaluate::make(Call::make(Int(32), Intrinsic::declare_box_touched,
                                  {func("g", {n}), func("g", {n + 7}), func("f", {Expr(0)})}));
    EXPECT_EQ(text(box_required(s, "g")), "{[n, n + 7]}");
    EXPECT_EQ(text(box_provided(s, "g")), "{[n, n + 7]}");
    EXPECT_EQ(text(box_provided(s, "f")), "{[0, 0]}");
}

/// Runs a statement and tells each coordinate at which a Func is called or provided.
class Executor {
public:
    Interpreter interpreter;
    std::function<void(const std::string &name, bool provided, const std::vector<int64_t> &)>
        touched;

    void run(const Stmt &s) {
        if (const Block *op = s.as<Block>()) {
            run(op->first);
            run(op->rest);
        } else if (const LetStmt *op = s.as<LetStmt>()) {
            calls(op->value);
            with(op->name, value(op->value), [&] { run(op->body); });
        } else if (const For *op = s.as<For>()) {
            const auto min = value(op->min), extent = value(op->extent);
            for (int64_t i = 0; min && extent && i < *extent; i++) {
                with(op->name, *min + i, [&] { run(op->body); });
            }
        } else if (const IfThenElse *op = s.as<IfThenElse>()) {
            const auto holds = value(op->condition);
            if (holds && *holds) {
                run(op->then_case);
            } else if (holds && op->else_case.defined()) {
                run(op->else_case);
            }
        } else if (const Provide *op = s.as<Provide>()) {
            calls(op->values[0]);
            touch(op->name, true, op->args);
        }
    }

private:
    /// Absent where it is undefined.
    std::optional<int64_t> value(const Expr &e) {
        Interpreter fresh;
        fresh.variables = interpreter.variables;
        const Value v = fresh.evaluate(e);
        return fresh.undefined() ? std::nullopt : std::optional(int64_t(v.lanes[0].i));
    }

    template<typename F>
    void with(const std::string &name, std::optional<int64_t> x, F f) {
        if (x) {
            const auto hidden = interpreter.variables;
            interpreter.variables[name] = Value::integer(Int(32), *x);
            f();
            interpreter.variables = hidden;
        }
    }

    void touch(const std::string &name, bool provided, const std::vector<Expr> &args) {
        std::vector<int64_t> coordinates;
        for (const Expr &arg : args) {
            const auto x = value(arg);
            if (!x) {
                return;
            }
            coordinates.push_back(*x);
        }
        touched(name, provided, coordinates);
    }

    /// The calls of Funcs in e: at the top, below sums and choices.
    void calls(const Expr &e) {
        if (const Add *op = e.as<Add>()) {
            calls(op->a);
            calls(op->b);
        } else if (const Let *op = e.as<Let>()) {
            with(op->name, value(op->value), [&] { calls(op->body); });
        } else if (const Call *op = Call::as_intrinsic(e, Intrinsic::if_then_else)) {
            if (const auto holds = value(op->args[0])) {
                calls(op->args[*holds ? 1 : 2]);
            }
        } else if (const Call *op = e.as<Call>(); op && op->call_type == CallKind::Func) {
            touch(op->name, false, op->args);
        }
    }
};

class RandomStmt {
public:
    explicit RandomStmt(uint32_t seed) : random(seed) {
        random.variables = {{"n", Int(32)}, {"m", Int(32)}};
        random.with_intrinsics = false;
    }

    RandomExpr random;

    Stmt make(int depth) {
        switch (depth <= 0 ? 0 : random.below(6)) {
        case 0:
            return provide("f", value(2), {index(), index()});
        case 1:
            return Block::make(make(depth - 1), make(depth - 1));
        case 2:
            return IfThenElse::make(condition(), make(depth - 1),
                                    random.below(2) ? make(depth - 1) : Stmt());
        case 3: {
            const Expr value = random.make(Int(32), 2);
            const std::string name = fresh("t");
            return LetStmt::make(name, value, within(name, depth));
        }
        default: {
            const Expr min = random.make(Int(32), 1);
            const std::string name = fresh("i");
            return loop(name, min, extent(), within(name, depth));
        }
        }
    }

private:
    Expr size() {
        return var(random.below(2) ? "n" : "m");
    }

    /// Often that a size is a multiple of a constant ...
    Expr condition() {
        return random.below(3) ? random.make(Bool(), 2) : size() % (2 + random.below(3)) == 0;
    }

    /// ... and often what is left of one.
    Expr extent() {
        const Expr n = size(), c = 2 + random.below(3);
        const Expr extents[] = {1 + random.below(4), calotype::min(random.make(Int(32), 1), 4),
                                n - n / c * c};
        return extents[random.below(3)];
    }

    std::string fresh(const char *prefix) {
        // Now and then a name again: inner bindings hide outer ones.
        return prefix + std::to_string(random.below(5) ? count_++ : random.below(count_ + 1));
    }

    Stmt within(const std::string &name, int depth) {
        random.variables.emplace_back(name, Int(32));
        const Stmt body = make(depth - 1);
        random.variables.pop_back();
        return body;
    }

    Expr index() {
        return random.make(Int(32), 2);
    }

    Expr value(int depth) {
        switch (depth <= 0 ? 0 : random.below(4)) {
        case 0:
            return func("g", {index(), index()});
        case 1:
            return value(depth - 1) + value(depth - 1);
        case 2:
            return Call::make(Int(32), Intrinsic::if_then_else,
                              {random.make(Bool(), 2), value(depth - 1), value(depth - 1)});
        default: {
            const Expr bound = random.make(Int(32), 2);
            const std::string name = fresh("v");
            random.variables.emplace_back(name, Int(32));
            const Expr body = value(depth - 1);
            random.variables.pop_back();
            return Let::make(name, bound, body);
        }
        }
    }

    int count_ = 0;
};

std::optional<int64_t> evaluate_end(const Interpreter &outside, const Expr &e) {
    Interpreter fresh;
    fresh.variables = outside.variables;
    const Value v = fresh.evaluate(e);
    return fresh.undefined() ? std::nullopt : std::optional(int64_t(v.lanes[0].i));
}

void expect_in_box(const Interpreter &outside, const Box &box, const std::vector<int64_t> &at,
                   const Stmt &s, const std::string &name) {
    const auto about = [&] {
        std::ostringstream out;
        out << name << " at (" << at[0] << ", " << at[1] << ") is not in " << box
            << "\nn = " << to_string(outside.variables.at("n"))
            << ", m = " << to_string(outside.variables.at("m")) << "\n"
            << s;
        return out.str();
    };
    ASSERT_EQ(box.size(), at.size()) << about();
    if (box.used.defined()) {
        ASSERT_NE(evaluate_end(outside, box.used), 0) << about();
    }
    for (size_t d = 0; d < at.size(); d++) {
        const auto low = box[d].min.defined() ? evaluate_end(outside, box[d].min) : std::nullopt;
        const auto high = box[d].max.defined() ? evaluate_end(outside, box[d].max) : std::nullopt;
        ASSERT_TRUE(!low || *low <= at[d]) << about();
        ASSERT_TRUE(!high || at[d] <= *high) << about();
    }
}

TEST(BoxesProperty, EveryTouchedCoordinateIsInTheBox) {
    RandomStmt random(11);
    for (int i = 0; i < 1200; i++) {
        const Stmt s = random.make(5);
        const auto required = boxes_required(s), provided = boxes_provided(s);
        for (int trial = 0; trial < 4; trial++) {
            Executor executor;
            for (const char *name : {"n", "m"}) {
                executor.interpreter.variables[name] =
                    Value::integer(Int(32), random.random.below(16) - 5);
            }
            const Interpreter outside = executor.interpreter;
            executor.touched = [&](const std::string &name, bool writes,
                                   const std::vector<int64_t> &at) {
                const auto &boxes = writes ? provided : required;
                const auto it = boxes.find(name);
                ASSERT_TRUE(it != boxes.end()) << name << " has no box in\n" << s;
                expect_in_box(outside, it->second, at, s, name);
            };
            executor.run(s);
            if (HasFatalFailure()) {
                return;
            }
        }
    }
}

}  // namespace
