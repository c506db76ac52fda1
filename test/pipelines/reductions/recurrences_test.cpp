// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops that read again what they stored, against the same in C++: of all types, from the first iteration to the last and back, in
// one row or in vectors of columns, over a number of iterations that may be none.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "guarded_image.h"

namespace calotype::test {
namespace {

constexpr int columns = 19, rows = 37;

/// f(x, r) = input + sum of terms, each a weight times what some iterations before stored.
struct Filter {
    std::vector<int> weights;  ///< of one iteration before, of two, ...; 0 if that is not read
    bool backwards;
    int first, iterations;

    static Filter random(std::mt19937 &random) {
        Filter filter;
        filter.weights.resize(1 + random() % 5);
        for (int &weight : filter.weights) {
            weight = random() % 3 ? int(random() % 5) - 2 : 0;
        }
        filter.weights.back() = 1 + int(random() % 2);
        filter.backwards = random() % 2;
        filter.first = int(filter.weights.size() + random() % 4);
        filter.iterations = random() % 6 ? int(random() % unsigned(rows - filter.first + 1)) : 0;
        return filter;
    }
    int row(int iteration) const {
        return backwards ? rows - 1 - iteration : iteration;
    }
};

std::ostream &operator<<(std::ostream &out, const Filter &filter) {
    out << (filter.backwards ? "backwards " : "") << filter.iterations << " from " << filter.first
        << ":";
    for (int weight : filter.weights) {
        out << " " << weight;
    }
    return out;
}

template<typename T>
T input_at(int i, int row) {
    return T((i * 7 + row * 5) % 11);
}

/// Integers wrap.
template<typename T>
T sum_of(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
        return T(uint64_t(a) + uint64_t(b));
    } else {
        return a + b;
    }
}
template<typename T>
T product_of(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
        return T(uint64_t(a) * uint64_t(b));
    } else {
        return a * b;
    }
}

template<typename T>
std::vector<T> expected(const Filter &filter, int width) {
    std::vector<T> f(size_t(width) * rows);
    for (int row = 0; row < rows; row++) {
        for (int i = 0; i < width; i++) {
            f[row * width + i] = input_at<T>(i, row);
        }
    }
    for (int k = filter.first; k < filter.first + filter.iterations; k++) {
        for (int i = 0; i < width; i++) {
            T value = f[filter.row(k) * width + i];
            for (size_t n = 0; n < filter.weights.size(); n++) {
                const T before = f[filter.row(k - int(n) - 1) * width + i];
                value = sum_of(value, product_of(T(filter.weights[n]), before));
            }
            f[filter.row(k) * width + i] = std::is_floating_point_v<T> ? value / T(8) : value;
        }
    }
    return f;
}

enum class Layout { Row, Columns, Vectors };

/// The Func with its update; the number of iterations is a parameter where one is given.
template<typename T>
Func make(const Filter &filter, Layout layout, const Expr &iterations) {
    Var x("x"), y("y");
    Func f("f");
    RDom r(filter.first, iterations, "r");
    const auto row = [&](const Expr &k) {
        return filter.backwards ? rows - 1 - k : k;
    };
    const auto at = [&](const Expr &k) {
        return layout == Layout::Row ? Expr(f(row(k))) : Expr(f(x, row(k)));
    };
    const Expr i = layout == Layout::Row ? Expr(0) : Expr(x);
    const Expr &place = layout == Layout::Row ? Expr(x) : Expr(y);
    const Expr input = cast<T>((i * 7 + place * 5) % 11);
    layout == Layout::Row ? f(x) = input : f(x, y) = input;
    Expr value = at(r);
    for (size_t n = 0; n < filter.weights.size(); n++) {
        if (filter.weights[n] != 0) {
            value = value + cast<T>(filter.weights[n]) * at(r - int(n) - 1);
        }
    }
    value = std::is_floating_point_v<T> ? value / cast<T>(8) : value;
    if (layout == Layout::Row) {
        f(row(r)) = value;
    } else {
        f(x, row(r)) = value;
        f.update().reorder(r, x);
    }
    if (layout == Layout::Vectors) {
        f.update().split(x, x, y, 8, TailStrategy::GuardWithIf).reorder(y, r, x).vectorize(y);
    }
    return f;
}

template<typename T>
class Recurrences : public ::testing::Test {};

using Types = ::testing::Types<int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t,
                               uint64_t, float, double>;
TYPED_TEST_SUITE(Recurrences, Types);

template<typename T>
void check(const Filter &filter, Layout layout) {
    const int width = layout == Layout::Row ? 1 : columns;
    Param<int> iterations("iterations");
    iterations.set(filter.iterations);
    Func f = make<T>(filter, layout, Expr(iterations));
    // A row that ends where the loop does, so that what is read in vain would be outside of it.
    Buffer<T> result = layout == Layout::Row ? Buffer<T>(rows) : Buffer<T>(columns, rows);
    const GuardedImage image(result, true);
    f.realize(Pipeline::RealizationArg(image.image()));
    result.copy_from(image.image());
    const std::vector<T> values = expected<T>(filter, width);
    for (size_t n = 0; n < values.size(); n++) {
        const T found = result.data()[n];
        const double tolerance =
            std::is_floating_point_v<T> ? 1e-5 * (std::abs(double(values[n])) + 1) : 0;
        ASSERT_LE(std::abs(double(found) - double(values[n])), tolerance)
            << "column " << n % width << ", row " << n / width << " of " << filter;
    }
}

TYPED_TEST(Recurrences, are_those_of_plain_loops) {
    std::mt19937 random(sizeof(TypeParam) * 4 + std::is_signed_v<TypeParam> * 2 +
                        std::is_floating_point_v<TypeParam>);
    for (int i = 0; i < 8; i++) {
        const Filter filter = Filter::random(random);
        for (Layout layout : {Layout::Row, Layout::Columns, Layout::Vectors}) {
            SCOPED_TRACE(int(layout));
            check<TypeParam>(filter, layout);
            if (::testing::Test::HasFatalFailure()) {
                return;
            }
        }
    }
}

/// Of a Tuple each element has its own last values.
TEST(RecurrencesOfTuples, read_each_others_last_values) {
    Func f("f");
    Var x("x");
    RDom r(2, 40, "r");
    f(x) = Tuple(x % 5, cast<int64_t>(x % 3));
    f(r) = Tuple(f(r - 1)[0] + cast<int>(f(r - 2)[1]), f(r - 1)[1] - cast<int64_t>(f(r - 2)[0]));
    Realization result = f.realize({42});
    std::vector<int> a(42);
    std::vector<int64_t> b(42);
    for (int i = 0; i < 42; i++) {
        a[i] = i < 2 ? i % 5 : int(uint32_t(a[i - 1]) + uint32_t(b[i - 2]));
        b[i] = i < 2 ? i % 3 : b[i - 1] - a[i - 2];
        EXPECT_EQ(Buffer<int>(result[0])(i), a[i]) << i;
        EXPECT_EQ(Buffer<int64_t>(result[1])(i), b[i]) << i;
    }
}

}  // namespace
}  // namespace calotype::test
