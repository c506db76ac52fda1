// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pipeline/associativity.h"

#include <gtest/gtest.h>

#include "ir/constants.h"
#include "ir/equality.h"
#include "ir/operators.h"
#include "ir/printer.h"

namespace calotype::internal {
namespace {

const Expr x = Variable::make(Int(32), "x");

Expr self(Type t, const Expr &at = x, int index = 0) {
    return Call::make(t, "f", {at}, CallKind::Func, index);
}

Expr input(Type t) {
    return Variable::make(t, "g");
}

AssociativeUpdate prove(const std::vector<Expr> &values) {
    Definition d;
    d.args = {x};
    d.values = values;
    return prove_associative("f", d);
}

// "op / identity / y" of a single value.
std::string described(const Expr &value) {
    const AssociativeUpdate a = prove({value});
    if (!a.associative()) {
        return "no";
    }
    return to_string(a.apply({Variable::make(value.type(), "a")},
                             {Variable::make(value.type(), "b")})[0]) +
           " / " + to_string(a.identities[0]) + " / " + to_string(a.ys[0]);
}

TEST(Associativity, plain_operators) {
    const Expr f = self(Int(32)), g = input(Int(32));
    EXPECT_EQ(described(f + g), "a + b / 0 / g");
    EXPECT_EQ(described(g + f), "a + b / 0 / g");
    EXPECT_EQ(described(f * g), "a * b / 1 / g");
    EXPECT_EQ(described(f - g), "a + b / 0 / 0 - g");
    EXPECT_EQ(described(min(f, g)), "min(a, b) / 2147483647 / g");
    EXPECT_EQ(described(f | g), "bitwise_or(a, b) / 0 / g");
    EXPECT_EQ(described(f ^ g), "bitwise_xor(a, b) / 0 / g");
    EXPECT_EQ(described(f & g), "bitwise_and(a, b) / -1 / g");
}

TEST(Associativity, chains) {
    const Expr f = self(Int(32)), g = input(Int(32));
    EXPECT_EQ(described((f + g) + x), "a + b / 0 / g + x");
    EXPECT_EQ(described(g * (x * f)), "a * b / 1 / x * g");
}

TEST(Associativity, selects) {
    const Expr f = self(Int(32)), g = input(Int(32));
    EXPECT_EQ(described(select(g < f, g, f)), "min(a, b) / 2147483647 / g");
    EXPECT_EQ(described(select(f < g, g, f)), "max(a, b) / -2147483648 / g");
    EXPECT_EQ(described(select(x > 3, f + g, f)), "a + b / 0 / select(x > 3, g, 0)");
}

TEST(Associativity, additions_that_stop_at_the_largest_value) {
    const Type t = UInt(8);
    const Expr f = self(t), g = input(t), most = t.max();
    const char *saturates = "saturating_add(a:uint8, b:uint8) / (uint8)0 / g:uint8";
    EXPECT_EQ(described(select(f > most - g, most, f + g)), saturates);
    EXPECT_EQ(described(select(most - g <= f, most, g + f)), saturates);
    EXPECT_EQ(described(select(f < most - g, g + f, most)), saturates);
    EXPECT_EQ(described(select(f < ~g, f + g, most)), saturates);
    const auto wide = [](Type w, const Expr &e) {
        return cast(w, e);
    };
    for (const Type &w : {UInt(16), Int(16), Int(32)}) {
        const Expr sum = wide(w, g) + wide(w, f);
        EXPECT_EQ(described(cast(t, min(sum, make_const(w, 255)))), saturates);
        EXPECT_EQ(described(cast(t, min(make_const(w, 255), sum))), saturates);
        EXPECT_EQ(described(saturating_cast(t, sum)), saturates);
        EXPECT_EQ(described(cast(t, min(sum, make_const(w, 254)))), "no");
        EXPECT_EQ(described(cast(t, sum)), "no");
    }
    EXPECT_EQ(described(saturating_cast(t, widening_add(f, g))), saturates);
    EXPECT_EQ(
        described(saturating_cast(t, wide(UInt(16), f) + wide(UInt(16), g) + Expr(uint16_t(1)))),
        "no");
    EXPECT_EQ(described(select(f < most - g, most, f + g)), "no");
    EXPECT_EQ(described(select(f > most - cast(t, x), most, f + g)), "no");
    EXPECT_EQ(described(select(f > make_const(t, 99) - g, make_const(t, 99), f + g)), "no");
}

TEST(Associativity, what_is_not) {
    const Expr f = self(Int(32)), g = input(Int(32));
    EXPECT_EQ(described(g - f), "no");
    EXPECT_EQ(described(f * 2 + g), "no");
    EXPECT_EQ(described(f + f), "no");
    EXPECT_EQ(described(g), "no");
    EXPECT_EQ(described(self(Int(32), x + 1) + g), "no");
    EXPECT_EQ(described(select(f > 3, f + g, f)), "no");
    EXPECT_EQ(described(saturating_add(f, g)), "no");
    EXPECT_EQ(described(saturating_add(self(UInt(8)), input(UInt(8)))).substr(0, 4), "satu");
}

TEST(Associativity, tuples_of_independent_values) {
    const Expr f0 = self(Int(32), x, 0), f1 = self(Float(32), x, 1);
    const AssociativeUpdate a = prove({f0 + input(Int(32)), max(f1, input(Float(32)))});
    ASSERT_TRUE(a.associative());
    EXPECT_TRUE(a.commutative);
    EXPECT_EQ(a.ops.size(), 2u);
}

TEST(Associativity, argmin) {
    const Expr index = self(Int(32), x, 0), best = self(Float(32), x, 1), g = input(Float(32));
    const AssociativeUpdate a = prove({select(g < best, x, index), select(g < best, g, best)});
    ASSERT_TRUE(a.associative());
    EXPECT_FALSE(a.commutative);
    EXPECT_TRUE(equal(a.identities[1], Float(32).max()));
    EXPECT_TRUE(equal(a.ys[0], x));
    const Type i = Int(32), t = Float(32);
    EXPECT_TRUE(equal(
        a.ops[0], select(AssociativeUpdate::new_value(t, 1) < AssociativeUpdate::old_value(t, 1),
                         AssociativeUpdate::new_value(i, 0), AssociativeUpdate::old_value(i, 0))));
    const AssociativeUpdate largest = prove({select(best < g, x, index), max(best, g)});
    ASSERT_TRUE(largest.associative());
    EXPECT_TRUE(equal(largest.identities[1], Float(32).min()));
}

TEST(Associativity, tuple_that_crosses) {
    const Expr a = self(Int(32), x, 0), b = self(Int(32), x, 1), g = input(Int(32));
    EXPECT_FALSE(prove({b + g, a + g}).associative());
}

TEST(Associativity, choices_beside_other_values) {
    const Expr least = self(Int(32), x, 0), place = self(Int(32), x, 2), g = input(Int(32));
    const Expr sum = self(Int(32), x, 1) + g, where = Variable::make(Int(32), "where");
    const auto with_sum = [&](const Expr &value) {
        return prove({min(least, g), value, select(least < g, place, where)});
    };
    const AssociativeUpdate both = with_sum(sum);
    ASSERT_TRUE(both.associative());
    EXPECT_FALSE(both.commutative);
    EXPECT_TRUE(equal(both.ys[1], g) && equal(both.ys[2], where));
    EXPECT_TRUE(equal(both.identities[0], Int(32).max()));
    EXPECT_TRUE(equal(both.ops[1], AssociativeUpdate::old_value(Int(32), 1) +
                                       AssociativeUpdate::new_value(Int(32), 1)));
    EXPECT_FALSE(with_sum(sum * 2).associative());
    EXPECT_FALSE(with_sum(sum + least).associative());
}

TEST(Associativity, groups_of_values_that_depend_on_each_other) {
    const auto value = [](int i) {
        return self(Int(32), x, i);
    };
    const Expr g = input(Int(32)), where = Variable::make(Int(32), "where");
    const auto with_last = [&](const Expr &last) {
        return prove({select(value(2) < g, value(0), where), value(1) * value(3) - g * value(4),
                      min(value(2), g), last, value(4) + g});
    };
    EXPECT_FALSE(with_last(max(value(3), g)).associative());
    const AssociativeUpdate two_choices =
        prove({select(value(3) < g, value(0), where), max(value(1), g),
               select(value(1) > g, value(2), where), min(value(3), g), value(4) + g});
    ASSERT_TRUE(two_choices.associative());
    EXPECT_FALSE(two_choices.commutative);
    EXPECT_TRUE(equal(two_choices.identities[1], Int(32).min()));
    EXPECT_TRUE(equal(two_choices.identities[3], Int(32).max()));
    EXPECT_TRUE(equal(two_choices.ys[0], where) && equal(two_choices.ys[4], g));
    const AssociativeUpdate product =
        prove({max(value(0), g), value(1) * g - value(2) * where, value(1) * where + value(2) * g});
    ASSERT_TRUE(product.associative());
    EXPECT_TRUE(product.commutative);
    EXPECT_TRUE(equal(product.ys[1], g) && equal(product.ys[2], where));
}

TEST(Associativity, product_of_complex_numbers) {
    const Type t = Float(32);
    const Expr a = self(t, x, 0), b = self(t, x, 1), re = input(t), im = Variable::make(t, "h");
    const AssociativeUpdate product = prove({re * a - b * im, a * im + re * b});
    ASSERT_TRUE(product.associative());
    EXPECT_TRUE(product.commutative);
    EXPECT_TRUE(equal(product.identities[0], make_one(t)));
    EXPECT_TRUE(equal(product.identities[1], make_zero(t)));
    EXPECT_TRUE(equal(product.ys[0], re));
    EXPECT_TRUE(equal(product.ys[1], im));
    EXPECT_TRUE(prove({a * re - b * im, b * re + a * im}).associative());
    EXPECT_FALSE(prove({a * re + b * im, a * im + b * re}).associative());
    EXPECT_FALSE(prove({a * re - b * im, a * re + b * im}).associative());
    EXPECT_FALSE(prove({a * re - b * a, a * a + b * re}).associative());
}

}  // namespace
}  // namespace calotype::internal
