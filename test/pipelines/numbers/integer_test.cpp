// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arithmetic of integers, alone and in vectors of each width, on machines with more and fewer
// instructions: all pairs of 8-bit values, and the values of wider types where something changes.
#include <gtest/gtest.h>

#include <algorithm>

#include "operations.h"
#include "targets.h"

namespace calotype::test {
namespace {

Wide magnitude(Wide v) {
    return v < 0 ? -v : v;
}

/// An extra operand for operations that need one other than 0.
Expr nonzero(const Expr &e) {
    return select(e == 0, cast(e.type(), 1), e);
}

Wide nonzero(Wide v) {
    return v == 0 ? 1 : v;
}

std::vector<Operation> arithmetic() {
    return {
        {"add", [](Expr a, Expr b) { return a + b; },
         [](Wide a, Wide b) {
             return a + b;
         }},
        {"sub", [](Expr a, Expr b) { return a - b; },
         [](Wide a, Wide b) {
             return a - b;
         }},
        {"mul", [](Expr a, Expr b) { return a * b; },
         [](Wide a, Wide b) {
             return Wide((unsigned __int128)a * (unsigned __int128)b);
         }},
        {"div", [](Expr a, Expr b) { return a / b; }, euclidean_div},
        {"mod", [](Expr a, Expr b) { return a % b; }, euclidean_mod},
        {"div_round_to_zero", [](Expr a, Expr b) { return div_round_to_zero(a, nonzero(b)); },
         [](Wide a, Wide b) {
             return a / nonzero(b);
         }},
        {"mod_round_to_zero", [](Expr a, Expr b) { return mod_round_to_zero(a, nonzero(b)); },
         [](Wide a, Wide b) {
             return a % nonzero(b);
         }},
        {"neg", [](Expr a, Expr) { return -a; },
         [](Wide a, Wide) {
             return -a;
         }},
        {"min", [](Expr a, Expr b) { return min(a, b); },
         [](Wide a, Wide b) {
             return std::min(a, b);
         }},
        {"max", [](Expr a, Expr b) { return max(a, b); },
         [](Wide a, Wide b) {
             return std::max(a, b);
         }},
        {"abs", [](Expr a, Expr) { return abs(a); },
         [](Wide a, Wide) {
             return magnitude(a);
         }},
        {"absd", [](Expr a, Expr b) { return absd(a, b); },
         [](Wide a, Wide b) {
             return magnitude(a - b);
         }},
        {"lt", [](Expr a, Expr b) { return a < b; },
         [](Wide a, Wide b) {
             return Wide(a < b);
         }},
        {"le", [](Expr a, Expr b) { return a <= b; },
         [](Wide a, Wide b) {
             return Wide(a <= b);
         }},
        {"gt", [](Expr a, Expr b) { return a > b; },
         [](Wide a, Wide b) {
             return Wide(a > b);
         }},
        {"ge", [](Expr a, Expr b) { return a >= b; },
         [](Wide a, Wide b) {
             return Wide(a >= b);
         }},
        {"eq", [](Expr a, Expr b) { return a == b; },
         [](Wide a, Wide b) {
             return Wide(a == b);
         }},
        {"ne", [](Expr a, Expr b) { return a != b; },
         [](Wide a, Wide b) {
             return Wide(a != b);
         }},
        {"select", [](Expr a, Expr b) { return select(a < b, b, a + 1); },
         [](Wide a, Wide b) {
             return a < b ? b : a + 1;
         }},
        {"and", [](Expr a, Expr b) { return a > 3 && !(b > 5); },
         [](Wide a, Wide b) {
             return Wide(a > 3 && b <= 5);
         }},
        {"or", [](Expr a, Expr b) { return a > 3 || b > 5; },
         [](Wide a, Wide b) {
             return Wide(a > 3 || b > 5);
         }},
    };
}

std::vector<Operation> bits(int width) {
    return {
        {"and", [](Expr a, Expr b) { return a & b; },
         [](Wide a, Wide b) {
             return a & b;
         }},
        {"or", [](Expr a, Expr b) { return a | b; },
         [](Wide a, Wide b) {
             return a | b;
         }},
        {"xor", [](Expr a, Expr b) { return a ^ b; },
         [](Wide a, Wide b) {
             return a ^ b;
         }},
        {"not", [](Expr a, Expr) { return ~a; },
         [](Wide a, Wide) {
             return ~a;
         }},
        {"popcount", [](Expr a, Expr) { return popcount(a); },
         [width](Wide a, Wide) {
             return Wide(__builtin_popcountll(uint64_t(wrapped(UInt(width), a))));
         }},
        {"count_leading_zeros", [](Expr a, Expr) { return count_leading_zeros(nonzero(a)); },
         [width](Wide a, Wide) {
             return Wide(__builtin_clzll(uint64_t(wrapped(UInt(width), nonzero(a)))) -
                         (64 - width));
         }},
        {"count_trailing_zeros", [](Expr a, Expr) { return count_trailing_zeros(nonzero(a)); },
         [width](Wide a, Wide) {
             return Wide(__builtin_ctzll(uint64_t(wrapped(UInt(width), nonzero(a)))));
         }},
    };
}

std::vector<Operation> fixed_point() {
    return {
        {"saturating_add", [](Expr a, Expr b) { return saturating_add(a, b); },
         [](Wide a, Wide b) { return a + b; }, true},
        {"saturating_sub", [](Expr a, Expr b) { return saturating_sub(a, b); },
         [](Wide a, Wide b) { return a - b; }, true},
        {"halving_add", [](Expr a, Expr b) { return halving_add(a, b); },
         [](Wide a, Wide b) {
             return (a + b) >> 1;
         }},
        {"rounding_halving_add", [](Expr a, Expr b) { return rounding_halving_add(a, b); },
         [](Wide a, Wide b) {
             return (a + b + 1) >> 1;
         }},
        {"halving_sub", [](Expr a, Expr b) { return halving_sub(a, b); },
         [](Wide a, Wide b) {
             return (a - b) >> 1;
         }},
    };
}

/// Operations with results of twice the bits, or through them.
std::vector<Operation> widening(int width) {
    std::vector<Operation> list = {
        {"widening_add", [](Expr a, Expr b) { return widening_add(a, b); },
         [](Wide a, Wide b) {
             return a + b;
         }},
        {"widening_sub", [](Expr a, Expr b) { return widening_sub(a, b); },
         [](Wide a, Wide b) {
             return a - b;
         }},
        {"widening_mul", [](Expr a, Expr b) { return widening_mul(a, b); },
         [](Wide a, Wide b) {
             return a * b;
         }},
    };
    for (int q : {0, 1, width - 1, width, width + 3}) {
        list.push_back({"mul_shift_right " + std::to_string(q),
                        [q](Expr a, Expr b) { return mul_shift_right(a, b, q); },
                        [q](Wide a, Wide b) { return (a * b) >> q; }, true});
        list.push_back({"rounding_mul_shift_right " + std::to_string(q),
                        [q](Expr a, Expr b) { return rounding_mul_shift_right(a, b, q); },
                        [q](Wide a, Wide b) { return (a * b + ((Wide(1) << q) >> 1)) >> q; },
                        true});
    }
    return list;
}

Wide rounding_shift(Wide a, Wide by) {
    return by >= 0 ? shifted(a, by) : shifted(a + (Wide(1) << (-by - 1)), by);
}

std::vector<Operation> shifts(int width) {
    std::vector<Operation> list = {
        {"shift_left", [](Expr a, Expr b) { return a << b; },
         [](Wide a, Wide b) {
             return shifted(a, b);
         }},
        {"shift_right", [](Expr a, Expr b) { return a >> b; },
         [](Wide a, Wide b) {
             return shifted(a, -b);
         }},
        {"rounding_shift_right", [](Expr a, Expr b) { return rounding_shift_right(a, b); },
         [](Wide a, Wide b) {
             return rounding_shift(a, -b);
         }},
        {"rounding_shift_left", [](Expr a, Expr b) { return rounding_shift_left(a, b); },
         [](Wide a, Wide b) {
             return rounding_shift(a, b);
         }},
    };
    if (width < 64) {
        list.push_back({"widening_shift_left",
                        [](Expr a, Expr b) { return widening_shift_left(a, b); },
                        [](Wide a, Wide b) {
                            return shifted(a, b);
                        }});
        list.push_back({"widening_shift_right",
                        [](Expr a, Expr b) { return widening_shift_right(a, b); },
                        [](Wide a, Wide b) {
                            return shifted(a, -b);
                        }});
    }
    return list;
}

class Integers : public ::testing::TestWithParam<Type> {
protected:
    const Type t = GetParam();
    /// None, and a register of 128 bits; of bytes one of 512, and a part of one.
    std::vector<int> lanes() const {
        return t.bits() == 8 ? std::vector<int>{1, 20, 64} : std::vector<int>{1, 128 / t.bits()};
    }
};

TEST_P(Integers, arithmetic) {
    check_operations(t, t, values_of(t), values_of(t), arithmetic(), lanes());
}

TEST_P(Integers, bits) {
    check_operations(t, t, values_of(t), between(values_of(t), -100, 100), bits(t.bits()), lanes());
}

TEST_P(Integers, fixed_point) {
    check_operations(t, t, values_of(t), values_of(t), fixed_point(), lanes());
}

TEST_P(Integers, results_of_twice_the_bits) {
    if (t.bits() < 64) {
        check_operations(t, t, values_of(t), values_of(t), widening(t.bits()), lanes());
    }
}

TEST_P(Integers, shifts_by_either_sign) {
    for (const Type &by : {Int(t.bits()), UInt(t.bits())}) {
        check_operations(t, by, values_of(t), between(values_of(by), -(t.bits() - 1), t.bits() - 1),
                         shifts(t.bits()), lanes());
    }
}

std::string name_of(const ::testing::TestParamInfo<Type> &info) {
    return (info.param.is_int() ? "int" : "uint") + std::to_string(info.param.bits());
}

INSTANTIATE_TEST_SUITE_P(Types, Integers,
                         ::testing::Values(Int(8), UInt(8), Int(16), UInt(16), Int(32), UInt(32),
                                           Int(64), UInt(64)),
                         name_of);

TEST(MixedSigns, products) {
    for (int width : {8, 16, 32}) {
        const std::vector<Operation> products = {
            {"widening_mul", [](Expr a, Expr b) { return widening_mul(a, b); },
             [](Wide a, Wide b) {
                 return a * b;
             }},
            {"widening_mul turned", [](Expr a, Expr b) { return widening_mul(b, a); },
             [](Wide a, Wide b) {
                 return a * b;
             }},
        };
        check_operations(Int(width), UInt(width), values_of(Int(width)), values_of(UInt(width)),
                         products, {1, 16});
    }
}

TEST(MixedWidths, one_narrow_operand) {
    const std::vector<Operation> list = {
        {"widen_right_add", [](Expr a, Expr b) { return widen_right_add(a, b); },
         [](Wide a, Wide b) {
             return a + b;
         }},
        {"widen_right_sub", [](Expr a, Expr b) { return widen_right_sub(a, b); },
         [](Wide a, Wide b) {
             return a - b;
         }},
        {"widen_right_mul", [](Expr a, Expr b) { return widen_right_mul(a, b); },
         [](Wide a, Wide b) {
             return a * b;
         }},
    };
    for (int width : {16, 32, 64}) {
        check_operations(Int(width), Int(width / 2), values_of(Int(width)),
                         values_of(Int(width / 2)), list, {1, 16});
        check_operations(UInt(width), UInt(width / 2), values_of(UInt(width)),
                         values_of(UInt(width / 2)), list, {1, 16});
    }
}

TEST(Constants, divisors_of_every_kind) {
    for (const Type &t : {Int(8), UInt(8), Int(16), UInt(16), Int(32), UInt(32)}) {
        std::vector<Operation> list;
        for (Wide d : {1, 3, 7, 10, 16, -3, -16}) {
            if (wrapped(t, d) != d) {
                continue;
            }
            const Expr e = cast(t, Expr(int(d)));
            list.push_back({"div " + std::to_string(int(d)), [e](Expr a, Expr) { return a / e; },
                            [d](Wide a, Wide) {
                                return euclidean_div(a, d);
                            }});
            list.push_back({"mod " + std::to_string(int(d)), [e](Expr a, Expr) { return a % e; },
                            [d](Wide a, Wide) {
                                return euclidean_mod(a, d);
                            }});
            list.push_back({"div_round_to_zero " + std::to_string(int(d)),
                            [e](Expr a, Expr) { return div_round_to_zero(a, e); },
                            [d](Wide a, Wide) {
                                return a / d;
                            }});
        }
        check_operations(t, t, values_of(t), {1}, list, {16, 20});
    }
}

// Of values from memory, which may be near the ends of the type, where no sum overflows as it is written.
TEST(Constants, quotients_of_sums) {
    const auto sums = [](Wide d) -> std::vector<Operation> {
        const int by = int(d);
        return {{"(a - 3) / " + std::to_string(by), [=](Expr a, Expr) { return (a - 3) / by; },
                 [=](Wide a, Wide) {
                     return euclidean_div(a - 3, by);
                 }},
                {"(a - 3) % " + std::to_string(by), [=](Expr a, Expr) { return (a - 3) % by; },
                 [=](Wide a, Wide) {
                     return euclidean_mod(a - 3, by);
                 }},
                {"(-3 - a) / " + std::to_string(by), [=](Expr a, Expr) { return (-3 - a) / by; },
                 [=](Wide a, Wide) {
                     return euclidean_div(-3 - a, by);
                 }},
                {"(a / 2 + 1) / " + std::to_string(by),
                 [=](Expr a, Expr) { return (a / 2 + 1) / by; },
                 [=](Wide a, Wide) {
                     return euclidean_div(euclidean_div(a, 2) + 1, by);
                 }},
                {"(a / 8 * -3) % " + std::to_string(by),
                 [=](Expr a, Expr) { return (a / 8 * -3) % by; },
                 [=](Wide a, Wide) {
                     return euclidean_mod(euclidean_div(a, 8) * -3, by);
                 }}};
    };
    const std::vector<Wide> all = values_of(Int(32));
    for (Wide d : {2, 3, 100, 1 << 24, 1 << 30}) {
        check_operations(Int(32), Int(32), between(all, INT32_MIN + 3, INT32_MAX - 3), {1}, sums(d),
                         {1, 8});
    }
}

std::vector<Operation> comparisons_of_sums() {
    return {{"a - b < 7", [](Expr a, Expr b) { return a - b < 7; },
             [](Wide a, Wide b) {
                 return Wide(a - b < 7);
             }},
            {"a - 3 <= b", [](Expr a, Expr b) { return a - 3 <= b; },
             [](Wide a, Wide b) {
                 return Wide(a - 3 <= b);
             }},
            {"min(a - 2, b - 5)", [](Expr a, Expr b) { return min(a - 2, b - 5); },
             [](Wide a, Wide b) {
                 return std::min(a - 2, b - 5);
             }},
            {"max(a + 2, b - 5)", [](Expr a, Expr b) { return max(a + 2, b - 5); },
             [](Wide a, Wide b) {
                 return std::max(a + 2, b - 5);
             }},
            {"a / 2 - min(a / 2, b / 2)", [](Expr a, Expr b) { return a / 2 - min(a / 2, b / 2); },
             [](Wide a, Wide b) {
                 return euclidean_div(a, 2) - std::min(euclidean_div(a, 2), euclidean_div(b, 2));
             }},
            // Added in another order, it overflows and comes back.
            {"a / 2 + (b + least)", [](Expr a, Expr b) { return a / 2 + (b + INT32_MIN); },
             [](Wide a, Wide b) {
                 return euclidean_div(a, 2) + b + INT32_MIN;
             }},
            {"select(5 - a < b, a, b)", [](Expr a, Expr b) { return select(5 - a < b, a, b); },
             [](Wide a, Wide b) {
                 return 5 - a < b ? a : b;
             }}};
}

TEST(Constants, comparisons_of_sums) {
    const std::vector<Wide> high = {5, 100, 1 << 30, INT32_MAX - 9, INT32_MAX - 6, INT32_MAX - 5},
                            low = {INT32_MIN + 7, INT32_MIN + 9, -(1 << 30), -3, 0};
    check_operations(Int(32), Int(32), high, high, comparisons_of_sums(), {1, 8});
    check_operations(Int(32), Int(32), low, low, comparisons_of_sums(), {1, 8});
}

// Zeros come in where a position is negative.
TEST(Bits, from_below_the_first) {
    Var x("x");
    Func f("f"), g("g"), low_bits("low_bits");
    Param<int> by("by");
    f(x) = extract_bits<uint8_t>(cast<uint16_t>(x), -1);
    g(x) = extract_bits<uint16_t>(cast<uint16_t>(x), by);
    low_bits(x) = extract_bits<uint16_t>(cast<uint8_t>(x), -4);
    by.set(-3);
    Buffer<uint8_t> low = f.realize({300});
    Buffer<uint16_t> shifted = g.realize({300}), wider = low_bits.realize({200});
    by.set(3);
    Buffer<uint16_t> back = g.realize({300});
    for (int i = 0; i < 200; i++) {
        ASSERT_EQ(low(i), uint8_t(i << 1)) << i;
        ASSERT_EQ(shifted(i), uint16_t(i << 3)) << i;
        ASSERT_EQ(wider(i), uint16_t(i << 4)) << i;
        ASSERT_EQ(back(i), uint16_t(i >> 3)) << i;
    }
}

// The sum of a scalar and the constant overflows and comes back: it is computed before the loop.
TEST(Parameters, sums_in_another_order) {
    Param<int> p("p"), q("q");
    p.set(-1);
    q.set(32);
    Buffer<int> data(64);
    data.fill(INT32_MAX);
    for (const Target &target : targets()) {
        for (bool parallel : {false, true}) {
            Var x("x"), y("y");
            Func f("f");
            const Expr sum = INT32_MIN + (p + data(x));
            f(x, y) = select(q <= sum, rounding_shift_right(p, 1), q / -1);
            f.vectorize(x, 32, TailStrategy::GuardWithIf);
            if (parallel) {
                f.parallel(y);
            }
            Buffer<int> result = f.realize({64, 2}, target);
            result.for_each_value([&](int v) { ASSERT_EQ(v, -32) << target.to_string(); });
        }
    }
}

}  // namespace
}  // namespace calotype::test
