// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random expressions of all types keep their value, lane by lane, under simplify(); what comes out
// is not simplified further by a second time. The interpreter knows nothing of the simplifier.
#include <gtest/gtest.h>

#include <random>

#include "arith/simplify.h"
#include "harness/run_stmt.h"
#include "ir/constants.h"
#include "ir/equality.h"
#include "ir/mutator.h"
#include "ir/printer.h"
#include "ir/with.h"

namespace calotype {

using namespace internal;
namespace {

using test::Interpreter;
using test::Value;

const std::vector<Type> element_types = {Int(32), Int(32),   Int(32),  Int(64),  Int(8),
                                         Int(16), UInt(8),   UInt(16), UInt(32), UInt(64),
                                         Bool(),  Float(32), Float(64)};

/// With `indices`, what indices are made of: int32 scalars over two variables and small constants.
class RandomExpr {
public:
    explicit RandomExpr(unsigned seed, bool indices = false, bool loads = false)
        : random_(seed), indices_(indices), loads_(loads) {
    }

    int below(int n) {
        return int(random_() % unsigned(n));
    }

    Type type() {
        if (indices_) {
            return below(4) ? Int(32) : Bool();
        }
        return element_types[below(int(element_types.size()))].with_lanes(below(3) ? 1 : 4);
    }

    Expr expr(Type t, int depth) {
        if (depth <= 0 || below(10) == 0) {
            return leaf(t);
        }
        if (t.lanes() > 1 && below(4) == 0) {
            return vector(t, depth);
        }
        return t.is_bool() && below(8) ? condition(t, depth) : arithmetic(t, depth);
    }

    /// Flat statements over the two variables of indices, which loops and lets bind again.
    Stmt stmt(int depth) {
        const std::string name = variable(Int(32));
        switch (depth <= 0 ? below(3) : below(10)) {
        case 0:
        case 1:
        case 2:
            return Store::make("f", expr(Int(32), depth + 1), expr(Int(32), depth), const_true(),
                               Alignment());
        case 3:
        case 4:
            return LetStmt::make(name, below(3) ? expr(Int(32), 1) : load(), stmt(depth - 1));
        case 5:
        case 6:
            return For::make(name, expr(Int(32), 1),
                             below(2) ? make_const(Int(32), below(5) - 1) : trips(),
                             ForType::Serial, Partition::Auto, DeviceAPI::None, stmt(depth - 1));
        case 7:
            return IfThenElse::make(expr(Bool(), 2), stmt(depth - 1),
                                    below(2) ? stmt(depth - 1) : Stmt());
        case 8:
            return Block::make(AssertStmt::make(expr(Bool(), 1), make_zero(Int(32))),
                               stmt(depth - 1));
        default:
            return Block::make(stmt(depth - 1), stmt(depth - 1));
        }
    }

    /// Values for all variables: small where arithmetic must not overflow.
    void fill(std::map<std::string, Value> &values) {
        for (const auto &[name, t] : variables_) {
            Value v = Value::integer(t, 0);
            for (test::Lane &lane : v.lanes) {
                const int spread = t.is_int() && t.bits() >= 32 ? 20 : 300;
                const int x = below(2 * spread + 1) - spread;
                lane = t.is_float() ? Value::real(t.element_of(), x * 0.25).lanes[0]
                                    : Value::integer(t.element_of(), x).lanes[0];
            }
            values[name] = v;
        }
    }

private:
    Expr leaf(Type t) {
        if (below(3) == 0) {
            return constant(t);
        }
        if (t.lanes() > 1 && below(2)) {
            return Broadcast::make(leaf(t.element_of()), t.lanes());
        }
        if (indices_ && t == Int(32) && below(8) == 0) {
            return load();
        }
        return Variable::make(t, variable(t));
    }

    std::string variable(Type t) {
        const std::string name =
            std::string(1, "xyzw"[below(indices_ ? 2 : 4)]) + "_" + to_string(t);
        variables_[name] = t;
        return name;
    }

    Expr load() {
        const Expr index = Variable::make(Int(32), variable(Int(32)));
        return loads_ ? Load::make(Int(32), "f", index, const_true(), Alignment()) : index;
    }

    Expr trips() {
        return Mod::make(expr(Int(32), 1), make_const(Int(32), 4));
    }

    Expr constant(Type t) {
        static constexpr int values[] = {0, 1, 2, 3, 4, 8, -1, -2, -3, 5, 7, 16, 100, 255};
        const int x = values[below(int(std::size(values)))];
        return t.is_float() ? make_const(t, x * 0.5) : make_const(t, t.is_bool() ? x & 1 : x);
    }

    Expr vector(Type t, int depth) {
        const Type half = t.with_lanes(t.lanes() / 2);
        switch (below(4)) {
        case 0:
            return Broadcast::make(expr(half, depth - 1), 2);
        case 1:
            return Broadcast::make(expr(t.element_of(), depth - 1), t.lanes());
        case 2: {
            std::vector<int> indices(t.lanes());
            for (int &i : indices) {
                i = below(t.lanes());
            }
            return Shuffle::make({expr(t, depth - 1)}, indices);
        }
        default:
            return t.is_float() || t.is_bool()
                       ? leaf(t)
                       : Ramp::make(expr(t.element_of(), depth - 1),
                                    below(3) ? constant(t.element_of()) : leaf(t.element_of()),
                                    t.lanes());
        }
    }

