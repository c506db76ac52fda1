// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Visitors, mutators, equality, order and hash.
#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "harness/expect_error.h"
#include "harness/random_ir.h"
#include "ir/equality.h"
#include "ir/mutator.h"
#include "ir/operators.h"
#include "ir/parser.h"
#include "ir/printer.h"
#include "ir/visitor.h"

namespace calotype {

using namespace internal;
namespace {

/// 2^depth copies of x as a tree, but only depth nodes.
Expr doubling(int depth) {
    Expr e = Variable::make(Int(32), "x");
    for (int i = 0; i < depth; i++) {
        e = Add::make(e, e);
    }
    return e;
}

TEST(Visitor, SeesChildrenInTheOrderOfTheText) {
    class Names : public Visitor {
    public:
        std::string names;
        using Visitor::operator();

    protected:
        using Visitor::visit;
        void visit(const Variable *op) override {
            names += op->name;
        }
    };
    Names names;
    names(parse_stmt("for (x, a, b) { f[c if d:bool] = e g(h, i) = {j, k} }\n"
                     "realize f([l, m], [n, o]) when(p:bool) { evaluate select(q:bool, r, s) }"));
    EXPECT_EQ(names.names, "abecdjkhilmnopqrs");
}

TEST(GraphVisitor, EntersSharedNodesOnce) {
    class Count : public GraphVisitor {
    public:
        int adds = 0;

    protected:
        using GraphVisitor::visit;
        void visit(const Add *op) override {
            adds++;
            GraphVisitor::visit(op);
        }
    };
    Count count;
    count(doubling(60));
    EXPECT_EQ(count.adds, 60);
}

/// Renames variables, so that every node above one is rebuilt.
class Rename : public GraphMutator {
protected:
    using GraphMutator::visit;
    Expr visit(const Variable *op) override {
        return Variable::make(op->type, op->name + "_", op->symbol);
    }
};

class RenameBack : public GraphMutator {
protected:
    using GraphMutator::visit;
    Expr visit(const Variable *op) override {
        return Variable::make(op->type, op->name.substr(0, op->name.size() - 1), op->symbol);
    }
};

TEST(Mutator, UnchangedNodesStayTheSame) {
    test::RandomIr random(3);
    for (int i = 0; i < 300; i++) {
        const Stmt s = random.stmt(4);
        ASSERT_TRUE(Mutator().mutate(s).same_as(s));
        ASSERT_TRUE(GraphMutator().mutate(s).same_as(s));
    }
}

TEST(Mutator, RebuildsEveryKindOfNode) {
    test::RandomIr random(4);
    for (int i = 0; i < 500; i++) {
        const Stmt s = random.stmt(4);
        const Stmt renamed = Rename().mutate(s);
        const Stmt back = RenameBack().mutate(renamed);
        ASSERT_TRUE(equal(s, back)) << s << "\nbecame\n" << back;
    }
}

TEST(Mutator, KeepsSymbols) {
    const SymbolPtr symbol = new Symbol(SymbolKind::Parameter, "p");
    const Expr index = Variable::make(Int(32), "x");
    const Expr load = Load::make(UInt(8), "p", index, const_true(), Alignment(), symbol);
    const Expr call = Call::make(UInt(8), "p", {index}, CallKind::Image, 0, symbol);
    EXPECT_EQ(Rename().mutate(load).as<Load>()->symbol, symbol);
    EXPECT_EQ(Rename().mutate(call).as<Call>()->symbol, symbol);
    EXPECT_FALSE(Rename().mutate(load).same_as(load));
}

TEST(GraphMutator, RewritesSharedNodesOnce) {
    const Expr renamed = Rename().mutate(doubling(60));
    const Add *top = renamed.as<Add>();
    ASSERT_NE(top, nullptr);
    EXPECT_TRUE(top->a.same_as(top->b));
}

TEST(Equality, IsLinearInTheGraph) {
    EXPECT_TRUE(equal(doubling(60), doubling(60)));
    EXPECT_FALSE(equal(doubling(60), doubling(61)));
    EXPECT_EQ(hash(doubling(60)), hash(doubling(60)));
}

TEST(Equality, AgreesWithTheText) {
    test::RandomIr random(5);
    std::vector<Expr> exprs;
    for (int i = 0; i < 150; i++) {
        exprs.push_back(random.expr(random.one_of(std::vector<Type>{Int(32), Bool(), UInt(8)}), 2));
    }
    for (const Expr &a : exprs) {
        for (const Expr &b : exprs) {
            const bool same_text = to_string(a) == to_string(b);
            ASSERT_EQ(equal(a, b), same_text) << a << "  and  " << b;
            ASSERT_EQ(hash(a) == hash(b), same_text) << a << "  and  " << b;
            ASSERT_EQ(compare(a, b), -compare(b, a));
        }
    }
}

TEST(Equality, OrderIsTotal) {
    test::RandomIr random(6);
    std::set<Expr, ExprDeepLess> sorted;
    std::set<std::string> texts;
    for (int i = 0; i < 2000; i++) {
        const Expr e = random.expr(Int(32), 2);
        sorted.insert(e);
        texts.insert(to_string(e));
    }
    EXPECT_EQ(sorted.size(), texts.size());
}

TEST(Equality, HashIsStable) {
    // Written down once: a change here changes the keys of caches on disk.
    EXPECT_EQ(hash(parse_expr("select(x < 3, f[x]:uint8, (uint8)7)")), 2900322692794433534u);
}

TEST(Equality, ShallowHashLooksNoDeeper) {
    const auto of = [](const char *text, int levels) {
        return shallow_hash(parse_expr(text), levels);
    };
    EXPECT_NE(of("x + y * 3", 2), of("x + y", 2));
    EXPECT_NE(of("x + y * 3", 3), of("x + y * 4", 3));
    EXPECT_EQ(of("x + y * 3", 2), of("x + y * 4", 2));
    EXPECT_EQ(of("x + y", 0), of("z + 1", 0));
    EXPECT_NE(of("x + y", 0), of("x - y", 0));
    EXPECT_EQ(shallow_hash(doubling(60), 5), shallow_hash(doubling(61), 5));
}

TEST(Equality, TypesAndBitsOfFloatsCount) {
    EXPECT_FALSE(equal(parse_expr("x"), parse_expr("x:uint8")));
    EXPECT_FALSE(equal(parse_expr("0.0f"), parse_expr("-0.0f")));
    EXPECT_TRUE(equal(parse_expr("(float32)nan"), parse_expr("(float32)nan")));
    EXPECT_FALSE(equal(Expr(), Expr(1)));
    EXPECT_TRUE(equal(Expr(), Expr()));
}

/// x + p + p + ..., of n operators.
Expr nested(int n) {
    const Expr p = Variable::make(Int(32), "p");
    Expr e = Variable::make(Int(32), "x");
    for (int i = 0; i < n; i++) {
        e = Add::make(std::move(e), p);
    }
    return e;
}

TEST(DeepTrees, AreFreedHoweverDeep) {
    Expr left = nested(1000000);
    Expr shared = left;
    left = Expr();
    EXPECT_TRUE(shared.defined());
    shared = Expr();

    Expr right = Variable::make(Int(32), "x");
    Stmt body;
    for (int i = 0; i < 300000; i++) {
        right = Call::make(Int(32), "f", {Expr(1), std::move(right)}, CallKind::PureExtern);
        body = IfThenElse::make(Variable::make(Bool(), "b"),
                                body.defined() ? body : Evaluate::make(0));
    }
}

TEST(DeepTrees, AreAnErrorWhereTheStackEnds) {
    const Expr e = nested(1000000), same = nested(1000000);
    class Walk : public Visitor {};
    const auto fails = [](auto f) {
        EXPECT_PRED_FORMAT2(testing::IsSubstring, "is nested too deeply for the ",
                            test::error_of<CompileError>(f));
    };
    fails([&] { Walk()(e); });
    fails([&] { Mutator()(e); });
    fails([&] { equal(e, same); });
    fails([&] { hash(e); });
    fails([&] { to_string(e); });
    // What fits is walked, on a small stack as well.
    Walk()(nested(1000));
    std::thread([] { Walk()(nested(1000)); }).join();
}

}  // namespace
}  // namespace calotype
