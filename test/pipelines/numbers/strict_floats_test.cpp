// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random expressions of floats under strict_float give bit by bit what C++ gives, of NaN, infinities, both zeros and
// the smallest numbers, too. Where single expressions are strict, a choice between zeros may give either.
#include <calotype/calotype.h>

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include "targets.h"

namespace calotype::test {
namespace {

/// An expression, and its value at x in C++.
template<typename V>
struct Computed {
    Expr expr;
    std::function<V(int)> at;
};

/// Expressions of T, computed in T, or in float where T has 16 bits.
template<typename T>
class RandomFloats {
public:
    using Work = std::conditional_t<std::is_same_v<T, double>, double, float>;
    using Number = Computed<Work>;
    using Condition = Computed<bool>;
    static constexpr int size = 64;

    RandomFloats(unsigned seed, Expr x) : random_(seed), x_(std::move(x)) {
        for (int i = 0; i < 3; i++) {
            Buffer<T> data(size);
            for (int j = 0; j < size; j++) {
                data(j) = T(special());
            }
            leaves_.push_back({data(x_), [data](int j) {
                                   return Work(data(j));
                               }});
        }
    }

    Number number(int depth) {
        // The same operand at several places is what simplification looks for.
        if (!leaves_.empty() && (depth <= 0 || below(4) == 0)) {
            return below(4) ? leaves_[size_t(below(int(leaves_.size())))] : constant();
        }
        const Number result = operation(depth - 1);
        leaves_.push_back(result);
        return result;
    }

    Condition condition(int depth) {
        const Number a = number(depth - 1), b = below(4) ? number(depth - 1) : a;
        switch (depth <= 0 ? below(6) : below(11)) {
        case 0:
            return compare(a, b, a.expr < b.expr, std::less<Work>());
        case 1:
            return compare(a, b, a.expr <= b.expr, std::less_equal<Work>());
        case 2:
            return compare(a, b, a.expr > b.expr, std::greater<Work>());
        case 3:
            return compare(a, b, a.expr >= b.expr, std::greater_equal<Work>());
        case 4:
            return compare(a, b, a.expr == b.expr, std::equal_to<Work>());
        case 5:
            return compare(a, b, a.expr != b.expr, std::not_equal_to<Work>());
        case 6:
            return {is_nan(a.expr), [a](int x) {
                        return std::isnan(a.at(x));
                    }};
        case 7:
            return {is_finite(a.expr), [a](int x) {
                        return std::isfinite(a.at(x));
                    }};
        case 8: {
            const Condition c = condition(depth - 1);
            return {!c.expr, [c](int x) {
                        return !c.at(x);
                    }};
        }
        default: {
            const Condition c = condition(depth - 1), d = condition(depth - 1);
            if (below(2)) {
                return {c.expr && d.expr, [c, d](int x) {
                            return c.at(x) && d.at(x);
                        }};
            }
            return {c.expr || d.expr, [c, d](int x) {
                        return c.at(x) || d.at(x);
                    }};
        }
        }
    }

private:
    int below(int n) {
        return int(random_() % unsigned(n));
    }

    double special() {
        static const double values[] = {0,         -0.0, 1,  -1,   0.5, 2.5,  -1.5, INFINITY, NAN,
                                        -INFINITY, 1e-7, -3, 9.75, 250, 2048, 0.1,  1.0 / 3,  6e4};
        return below(8) ? values[below(18)] : double(std::numeric_limits<Work>::denorm_min());
    }

    Number constant() {
        const T value(below(2) ? special() : double(below(2)));
        return {Expr(value), [value](int) {
                    return Work(value);
                }};
    }

    template<typename F>
    static Condition compare(const Number &a, const Number &b, const Expr &e, F f) {
        return {e, [a, b, f](int x) {
                    return f(a.at(x), b.at(x));
                }};
    }

    template<typename F>
    static Number unary(const Number &a, const Expr &e, F f) {
        return {e, [a, f](int x) {
                    return Work(T(f(a.at(x))));
                }};
    }