    Expr condition(Type t, int depth) {
        const Type operand = type().with_lanes(t.lanes());
        const Expr a = expr(below(3) ? operand : t, depth - 1), b = expr(a.type(), depth - 1);
        switch (below(9)) {
        case 0:
            return EQ::make(a, b);
        case 1:
            return NE::make(a, b);
        case 2:
            return LT::make(a, b);
        case 3:
            return LE::make(a, b);
        case 4:
            return GT::make(a, b);
        case 5:
            return GE::make(a, b);
        case 6:
            return Not::make(expr(t, depth - 1));
        case 7:
            return And::make(expr(t, depth - 1), expr(t, depth - 1));
        default:
            return Or::make(expr(t, depth - 1), expr(t, depth - 1));
        }
    }

    Expr arithmetic(Type t, int depth) {
        const Expr a = expr(t, depth - 1);
        // Sharing subexpressions is what makes most rules apply.
        const Expr b = below(5) == 0 ? a : expr(t, depth - 1);
        switch (below(16)) {
        case 0:
        case 1:
        case 2:
            return Add::make(a, b);
        case 3:
        case 4:
            return Sub::make(a, b);
        case 5:
            return Mul::make(a, b);
        case 6:
            return Mul::make(a, constant(t));
        case 7:
            return t.is_float() ? Mul::make(a, b) : Div::make(a, below(4) ? constant(t) : b);
        case 8:
            return t.is_float() ? Sub::make(a, b) : Mod::make(a, below(4) ? constant(t) : b);
        case 9:
        case 10:
            return Min::make(a, b);
        case 11:
        case 12:
            return Max::make(a, b);
        case 13:
            return Select::make(expr(Bool(below(2) ? 1 : t.lanes()), depth - 1), a, b);
        case 14:
            return Cast::make(t, expr(type().with_lanes(t.lanes()), depth - 1));
        default:
            return Let::make("let_" + to_string(t), a,
                             Add::make(Variable::make(t, "let_" + to_string(t)), b));
        }
    }

    std::mt19937 random_;
    const bool indices_, loads_;
    std::map<std::string, Type> variables_;
};

class SimplifyFuzz : public testing::TestWithParam<int> {};

void check_value(RandomExpr &random, const Expr &before, const Expr &after) {
    for (int i = 0; i < 8; i++) {
        Interpreter interpreter;
        random.fill(interpreter.variables);
        const Value expected = interpreter.evaluate(before);
        if (interpreter.undefined() || interpreter.met_nan()) {
            continue;
        }
        const Value actual = interpreter.evaluate(after);
        // Near the limits of the type a different order of operations may leave it.
        if (interpreter.undefined() || interpreter.met_nan()) {
            continue;
        }
        std::string values;
        for (const auto &[name, value] : interpreter.variables) {
            values += "\n  " + name + " = " + to_string(value);
        }
        ASSERT_TRUE(expected == actual)
            << to_string(expected) << " became " << to_string(actual) << ":\n"
            << before << "\nbecame\n"
            << after << values;
    }
}

int count() {
    const char *more = std::getenv("CALOTYPE_FUZZ");
    return more ? std::atoi(more) : 1500;
}

/// The same of new nodes, of which the simplifier has not noted that it made them.
class Copy : public Mutator {
protected:
    using Mutator::visit;
#define EXPR(Name)                                                                                 \
    Expr visit(const Name *op) override {                                                          \
        const Expr e = Mutator::visit(op);                                                         \
        return e.same_as(op) ? remade(Name(*op)) : e;                                              \
    }
#include "ir/nodes.def"
};

void check(RandomExpr &random, const Expr &before, const SimplifyContext &context) {
    const Expr after = simplify(before, context);
    ASSERT_EQ(before.type(), after.type()) << before << "\nbecame\n" << after;
    check_value(random, before, after);
    const Expr again = simplify(Copy().mutate(after), context);
    ASSERT_TRUE(equal(after, again)) << before << "\nbecame\n" << after << "\nand then\n" << again;
}

TEST_P(SimplifyFuzz, KeepsValuesAndIsIdempotent) {
    for (int i = 0; i < count() && !HasFatalFailure(); i++) {
        RandomExpr random(unsigned(GetParam() * 1000003 + i));
        check(random, random.expr(random.type(), 1 + i % 6), {});
    }
}

TEST_P(SimplifyFuzz, KeepsIndices) {
    SimplifyContext context;
    context.bound("x_int32", -20, 20);
    for (int i = 0; i < count() && !HasFatalFailure(); i++) {
        RandomExpr random(unsigned(GetParam() * 1000003 + i), true);
        check(random, random.expr(random.type(), 2 + i % 4), i % 2 ? context : SimplifyContext());
    }
}

void check(RandomExpr &random, const Stmt &before) {
    const Stmt after = simplify(before);
    const std::string text =
        to_string(before) + "became\n" + (after.defined() ? to_string(after) : "");
    for (int i = 0; i < 4; i++) {
        test::Machine expected, actual;
        random.fill(expected.variables());
        actual.variables() = expected.variables();
        expected.run(before);
        actual.run(after);
        if (!expected.undefined() && !actual.undefined()) {
            ASSERT_EQ(expected.state(), actual.state()) << text;
        }
    }
}

TEST_P(SimplifyFuzz, KeepsWhatStatementsDo) {
    for (int i = 0; i < count() && !HasFatalFailure(); i++) {
        RandomExpr random(unsigned(GetParam() * 1000003 + i), true, true);
        check(random, random.stmt(2 + i % 4));
    }
}

INSTANTIATE_TEST_SUITE_P(Seeds, SimplifyFuzz, testing::Range(0, 8));

}  // namespace
}  // namespace calotype
