// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "arith/cse.h"

#include <gtest/gtest.h>

#include <deque>

#include "harness/interpret.h"
#include "ir/equality.h"
#include "ir/printer.h"
#include "random_expr.h"

using namespace calotype;
using namespace calotype::internal;
using namespace calotype::test;

namespace {

const Expr x = Variable::make(Int(32), "x"), y = Variable::make(Int(32), "y");

std::string cse(const Expr &e, bool lift_all = false) {
    return to_string(common_subexpression_elimination(e, lift_all));
}

Expr load(const Expr &index) {
    return Load::make(Int(32), "buf", index, const_true(), Alignment());
}

TEST(CSE, NamesWhatOccursTwice) {
    EXPECT_EQ(cse(x * y + x * y), "let t0 = x * y in t0 + t0");
    EXPECT_EQ(cse((x * y + 1) * (x * y + 2)), "let t0 = x * y in (t0 + 1) * (t0 + 2)");
    EXPECT_EQ(cse(x * y + y * x), "x * y + y * x");
}

TEST(CSE, LeavesCheapThings) {
    EXPECT_EQ(cse((x + 1) * (x + 1)), "(x + 1) * (x + 1)");
    EXPECT_EQ(cse((x + 1) * (x + 1), true), "let t0 = x + 1 in t0 * t0");
    // A bundle is the index of an image where it stands.
    const Expr bundle = Call::make(Int(32), Intrinsic::bundle, {x * y, y});
    const Expr other = Load::make(Int(32), "other", bundle, const_true(), Alignment());
    EXPECT_EQ(cse(load(bundle) + other),
              "let t0 = x * y in buf[bundle(t0, y)] + other[bundle(t0, y)]");
    const Expr lanes = Variable::make(Int(32, 16), "lanes");
    const Expr odd = Shuffle::make_slice(lanes, 1, 2, 8);
    EXPECT_EQ(cse(odd * odd), "slice(lanes:int32x16, 1, 2, 8) * slice(lanes:int32x16, 1, 2, 8)");
    // What a cheap thing is made of is named if it is used twice through it.
    EXPECT_EQ(cse((x * y + 1) / (x * y + 1)), "let t0 = x * y in (t0 + 1) / (t0 + 1)");
}

TEST(CSE, DefinitionsUseEarlierOnes) {
    const Expr a = x * y, b = a * a + x;
    EXPECT_EQ(cse(b % b), "let t0 = x * y in let t1 = t0 * t0 + x in t1 % t1");
}

TEST(CSE, DissolvesLets) {
    const Expr t = Variable::make(Int(32), "t");
    EXPECT_EQ(cse(Let::make("t", x + y, t * 2)), "(x + y) * 2");
    EXPECT_EQ(cse(Let::make("t", x + y, t * t)), "let t0 = x + y in t0 * t0");
    // Two lets of one name, and a free variable of that name.
    const Expr inner = Let::make("x", y, x + 1);
    EXPECT_EQ(cse(inner * x), "(y + 1) * x");
    EXPECT_EQ(cse(Let::make("x", x + y, x % (x + 5))), "let t0 = x + y in t0 % (t0 + 5)");
}

TEST(CSE, NewNamesDifferFromThoseInUse) {
    const Expr t0 = Variable::make(Int(32), "t0");
    EXPECT_EQ(cse(t0 * y + t0 * y), "let t1 = t0 * y in t1 + t1");
}

TEST(CSE, MemoryIsReadOnlyWhereItWas) {
    const Expr twice = load(x) * load(x);
    EXPECT_EQ(cse(twice), "let t0 = " + to_string(load(x)) + " in t0 * t0");
    const Expr guarded = Call::make(Int(32), Intrinsic::if_then_else, {x < y, twice, x});
    EXPECT_EQ(cse(guarded), to_string(guarded)) << "the read must not leave the branch";
    EXPECT_NE(cse(guarded + load(x)), to_string(guarded + load(x))) << "read outside anyway";
}

TEST(CSE, EffectsStayApart) {
    const auto effect = [] {
        return Call::make(Int(32), "put", {x * y}, CallKind::Extern);
    };
    const std::string put =
        to_string(Call::make(Int(32), "put", {Variable::make(Int(32), "t0")}, CallKind::Extern));
    EXPECT_EQ(cse(effect() + effect()), "let t0 = x * y in " + put + " + " + put);
}

TEST(CSE, PartsOfAStoreShareTheirLets) {
    const Expr index = x * y + x;
    const Stmt s = Store::make("out", load(index), index, const_true(), Alignment());
    const Stmt result = common_subexpression_elimination(s);
    const LetStmt *let = result.as<LetStmt>();
    ASSERT_TRUE(let) << result;
    EXPECT_EQ(to_string(let->value), "x * y + x");
    EXPECT_TRUE(let->body.as<Store>()) << result;
}

TEST(CSE, IsLinearInTheDag) {
    Expr e = x * y;
    for (int i = 0; i < 200; i++) {
        e = e * e - Variable::make(Int(32), "v" + std::to_string(i));
    }
    const Expr result = common_subexpression_elimination(e);
    int lets = 0;
    for (Expr r = result; const Let *let = r.as<Let>(); r = let->body) {
        lets++;
    }
    EXPECT_EQ(lets, 200);
    EXPECT_TRUE(equal(result, common_subexpression_elimination(e))) << "deterministic";
}

TEST(CSEProperty, KeepsTheValue) {
    const std::vector<Type> types = {Int(32), UInt(8), Int(16), UInt(32)};
    RandomExpr random(41);
    random.types = types;
    for (const Type &t : types) {
        random.variables.emplace_back("x_" + to_string(t), t);
        random.variables.emplace_back("y_" + to_string(t), t);
    }
    for (int i = 0; i < 2000; i++) {
        const Expr part = random.make(types[random.below(4)], 3);
        const Expr e = Select::make(random.make(Bool(), 3), part, part * part);
        const bool lift_all = random.below(2);
        const Expr result = common_subexpression_elimination(e, lift_all);
        for (int trial = 0; trial < 5; trial++) {
            Interpreter before, after;
            for (const auto &[name, t] : random.variables) {
                before.variables[name] = Value::integer(t, random.below(40) - 20);
            }
            after.variables = before.variables;
            const Value a = before.evaluate(e), b = after.evaluate(result);
            if (before.undefined()) {
                continue;  // A let that is not used may be dropped.
            }
            ASSERT_FALSE(after.undefined()) << e << "\n" << result;
            ASSERT_TRUE(a == b) << e << "\nis " << to_string(a) << ", but\n"
                                << result << "\nis " << to_string(b);
        }
    }
}

/// 2^levels paths through as many nodes.
Expr squared(Expr e, int levels) {
    for (int i = 0; i < levels; i++) {
        e = e * e;
    }
    return e;
}

TEST(NameRepeated, small_trees_stay) {
    const Expr small = squared(x, 9);
    EXPECT_FALSE(is_repetitive(small));
    EXPECT_TRUE(is_repetitive(small, 512));
    EXPECT_TRUE(name_repeated(small).same_as(small));
    // Large, but nothing is shared. As flat as can be, for stacks of sanitizers.
    std::deque<Expr> terms;
    for (int i = 0; i <= 4000; i++) {
        terms.push_back(Variable::make(Int(32), "y"));
    }
    while (terms.size() > 1) {
        terms.push_back(terms[0] + terms[1]);
        terms.erase(terms.begin(), terms.begin() + 2);
    }
    const Expr large = terms.front();
    EXPECT_FALSE(is_repetitive(large));
    EXPECT_TRUE(name_repeated(large).same_as(large));
}

TEST(NameRepeated, huge_trees_become_lets) {
    const Expr huge = squared(x * y, 100);
    EXPECT_TRUE(is_repetitive(huge));
    const std::string text = to_string(name_repeated(huge));
    EXPECT_EQ(text.substr(0, 52), "let t0 = x * y in let t1 = t0 * t0 in let t2 = t1 * ");
    EXPECT_EQ(text.substr(text.size() - 32), "let t99 = t98 * t98 in t99 * t99");
}

TEST(NameRepeated, statements_share_among_their_parts) {
    const Expr huge = squared(x, 64);
    const Stmt provide = Provide::make("f", {huge, huge + 1}, {y}, const_true());
    const Stmt other = Provide::make("t0", {squared(x, 3)}, {y}, const_true());
    const Stmt named = name_repeated(Block::make(other, provide));
    const Block *block = named.as<Block>();
    ASSERT_TRUE(block);
    EXPECT_TRUE(block->first.same_as(other));
    const LetStmt *let = block->rest.as<LetStmt>();
    ASSERT_TRUE(let);
    // The name of a Func is taken.
    EXPECT_EQ(let->name, "t1");
    Stmt inside(let);
    int lets = 0;
    while (const LetStmt *next = inside.as<LetStmt>()) {
        inside = Stmt(next->body);
        lets++;
    }
    EXPECT_EQ(lets, 64);
    EXPECT_EQ(to_string(inside), "f(y) = {t64, t64 + 1}\n");
}

TEST(NameRepeated, undef_is_no_value_to_be_named) {
    Expr e = Call::make(Int(32), Intrinsic::undef, {});
    e = squared(select(x < y, x * y, e), 64);
    const std::string text = to_string(name_repeated(Provide::make("f", {e}, {y}, const_true())));
    EXPECT_EQ(text.substr(0, 60), "f(y) = let t0 = select(x < y, x * y, undef()) in let t1 = t0");
}

}  // namespace