    template<typename F>
    static Number binary(const Number &a, const Number &b, const Expr &e, F f) {
        return {e, [a, b, f](int x) {
                    return Work(T(f(a.at(x), b.at(x))));
                }};
    }

    Number operation(int depth) {
        const Number a = number(depth), b = number(depth);
        switch (below(12)) {
        case 0:
            return binary(a, b, a.expr + b.expr, std::plus<Work>());
        case 1:
            return binary(a, b, a.expr - b.expr, std::minus<Work>());
        case 2:
            return binary(a, b, a.expr * b.expr, std::multiplies<Work>());
        case 3:
            return binary(a, b, a.expr / b.expr, std::divides<Work>());
        case 4:
        case 5:
            return binary(a, b, min(a.expr, b.expr), [](Work v, Work w) { return v < w ? v : w; });
        case 6:
        case 7:
            return binary(a, b, max(a.expr, b.expr), [](Work v, Work w) { return v > w ? v : w; });
        case 8:
            return unary(a, floor(a.expr), [](Work v) { return std::floor(v); });
        case 9:
            return unary(a, round(a.expr), [](Work v) { return std::nearbyint(v); });
        default: {
            const Condition c = condition(depth);
            return {select(c.expr, a.expr, b.expr), [a, b, c](int x) {
                        return c.at(x) ? a.at(x) : b.at(x);
                    }};
        }
        }
    }

    std::mt19937 random_;
    const Expr x_;
    std::vector<Number> leaves_;
};

template<typename V>
bool same(V a, V b, bool signs_of_zero) {
    if (std::isnan(a) || std::isnan(b)) {
        return std::isnan(a) && std::isnan(b);
    }
    return a == b && (!signs_of_zero || std::signbit(a) == std::signbit(b));
}

/// `whole`: the target says strict_float, else the expression.
template<typename T>
void check(unsigned seed, bool whole) {
    Var x("x");
    RandomFloats<T> random(seed, x);
    const auto number = random.number(3);
    const auto condition = random.condition(3);
    const auto strict = [whole](const Expr &e) {
        return whole ? e : strict_float(e);
    };
    Func f("f");
    f(x) = Tuple(strict(number.expr), strict(cast<uint8_t>(condition.expr)));
    const int lanes[] = {1, 8, 16, 5};
    f.vectorize(x, lanes[seed % 4], TailStrategy::GuardWithIf);
    const std::vector<Target> all = targets();
    Target target = all[seed / 4 % all.size()];
    target = whole ? target.with_feature(Target::StrictFloat) : target;
    Realization results = f.realize({RandomFloats<T>::size}, target);
    Buffer<T> numbers = results[0];
    Buffer<uint8_t> conditions = results[1];
    using Work = typename RandomFloats<T>::Work;
    for (int i = 0; i < RandomFloats<T>::size; i++) {
        ASSERT_TRUE(same(Work(numbers(i)), number.at(i), whole))
            << "seed " << seed << " at " << i << ": " << Work(numbers(i)) << " for " << number.at(i)
            << " of\n"
            << number.expr;
        ASSERT_EQ(conditions(i) != 0, condition.at(i)) << "seed " << seed << " at " << i << " of\n"
                                                       << condition.expr;
    }
}

TEST(StrictFloats, of_the_target) {
    for (unsigned seed = 0; seed < 60; seed++) {
        ASSERT_NO_FATAL_FAILURE(check<float>(seed, true));
    }
}

TEST(StrictFloats, of_other_widths) {
    for (unsigned seed = 0; seed < 16; seed++) {
        ASSERT_NO_FATAL_FAILURE(check<double>(seed, true));
        ASSERT_NO_FATAL_FAILURE(check<float16_t>(seed, true));
        ASSERT_NO_FATAL_FAILURE(check<bfloat16_t>(seed, true));
    }
}

TEST(StrictFloats, of_single_expressions) {
    for (unsigned seed = 0; seed < 30; seed++) {
        ASSERT_NO_FATAL_FAILURE(check<float>(seed, false));
    }
}

}  // namespace
}  // namespace calotype::test
