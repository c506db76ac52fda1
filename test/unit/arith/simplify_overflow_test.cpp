// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random expressions of values that are read from memory, which lie anywhere in their types: where nothing overflows as it
// is written, simplify() keeps the value, though what it makes may overflow on the way. The interpreter computes exactly
// and says what overflows.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "arith/simplify.h"
#include "harness/interpret.h"
#include "ir/mutator.h"
#include "ir/printer.h"
#include "random_expr.h"

namespace calotype {

using namespace internal;
namespace {

using test::Interpreter;
using test::Value;

int count() {
    const char *more = std::getenv("CALOTYPE_FUZZ");
    return more ? std::atoi(more) : 1500;
}

/// Ends of types, powers of two and their neighbours, small numbers, and anything.
class Extremes {
public:
    explicit Extremes(unsigned seed) : random_(seed) {
    }

    int64_t of(Type t) {
        switch (below(8)) {
        case 0:
            return least(t) + below(4);
        case 1:
            return greatest(t) - below(4);
        case 2:
        case 3:
            return near_power(t);
        case 4:
        case 5:
            return below(24) - 12;
        default:
            return int64_t(uint64_t(random_()) << 32 | random_());
        }
    }

    int below(int n) {
        return int(random_() % unsigned(n));
    }

private:
    static int64_t least(Type t) {
        return t.is_int() ? t.imin() : 0;
    }
    static int64_t greatest(Type t) {
        return t.is_int() ? t.imax() : int64_t(t.umax());
    }
    int64_t near_power(Type t) {
        const uint64_t power = uint64_t(1) << below(t.bits());
        return int64_t((below(2) ? power : 0 - power) + uint64_t(below(3)) - 1);
    }

    std::mt19937 random_;
};

/// Free variables become loads from memory of their name, scalars become vectors of `lanes`.
class Read : public Mutator {
public:
    explicit Read(int lanes) : lanes_(lanes) {
    }

protected:
    using Mutator::visit;
    Expr visit(const IntImm *op) override {
        return wide(op);
    }
    Expr visit(const UIntImm *op) override {
        return wide(op);
    }
    Expr visit(const Variable *op) override {
        const Type t = op->type.with_lanes(lanes_);
        const bool is_let = op->name.compare(0, 3, "let") == 0;
        return is_let ? Variable::make(t, op->name)
                      : Load::make(t, op->name, index(), const_true(lanes_), Alignment());
    }
    Expr visit(const Cast *op) override {
        return Cast::make(op->type.with_lanes(lanes_), mutate(op->value));
    }
    Expr visit(const Call *op) override {
        std::vector<Expr> args;
        for (const Expr &arg : op->args) {
            args.push_back(mutate(arg));
        }
        return Call::make(op->type.with_lanes(lanes_), op->intrinsic, args);
    }

private:
    Expr wide(const Expr &e) const {
        return lanes_ == 1 ? e : Broadcast::make(e, lanes_);
    }
    Expr index() const {
        const Expr zero = make_zero(Int(32));
        return lanes_ == 1 ? zero : Ramp::make(zero, make_const(Int(32), 1), lanes_);
    }
    const int lanes_;
};

struct Case {
    Expr written;
    std::map<std::string, Type> memory;
};

Case random_case(unsigned seed, int depth) {
    static const std::vector<Type> types = {Int(32), Int(32), Int(32),  Int(64), Int(16),
                                            Int(8),  UInt(8), UInt(16), UInt(32)};
    test::RandomExpr random(seed);
    Case made;
    const bool one_type = random.below(3) > 0;
    const Type t =
        one_type ? Int(random.below(4) ? 32 : 64) : types[size_t(random.below(int(types.size())))];
    random.types = one_type ? std::vector<Type>{t} : types;
    random.with_intrinsics = !one_type || random.below(4) == 0;
    random.any_constants = random.below(2);
    for (const Type &of : types) {
        for (const char *letter : {"a", "b", "c"}) {
            const std::string name = letter + to_string(of);
            random.variables.emplace_back(name, of);
            made.memory[name] = of;
        }
    }
    const bool is_condition = random.below(2);
    made.written = Read(random.below(3) ? 1 : 4)
                       .mutate(random.make(is_condition ? Bool() : t, depth + is_condition));
    return made;
}

std::string text(const std::map<std::string, Value> &memory) {
    std::string all;
    for (const auto &[name, value] : memory) {
        all += "\n  " + name + " = " + to_string(value);
    }
    return all;
}

/// True if there was something to compare: nothing overflowed as it is written.
bool keeps_value(const Case &made, const Expr &after, Extremes &extremes) {
    std::map<std::string, Value> memory;
    Interpreter interpreter;
    interpreter.load = [&](const Load &load, const Value &) {
        auto [it, is_new] = memory.emplace(load.name, Value::integer(load.type, 0));
        for (size_t i = 0; is_new && i < it->second.lanes.size(); i++) {
            it->second.lanes[i] =
                Value::integer(load.type.element_of(), extremes.of(load.type.element_of()))
                    .lanes[0];
        }
        return it->second;
    };
    const Value expected = interpreter.evaluate(made.written);
    if (interpreter.undefined()) {
        return false;
    }
    const Value actual = interpreter.evaluate(after);
    EXPECT_TRUE(expected == actual)
        << to_string(expected) << " became " << to_string(actual) << ":\n"
        << made.written << "\nbecame\n"
        << after << text(memory);
    return true;
}

class SimplifyOverflow : public testing::TestWithParam<int> {};

TEST_P(SimplifyOverflow, keeps_what_does_not_overflow_as_written) {
    int compared = 0;
    for (int i = 0; i < count() && !HasFailure(); i++) {
        const unsigned seed = unsigned(GetParam() * 1000003 + i);
        const Case made = random_case(seed, 1 + i % 4);
        const Expr after = simplify(made.written);
        Extremes extremes(seed);
        for (int k = 0; k < 30 && !HasFailure(); k++) {
            compared += keeps_value(made, after, extremes);
        }
    }
    EXPECT_GT(compared, count());
}

INSTANTIATE_TEST_SUITE_P(Seeds, SimplifyOverflow, testing::Range(0, 8));

}  // namespace
}  // namespace calotype
